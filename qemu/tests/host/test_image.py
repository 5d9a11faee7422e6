# SPDX-License-Identifier: GPL-2.0
"""What a guest consists of: initramfs, modules, files of the root image, file systems."""

import hashlib
import shutil
import subprocess
from pathlib import Path

import pytest

from lab import LabError
from lab.arch import ARCH
from lab.guest import extents, image, places, protocol
from lab.guest.boot import Boot, Program
from lab.guest.initrd import build, character_device, directory, file, pack
from lab.guest.machine import Machine
from lab.guest.mkfs import Mkfs
from lab.paths import Paths
from lab.tree import modules
from tests.host.checkouts import TOP, environment, ran, script

DESCRIPTION = """\
dir / 0755 0 0
slink lib 0777 0 0 usr/lib
slink lib64 0777 0 0 usr/lib64
dir usr/lib 0755 0 0
slink usr/lib64/ld.so 0777 0 0 /lib/arch/ld.so
slink usr/lib/arch/libnuma.so.1 0777 0 0 libnuma.so.1.0.0
slink usr/lib/up 0777 0 0 ../share/it
slink round 0777 0 0 about
slink about 0777 0 0 round
file usr/bin/hackbench 0755 0 0
"""
# It stands for a program of the image.
PROGRAM = Path("/bin/true")


@pytest.fixture
def paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Paths:
    """With a root image, and in the PATH a reader that knows some files of it."""
    script(
        tmp_path / image.READER,
        "#!/bin/sh\n"
        f'case "$1 $2" in\n"--describe "*) echo "{DESCRIPTION}" ;;\n'
        '"--cat usr/lib/arch/ld.so") echo loader ;;\n'
        f'"--cat usr/bin/hackbench") cat {PROGRAM} ;;\n'
        '"--cat usr/lib/x86_64-linux-gnu/"* | "--cat usr/lib64/"*) echo library ;;\n'
        '*) echo "no $2" >&2; exit 1 ;;\nesac\n',
    )
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    (tmp_path / "rootfs.sqfs").touch()
    return Paths(top=tmp_path, out=tmp_path)


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("usr/bin/hackbench", "usr/bin/hackbench"),
        ("lib/arch/libc.so.6", "usr/lib/arch/libc.so.6"),
        ("lib64/ld.so", "usr/lib/arch/ld.so"),
        ("lib/arch/libnuma.so.1", "usr/lib/arch/libnuma.so.1.0.0"),
        ("lib/up", "usr/share/it"),
    ],
)
def test_links_are_followed(name: str, file: str) -> None:
    """Absolute ones from the root of the image, relative ones from where they stand."""
    assert image.resolve(name, image.links(DESCRIPTION)) == file


def test_libraries_come_with_their_program(paths: Paths, tmp_path: Path) -> None:
    """Each under the name by which it is looked for, and to be executed."""
    libraries = image.libraries(PROGRAM)
    assert f"{ARCH.libraries}/libc.so.6" in libraries
    found = image.extra(paths, ("usr/bin/hackbench", "lib64/ld.so"), tmp_path / "log")
    assert set(found) == {"usr/bin/hackbench", "lib64/ld.so", *libraries}
    assert found["lib64/ld.so"].read_text() == "loader\n"
    assert found["lib64/ld.so"].stat().st_mode & 0o777 == 0o755
    # What is no program has none.
    assert image.libraries(Path(__file__)) == []


def test_what_is_not_in_the_image_is_named(paths: Paths, tmp_path: Path) -> None:
    with pytest.raises(LabError, match=r"--cat usr/bin/none: no usr/bin/none") as caught:
        image.extra(paths, ("usr/bin/none",), tmp_path / "log")
    assert caught.value.exit_code == 1
    with pytest.raises(LabError, match="root image: round: too many symbolic links"):
        image.resolve("round", image.links(DESCRIPTION))


def test_no_image_and_no_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is one line that says what to do; neither is missed by a guest that needs no file."""
    paths = Paths(top=tmp_path, out=tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert image.extra(paths, (), tmp_path) == {}
    with pytest.raises(LabError, match=r"rootfs.sqfs is missing: make rootfs"):
        image.extra(paths, ("usr/bin/hackbench",), tmp_path)
    paths.rootfs.touch()
    with pytest.raises(LabError, match="no rdsquashfs: run make deps first"):
        image.extra(paths, ("usr/bin/hackbench",), tmp_path)


def test_a_guest_with_the_image_needs_no_file_of_it() -> None:
    programs = [Program(name, (name,), image=("lib/a", f"bin/{name}")) for name in ("x", "y")]
    assert Boot("with", Machine(), tuple(programs)).image == ()
    without = Boot("without", Machine(root=False), tuple(programs))
    assert without.image == ("lib/a", "bin/x", "bin/y")


def headers(archive: bytes) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    offset = 0
    while True:
        assert archive[offset : offset + 6] == b"070701"
        fields = [int(archive[offset + 6 + 8 * i : offset + 14 + 8 * i], 16) for i in range(13)]
        start = offset + 110
        name = archive[start : start + fields[11] - 1].decode()
        if name == "TRAILER!!!":
            return found
        found[name] = fields
        data = (start + fields[11] + 3) // 4 * 4
        offset = (data + fields[6] + 3) // 4 * 4


def test_members(built: Paths, tmp_path: Path) -> None:
    """With their modes; the folder of each comes first, or the kernel loses it."""
    data = tmp_path / "data"
    data.touch(0o700)
    archive = build(built, "a plan", {"lab/new/deep/file": data, "lab/data": built.init})
    members = headers(archive)
    modes = {name: f"{fields[1]:o}" for name, fields in members.items()}
    assert modes["init"] == modes["lab/bin/lottery"] == modes["lab/new/deep/file"] == "100755"
    assert modes["lab/new"] == modes["lab/new/deep"] == "40755" and modes["lab/data"] == "100644"
    assert members["lab/plan"][6] == len("a plan")
    assert modes["dev/console"] == "20600" and members["dev/console"][9:11] == [5, 1]
    # Neither an owner nor a time leaves a trace.
    assert {(*fields[2:4], fields[5]) for fields in members.values()} == {(0, 0, 0)}
    names = list(members)
    for name in names:
        folder = name.rpartition("/")[0]
        assert not folder or names.index(folder) < names.index(name)
    if shutil.which("cpio"):
        argv = ["cpio", "-t", "--quiet"]
        listing = subprocess.run(argv, input=archive, capture_output=True, check=True)
        assert listing.stdout.decode().split() == names


def test_members_are_in_the_order_of_their_names_and_once() -> None:
    nodes = [file("b", b"1"), directory("a"), character_device("c", 1, 3)]
    assert pack(nodes) == pack(reversed(nodes))
    with pytest.raises(LabError, match="a is there twice"):
        pack([file("a", b"1"), file("a", b"2")])


@pytest.fixture
def kernel(tmp_path: Path) -> Paths:
    paths = Paths(tmp_path, tmp_path / "out")
    made = script(paths.kernel() / "drivers/net/e/e1000.ko", "code")
    (paths.kernel() / "modules.order").write_text("drivers/net/e/e1000.o\nlib/lost.o\n")
    script(paths.init, "init")
    assert modules.find(paths, "guest", ["e1000"]) == {"e1000": made}
    return paths


def test_a_module_that_is_not_made_is_named(kernel: Paths) -> None:
    for variant, name, known in (
        ("guest", "e100", "e1000, lost"),
        ("guest", "lost", "e1000, lost"),
        ("debug", "e1000", "none"),
    ):
        words = rf"module {name} is missing \(built: {known}\): make kernel"
        with pytest.raises(LabError, match=words) as refusal:
            modules.find(kernel, variant, [name])
        assert refusal.value.exit_code == 1
    # What is, has its own name in the guest.
    found = modules.find(kernel, "guest", ["e1000"])
    archive = build(kernel, "", {protocol.module(name): file for name, file in found.items()})
    assert b"lab/modules/e1000.ko\0" in archive and b"code" in archive
    kernel.init.unlink()
    with pytest.raises(LabError, match="init is missing: make userland"):
        build(kernel, "")


# Where each has its mark.
MAGIC = {"xfs": (0, b"XFSB"), "btrfs": (0x10040, b"_BHRfS_M"), "f2fs": (0x400, b"\x10\x20\xf5\xf2")}


@pytest.mark.parametrize("fs", [place.other for place in places.FILE_SYSTEMS], ids=MAGIC)
def test_it_is_made_on_all_of_the_disk(fs: Mkfs, tmp_path: Path) -> None:
    image = tmp_path / "image"
    image.write_bytes(b"what was there")
    fs.make(image)
    assert image.stat().st_size == fs.size_mb << 20
    at, magic = MAGIC[fs.type]
    with image.open("rb") as disk:
        disk.seek(at)
        assert disk.read(len(magic)) == magic
    assert sum(len(data) for _, data in extents.extents(image)) < 16 << 20


def test_what_mkfs_says_is_quoted(tmp_path: Path) -> None:
    with pytest.raises(LabError, match=r"mkfs\.xfs: exit 1: .*") as caught:
        Mkfs("xfs", 1).make(tmp_path / "image")
    assert caught.value.exit_code == 1


BUILT = ("init", "bin/lottery-bench", "libexec/wrais-disk")


def _built(top: Path, out: Path) -> Paths:
    """The programs, of a copy of their sources."""
    for folder in ("userland", "modules/napi_livelock"):
        shutil.copytree(TOP / folder, top / folder)
    shutil.copy(TOP / "paths.mk", top)
    targets = [str(out / "userland" / name) for name in BUILT]
    argv = ["make", "-s", "-j2", "-C", str(top / "userland"), f"O={out}", *targets]
    done = ran(*argv, env=environment())
    assert done.returncode == 0, done.stderr
    return Paths(top, out)


def _sums(paths: Paths) -> dict[str, str]:
    found = {
        name: hashlib.sha256((paths.userland / name).read_bytes()).hexdigest() for name in BUILT
    }
    return {**found, "initramfs": hashlib.sha256(build(paths, "mode\tplan\n")).hexdigest()}


def test_programs_are_the_same_bytes_in_every_folder(tmp_path: Path) -> None:
    """Where the sources lie, where the output goes, and when: the bytes do not tell."""
    one, two = tmp_path / "one", tmp_path / "another/folder/with-a-longer-name"
    first = _sums(_built(one, one / "build"))
    second = _sums(_built(two, tmp_path / "out"))
    assert first == second

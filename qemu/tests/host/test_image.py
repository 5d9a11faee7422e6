# SPDX-License-Identifier: GPL-2.0
"""Files of the root image for a guest without it."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab import LabError
from lab.arch import ARCH
from lab.guest import image
from lab.guest.boot import Boot, Program
from lab.guest.machine import Machine
from lab.paths import Paths

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
PROGRAM = Path("/bin/true")
"""What stands for a program of the image."""


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    """With a root image, and in the PATH a reader that knows one file of it."""
    paths = Paths(top=tmp_path, out=tmp_path)
    paths.rootfs.touch()
    return paths


@pytest.fixture
def reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / image.READER
    (tmp_path / "description").write_text(DESCRIPTION)
    script.write_text(
        "#!/bin/sh\n"
        f'case "$1 $2" in\n"--describe "*) cat {tmp_path}/description ;;\n'
        '"--cat usr/lib/arch/ld.so") echo loader ;;\n'
        f'"--cat usr/bin/hackbench") cat {PROGRAM} ;;\n'
        '"--cat usr/lib/x86_64-linux-gnu/"* | "--cat usr/lib64/"*) echo library ;;\n'
        '*) echo "no $2" >&2; exit 1 ;;\nesac\n'
    )
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")


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


def test_a_circle_is_refused() -> None:
    with pytest.raises(LabError, match="root image: round: too many symbolic links"):
        image.resolve("round", image.links(DESCRIPTION))


@pytest.mark.usefixtures("reader")
def test_a_file_is_taken_under_the_name_that_was_asked_for(paths: Paths, tmp_path: Path) -> None:
    """And can be executed: a program, its loader, its libraries."""
    found = image.extra(paths, ("lib64/ld.so",), tmp_path / "log")
    assert list(found) == ["lib64/ld.so"]
    assert found["lib64/ld.so"].read_text() == "loader\n"
    assert found["lib64/ld.so"].stat().st_mode & 0o777 == 0o755


@pytest.mark.usefixtures("reader")
def test_libraries_come_with_their_program(paths: Paths, tmp_path: Path) -> None:
    """By the name under which the loader looks for them; what is no program has none."""
    libraries = image.libraries(PROGRAM)
    assert f"{ARCH.libraries}/libc.so.6" in libraries
    found = image.extra(paths, ("usr/bin/hackbench",), tmp_path / "log")
    assert set(found) == {"usr/bin/hackbench", *libraries}
    assert image.libraries(Path(__file__)) == []


@pytest.mark.usefixtures("reader")
def test_what_is_not_in_the_image_is_named(paths: Paths, tmp_path: Path) -> None:
    with pytest.raises(LabError, match=r"--cat usr/bin/none: no usr/bin/none") as caught:
        image.extra(paths, ("usr/bin/none",), tmp_path / "log")
    assert caught.value.exit_code == 1


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
    """And without it each file is there once, whoever asks for it."""
    programs = [Program(name, (name,), image=("lib/a", f"bin/{name}")) for name in ("x", "y")]
    assert Boot("with", Machine(), tuple(programs)).image == ()
    without = Boot("without", Machine(root=False), tuple(programs))
    assert without.image == ("lib/a", "bin/x", "bin/y")

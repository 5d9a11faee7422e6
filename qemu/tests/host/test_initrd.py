# SPDX-License-Identifier: GPL-2.0
"""The initramfs: readable by cpio, and the same bytes for the same content."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from lab import LabError
from lab.guest.initrd import build, character_device, directory, file, pack
from lab.paths import Paths


def headers(archive: bytes) -> dict[str, list[int]]:
    """The thirteen numbers of each member by its name."""
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


def test_members(built: Paths) -> None:
    """PID 1, the programs, the plan and the console are there with their modes."""
    members = headers(build(built, "mode\tplan\n"))
    assert members["init"][1] == 0o100755
    assert members["lab/bin/lottery"][1] == 0o100755
    assert members["lab/plan"][6] == len("mode\tplan\n")
    assert members["dev/console"][1] == 0o020600 and members["dev/console"][9:11] == [5, 1]
    names = list(members)
    assert names.index("lab") < names.index("lab/bin") < names.index("lab/bin/lottery")


def test_deterministic(built: Paths) -> None:
    """Owner, time and the order of the directory leave no trace."""
    (built.bin / "a-tool").write_bytes(b"a")
    first = build(built, "plan")
    for path in (built.init, built.bin / "lottery", built.bin / "a-tool"):
        os.utime(path, (1, 1))
    (built.bin / "a-tool").unlink()
    (built.bin / "a-tool").write_bytes(b"a")
    assert build(built, "plan") == first
    for fields in headers(first).values():
        assert fields[2:4] == [0, 0] and fields[5] == 0


def test_folders_of_files_that_are_added(built: Paths) -> None:
    """The kernel makes no directory that has no member of its own, and loses what is in it."""
    members = headers(build(built, "plan", {"lab/new/deep/file": built.init}))
    assert members["lab/new"][1] == members["lab/new/deep"][1] == 0o040755
    names = list(members)
    assert names.index("lab/new") < names.index("lab/new/deep") < names.index("lab/new/deep/file")


def test_order_of_nodes() -> None:
    """Inodes follow the names, not the order of the arguments."""
    nodes = [file("b", b"1"), directory("a"), character_device("c", 1, 3)]
    assert pack(nodes) == pack(reversed(nodes))


def test_extra_files(built: Paths, tmp_path: Path) -> None:
    """More files keep their executable bit."""
    tool, data = tmp_path / "tool", tmp_path / "data"
    tool.write_bytes(b"x")
    tool.chmod(0o700)
    data.write_bytes(b"y" * 5)
    members = headers(build(built, "", {"lab/tool": tool, "lab/data": data}))
    assert members["lab/tool"][1] == 0o100755 and members["lab/data"][1] == 0o100644


def test_twice() -> None:
    """One name, one member."""
    with pytest.raises(LabError, match="a is there twice"):
        pack([file("a", b"1"), file("a", b"2")])


def test_nothing_built(tmp_path: Path) -> None:
    """What is missing is named together with the target that makes it."""
    with pytest.raises(LabError, match="init is missing: make userland"):
        build(Paths(tmp_path, tmp_path), "")


@pytest.mark.skipif(not shutil.which("cpio"), reason="no cpio on this host")
def test_cpio_reads_it(built: Paths) -> None:
    """The real program lists the same members."""
    archive = build(built, "plan")
    listing = subprocess.run(["cpio", "-t", "--quiet"], input=archive, capture_output=True)
    assert listing.returncode == 0
    assert listing.stdout.decode().split() == list(headers(archive))

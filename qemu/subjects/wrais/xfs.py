# SPDX-License-Identifier: GPL-2.0
"""XFS for the crash tests, with the programs of xfsprogs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from lab.guest import places
from lab.guest.mkfs import Mkfs
from lab.host.program import run
from subjects.wrais.crash import Border
from subjects.wrais.promise import Kind, Problem, told

BLOCK = 4096
FS_UUID = "6c616264-6973-6b00-8000-000000000003"
_FIELD = re.compile(r"^(?:core\.)?(\w+) = (\d+)$", re.M)
_EXTENT = re.compile(r"data offset (\d+) startblock \d+ \((\d+)/(\d+)\) count (\d+) flag ([01])")


@dataclass(frozen=True)
class Xfs:
    """A file system: size and log in MiB. xfsprogs makes one this small for tests alone."""

    size_mb: int
    log_mb: int
    groups: int = 2
    type: str = "xfs"
    modules: tuple[str, ...] = places.XFS_FS.modules

    @property
    def size(self) -> int:
        """In bytes."""
        return self.size_mb << 20

    def make(self, image: Path) -> None:
        """Write the empty file system to a sparse file. Raises LabError (exit code 1)."""
        data, log = f"agcount={self.groups}", f"size={self.log_mb}m"
        options = ("-q", "--unsupported", "-d", data, "-l", log, "-m", f"uuid={FS_UUID}")
        Mkfs(self.type, self.size_mb, options).make(image)

    def border(self, image: Path) -> Border:
        """Where a write may end in a crash: between two blocks, and in the log at any sector.

        Replay leaves a block alone that has the log's sequence number or a later one. The
        number is in its first sector: nothing mends the others of a block that ends there.
        The log has checksums.
        """
        sb = _super(image)
        group, block = divmod(sb["logstart"], 1 << sb["agblklog"])
        start = (group * sb["agblocks"] + block) * BLOCK
        log = range(start, start + sb["logblocks"] * BLOCK)
        return lambda write, end: (write.offset + end) % BLOCK == 0 or write.offset in log

    def check(self, state: Path) -> list[Problem]:
        """What is wrong with the file system of a state whose log has been replayed."""
        return told(Kind.CHECK, "xfs_repair", "-n", "-f", str(state))

    def files(self, state: Path, names: Iterable[str]) -> dict[str, bytes]:
        """What those of the files hold that are there; nothing may be left in the log."""
        group = _super(state)["agblocks"]
        found = {name: _file(state, name, group) for name in names}
        return {name: data for name, data in found.items() if data is not None}


def _db(image: Path, *commands: str) -> tuple[str, dict[str, int]]:
    """What xfs_db says, and what of it is NAME = NUMBER."""
    asked = [word for command in commands for word in ("-c", command)]
    said = run("xfs_db", "-r", *asked, str(image)).said
    return said, {name: int(value) for name, value in _FIELD.findall(said)}


def _super(image: Path) -> dict[str, int]:
    """Where things are."""
    names = ("agblocks", "agblklog", "logstart", "logblocks")
    return _db(image, "sb 0", *(f"p {name}" for name in names))[1]


def _file(state: Path, name: str, group: int) -> bytes | None:
    """What a file holds, by its extents."""
    said, fields = _db(state, f"path /{name}", "p core.size", "bmap")
    if "size" not in fields:
        return None
    data = bytearray(fields["size"])
    with state.open("rb") as disk:
        for extent in _EXTENT.findall(said):
            at, ag, block, count, unwritten = map(int, extent)
            if not unwritten:
                disk.seek((ag * group + block) * BLOCK)
                data[at * BLOCK : (at + count) * BLOCK] = disk.read(count * BLOCK)
    return bytes(data[: fields["size"]])

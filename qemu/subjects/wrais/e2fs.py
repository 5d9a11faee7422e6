# SPDX-License-Identifier: GPL-2.0
"""ext4 before and after a crash, with the programs of e2fsprogs."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from lab.guest.ext4 import Ext4
from lab.host.program import run
from subjects.wrais.crash import SECTOR, Border, Write
from subjects.wrais.promise import Kind, Problem, told

SUPER_MIDDLE = 1024 + SECTOR
COMMIT = struct.pack(">II", 0xC03B3998, 2)
"""How the block begins that ends a transaction in the journal."""


_TAG = struct.Struct("<HH")
_TAIL, _TAGS = 8, range(1, 10)
"""Tags of fs/ext4/fast_commit.h: that of a tail, and all of them."""


def _ends_fast_commit(block: bytes) -> bool:
    """Whether a block of the fast commit area has a tail."""
    at = 0
    while at + _TAG.size <= len(block):
        tag, length = map(int, _TAG.unpack_from(block, at))
        if tag not in _TAGS or tag == _TAIL:
            return tag == _TAIL
        at += _TAG.size + length
    return False


@dataclass(frozen=True)
class E2fs:
    """A file system. by_kernel: the guest's kernel replays its journal, not e2fsck."""

    fs: Ext4
    by_kernel: bool = False
    type: str = "ext4"
    modules: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """In bytes."""
        return self.fs.size_mb << 20

    def make(self, image: Path) -> None:
        """Write the empty file system to a sparse file."""
        self.fs.make(image)

    def border(self, _image: Path) -> Border:
        """Where a write may end in a crash.

        The superblock is read before the journal that could mend it. A commit block has a
        checksum of all of it: the kernel takes one of which only the first sector has been
        written, e2fsck 1.47.0 takes the journal for corrupt.
        """
        return lambda write, end: (
            write.offset + end != SUPER_MIDDLE and (self.by_kernel or write.head != COMMIT)
        )

    def fast_area(self, image: Path) -> tuple[int, int]:
        """Where the first and the last block for fast commits are, at the journal's end [bytes].

        The first one of the length that dumpe2fs knows is not used: jbd2_fc_init() in 6.12.
        """
        blocks = run("debugfs", "-R", "blocks <8>", str(image)).said.split()
        said = run("dumpe2fs", "-h", str(image)).said
        length = int(said.partition("Fast commit length:")[2].split()[0])
        return int(blocks[1 - length]) * self.fs.block, int(blocks[-1]) * self.fs.block

    def late_blocks(self, log: Path, writes: Sequence[Write], image: Path) -> list[int]:
        """Entries of the log that write the tail of a fast commit before all its other blocks.

        The tail asks for the last flush of a fast commit, which comes before the tail is
        written. So that flush has to find every other block written.
        """
        first, last = self.fast_area(image)
        size = self.fs.block
        written: dict[int, int] = {}
        flushed, before, place = -1, -1, -1
        late: list[int] = []
        with log.open("rb") as data:
            for entry, write in enumerate(writes):
                flushed = entry if write.flush else flushed
                for offset in range(write.offset, write.offset + write.length, size):
                    if not first <= offset <= last:
                        continue
                    written[offset] = entry
                    data.seek(write.at + offset - write.offset)
                    if not _ends_fast_commit(data.read(size)):
                        continue
                    begin = place + size if first <= place < offset else first
                    blocks = range(begin, offset, size)
                    if any(not before < written.get(one, -1) < flushed for one in blocks):
                        late.append(entry)
                    before, place = entry, offset
        return late

    def recover(self, state: Path) -> list[Problem]:
        """Replay the journal of a state, which is changed; what went wrong."""
        return told(Kind.JOURNAL, "e2fsck", "-y", "-E", "journal_only", str(state), good=(0, 1))

    def check(self, state: Path) -> list[Problem]:
        """What is wrong with the file system of a state whose journal has been replayed."""
        return told(Kind.CHECK, "e2fsck", "-fn", str(state))

    def files(self, state: Path, names: Iterable[str]) -> dict[str, bytes]:
        """What those of the files hold that are there; some are written beside the state."""
        copies = {name: state.with_name(f"{state.name}-{name}") for name in names}
        commands = [f"dump /{name} {copy}\n" for name, copy in copies.items()]
        run("debugfs", "-f", "-", str(state), stdin="".join(commands))
        found: dict[str, bytes] = {}
        for name, copy in copies.items():
            if copy.exists():
                found[name] = copy.read_bytes()
                copy.unlink()
        return found

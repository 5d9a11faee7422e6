# SPDX-License-Identifier: GPL-2.0
"""States that a crash can leave a disk in, from the log of its writes.

QEMU's blklogwrites writes down, in the format of dm-log-writes, what a guest's
disk was asked to do. Up to a flush everything is on the disk; of what came after
the last flush any part may be, and of a request as much as has been written when
the power went. Whether a state holds is up to promise.py.
"""

from __future__ import annotations

import os
import random
import shutil
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lab import LabError

MAGIC = 0x6A736677736872
FLUSH, DISCARD = 1, 4
SECTOR = 512
"""What a disk writes whole or not at all [bytes]."""
HEAD = 8
TRIES = 4
"""So many seeds are tried for each loss that is wanted."""

_SUPER = struct.Struct("<QQQI")
_ENTRY = struct.Struct("<QQQQ")


@dataclass(frozen=True)
class Write:
    """A write or a flush: where on the disk, and where in the log its data are [bytes].

    head is the beginning of the data.
    """

    offset: int
    at: int
    length: int
    flush: bool
    head: bytes = b""


Border = Callable[[Write, int], bool]
"""Whether a write may end after that many bytes, a multiple of SECTOR, in a crash."""


def read_log(path: Path) -> list[Write]:
    """The entries of a log. Raises LabError for another format."""
    writes: list[Write] = []
    with path.open("rb") as log:
        magic, version, count, sector = _SUPER.unpack(log.read(_SUPER.size))
        if magic != MAGIC or version != 1:
            raise LabError(f"{path}: no write log of version 1", exit_code=1)
        at = sector
        size = os.fstat(log.fileno()).st_size
        for _ in range(count):
            log.seek(at)
            start, sectors, flags, _length = _ENTRY.unpack(log.read(_ENTRY.size))
            at += sector
            length = 0 if flags & DISCARD else sectors * sector
            if at + length > size:
                raise LabError(f"{path}: cut off in entry {len(writes)}", exit_code=1)
            log.seek(at)
            head = log.read(min(HEAD, length))
            writes.append(Write(start * sector, at, length, bool(flags & FLUSH), head))
            at += length
    return writes


def survivors(writes: Sequence[Write], seed: int, border: Border) -> tuple[Write, ...]:
    """What is there of writes that no flush has followed: whole, or up to a border.

    The same seed takes the same ones. How many are lost is up to it, too; half of
    those are torn, where they can be.
    """
    chance = random.Random(seed)
    share = chance.random()
    kept: list[Write] = []
    for write in writes:
        if chance.random() < share:
            kept.append(write)
        elif chance.random() < 0.5:
            ends = [end for end in range(SECTOR, write.length, SECTOR) if border(write, end)]
            if ends:
                kept.append(replace(write, length=chance.choice(ends)))
    return tuple(kept)


@dataclass
class Replay:
    """A disk at some point of its log: the image before, changed as far as entry `done`."""

    log: Path
    writes: Sequence[Write]
    image: Path
    border: Border
    done: int = 0

    def forward(self, upto: int) -> None:
        """Apply the entries before upto."""
        _apply(self.log, self.writes[self.done : upto], self.image)
        self.done = upto

    def unflushed(self, point: int) -> Sequence[Write]:
        """The writes between entry `point` and the next flush."""
        rest = self.writes[point:]
        until = next((i for i, write in enumerate(rest) if write.flush), len(rest))
        return [write for write in rest[:until] if write.length]

    def seeds(self, point: int, count: int) -> list[int]:
        """Seeds of losses behind a flush that differ: that many, or fewer if there are not."""
        first = point * TRIES * count
        there = {
            survivors(self.unflushed(point), seed, self.border): seed
            for seed in range(first, first + TRIES * count)
        }
        there.pop((), None)
        return sorted(there.values())[:count]

    def crashed(self, state: Path, seed: int | None) -> None:
        """A copy with what survives of the writes up to the next flush; without seed, nothing."""
        shutil.copyfile(self.image, state)
        if seed is not None:
            _apply(self.log, survivors(self.unflushed(self.done), seed, self.border), state)

    def torn_at(self, state: Path, offset: int) -> bool:
        """A copy with the first sector, and nothing else, of what that place is written before
        the next flush; False if it is not.
        """
        there = [write for write in self.unflushed(self.done) if write.offset == offset]
        if there:
            shutil.copyfile(self.image, state)
            _apply(self.log, [replace(there[0], length=SECTOR)], state)
        return bool(there)


def _apply(log: Path, writes: Sequence[Write], image: Path) -> None:
    with log.open("rb") as source, image.open("r+b") as target:
        for write in writes:
            if write.length:
                source.seek(write.at)
                target.seek(write.offset)
                target.write(source.read(write.length))


def flush_points(writes: Sequence[Write]) -> list[int]:
    """How many entries lead up to and include each flush."""
    return [index + 1 for index, write in enumerate(writes) if write.flush]


def spread(points: Sequence[int], count: int) -> list[int]:
    """`count` of the points, evenly, or all if there are fewer."""
    if len(points) <= count:
        return list(points)
    return [points[index * len(points) // count] for index in range(count)]


def flushed_at(writes: Sequence[Write], offset: int) -> list[int]:
    """The flush points at which that place has been written anew."""
    found: list[int] = []
    fresh = False
    for index, write in enumerate(writes):
        fresh |= write.offset <= offset < write.offset + write.length
        if fresh and write.flush:
            found.append(index + 1)
            fresh = False
    return found


def followed_at(writes: Sequence[Write], offset: int) -> list[int]:
    """The flush points behind which that place is written before the next flush."""
    found: dict[int, None] = {}
    point = 0
    for index, write in enumerate(writes):
        if write.length and write.offset == offset:
            found[point] = None
        if write.flush:
            point = index + 1
    return list(found)

# SPDX-License-Identifier: GPL-2.0
"""States that a crash can leave a disk in, from the log of its writes, and whether they hold.

QEMU's blklogwrites writes down, in the format of dm-log-writes, what a guest's
disk was asked to do. Up to a flush everything is on the disk; of what came after
the last flush any part may be. A state is held against what the guest was
promised: see wrais-crash.c, which notes it on a partition that is the last MiB of the disk.
"""

from __future__ import annotations

import os
import random
import shutil
import struct
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from lab import LabError

MAGIC = 0x6A736677736872
FLUSH, DISCARD = 1, 4

RECORD = 4096
WORDS = RECORD // 8
PROMISE_MAGIC = 0x5052414953435241
TAIL = 1 << 20

_SUPER = struct.Struct("<QQQI")
_ENTRY = struct.Struct("<QQQQ")


@dataclass(frozen=True)
class Write:
    """A write or a flush: where on the disk, and where in the log its data are [bytes]."""

    offset: int
    at: int
    length: int
    flush: bool


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
            writes.append(Write(start * sector, at, length, bool(flags & FLUSH)))
            at += length
    return writes


@dataclass
class Replay:
    """A disk at some point of its log: the image before, changed as far as entry `done`."""

    log: Path
    writes: Sequence[Write]
    image: Path
    done: int = 0

    def forward(self, upto: int) -> None:
        """Apply the entries before upto."""
        _apply(self.log, self.writes[self.done : upto], self.image)
        self.done = upto

    def crashed(self, state: Path, lose: random.Random | None) -> None:
        """A copy with the writes up to the next flush: a random part of them, or none."""
        shutil.copyfile(self.image, state)
        if lose is None:
            return
        rest = self.writes[self.done :]
        until = next((i for i, write in enumerate(rest) if write.flush), len(rest))
        kept = [write for write in rest[:until] if lose.random() < 0.5]
        _apply(self.log, kept, state)


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


def journal_end(image: Path, block: int) -> int:
    """Where the last block of the journal is."""
    _, said = _run("debugfs", "-R", "blocks <8>", str(image))
    return int(said.split()[-1]) * block


def record(writer: int, number: int) -> bytes:
    """What wrais-crash writes; its fill_record()."""
    base = writer << 48 ^ number << 16 ^ 1 << 63
    return struct.pack(f"<{WORDS}Q", *(base ^ index for index in range(WORDS)))


def promises(state: Path) -> dict[int, int]:
    """For each writer, how many records have been promised."""
    found: dict[int, int] = {}
    with state.open("rb") as disk:
        disk.seek(-TAIL, os.SEEK_END)
        tail = disk.read(TAIL)
    for at in range(0, TAIL, RECORD):
        magic, writer, count = struct.unpack_from("<QQQ", tail, at)
        if magic == PROMISE_MAGIC:
            found[writer] = count
    return found


def _run(*argv: str) -> tuple[int, str]:
    """A program of e2fsprogs: its status, and what it said."""
    path = os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"))
    done = subprocess.run(
        argv,
        env={**os.environ, "PATH": path, "LC_ALL": "C"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    return done.returncode, done.stdout


class Kind(StrEnum):
    """What can be wrong with a state: what replays it, the file system, or what it holds.

    A promise that was kept is there, and shows what was written; one that was not is
    lost. Altered is a record that shows what was not written there.
    """

    JOURNAL = "journal"
    CHECK = "check"
    LOST = "lost"
    ALTERED = "altered"


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with a state."""

    kind: Kind
    text: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}"


def recover(state: Path) -> list[Problem]:
    """Replay the journal of a state, which is changed; what went wrong."""
    status, said = _run("e2fsck", "-y", "-E", "journal_only", str(state))
    if status in (0, 1):
        return []
    return [Problem(Kind.JOURNAL, f"e2fsck exit {status}: {said[-300:]}")]


def problems(state: Path, scratch: Path) -> list[Problem]:
    """What is wrong with a state whose journal has been replayed."""
    status, said = _run("e2fsck", "-fn", str(state))
    found = [Problem(Kind.CHECK, f"e2fsck exit {status}: {said[-300:]}")] if status else []
    for writer, count in promises(state).items():
        found += _broken(state, scratch, writer, count)
    return found


def _broken(state: Path, scratch: Path, writer: int, count: int) -> Iterator[Problem]:
    scratch.unlink(missing_ok=True)
    _run("debugfs", "-R", f"dump /w{writer} {scratch}", str(state))
    data = scratch.read_bytes() if scratch.exists() else b""
    whole = len(data) // RECORD * RECORD
    there = [data[at : at + RECORD] for at in range(0, whole, RECORD)]
    if len(there) < count:
        yield Problem(Kind.LOST, f"writer {writer}: {len(there)} of {count} records promised")
    for number, shown in enumerate(there):
        if shown == record(writer, number):
            continue
        if shown.strip(b"\0"):
            yield Problem(Kind.ALTERED, f"writer {writer}: record {number} of {count} promised")
            return
        if number < count:
            yield Problem(Kind.LOST, f"writer {writer}: record {number} of {count} is blank")
            return

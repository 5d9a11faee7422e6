# SPDX-License-Identifier: GPL-2.0
"""What wrais-crash has promised, and whether the files hold it.

A promise is noted on a partition that is the last MiB of the disk: see wrais-crash.c.
"""

from __future__ import annotations

import functools
import os
import struct
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from lab.host.program import run

RECORD = 4096
WORDS = RECORD // 8
MAGIC = 0x5052414953435241
TAIL = 1 << 20


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


def told(kind: Kind, *argv: str, good: Collection[int] = (0,)) -> list[Problem]:
    """What a program finds wrong with a state, by its exit status."""
    done = run(*argv)
    if done.status in good:
        return []
    return [Problem(kind, f"{argv[0]} exit {done.status}: {done.said[-300:]}")]


class FileSystem(Protocol):
    """What is asked of a file system whose journal has been replayed."""

    def check(self, state: Path) -> list[Problem]: ...

    def files(self, state: Path, names: Iterable[str]) -> dict[str, bytes]: ...


@functools.cache
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
        if magic == MAGIC:
            found[writer] = count
    return found


def problems(fs: FileSystem, state: Path) -> list[Problem]:
    """What is wrong with a state whose journal has been replayed."""
    promised = promises(state)
    names = {writer: f"w{writer}" for writer in promised}
    files = fs.files(state, names.values())
    found = fs.check(state)
    for writer, count in promised.items():
        found += _broken(files.get(names[writer], b""), writer, count)
    return found


def _broken(data: bytes, writer: int, count: int) -> Iterator[Problem]:
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

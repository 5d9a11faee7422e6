# SPDX-License-Identifier: GPL-2.0
"""The requests in a disk, of what blktrace wrote: struct blk_io_trace, blktrace_api.h of 6.12."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lab import LabError

# magic and version, sequence, time, sector, bytes, action, pid, device, cpu, error, pdu_len
RECORD = struct.Struct("<IIQQIIIIIHH")
MAGIC = 0x65617400
VERSION = 7
ACTIONS = 0xFFFF
QUEUE, ISSUE, COMPLETE = 1, 7, 8
NOTIFY = 1 << (10 + 16)


@dataclass(frozen=True)
class Request:
    """From the moment when the disk got it until it was done, for the task that queued it first."""

    begin_ns: int
    end_ns: int
    pid: int


@dataclass(frozen=True)
class Record:
    """One of blktrace's."""

    time_ns: int
    sector: int
    action: int
    pid: int


def records(file: Path) -> list[Record]:
    """The records of one CPU, in their order.  Raises LabError for other data."""
    data, at, found = file.read_bytes(), 0, []
    while at + RECORD.size <= len(data):
        fields = RECORD.unpack_from(data, at)
        magic, _, time_ns, sector, _, action, pid, *_, pdu = fields
        if magic != MAGIC | VERSION:
            raise LabError(f"{file}: {magic:#x} at {at}: no record of blktrace", exit_code=1)
        at += RECORD.size + pdu
        if not action & NOTIFY:
            found.append(Record(time_ns, sector, action & ACTIONS, pid))
    return found


def requests(folder: Path) -> Iterator[Request]:
    """Every request that was issued and completed while it was recorded, by its end."""
    every = [one for file in sorted(folder.glob("disk.blktrace.*")) for one in records(file)]
    asked: dict[int, int] = {}
    issued: dict[int, int] = {}
    for one in sorted(every, key=lambda one: one.time_ns):
        if one.action == QUEUE:
            asked[one.sector] = one.pid
        elif one.action == ISSUE:
            issued[one.sector] = one.time_ns
        elif one.action == COMPLETE and one.sector in issued:
            pid = asked.get(one.sector, one.pid)
            yield Request(issued.pop(one.sector), one.time_ns, pid)

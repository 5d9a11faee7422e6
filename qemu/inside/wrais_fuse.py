# SPDX-License-Identifier: GPL-2.0
"""A file system in user space whose server stops to answer: see linux/fuse.h."""

from __future__ import annotations

import errno
import mmap
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager

from inside import calls
from inside.ktap import Case
from inside.task import Task, wait_until
from inside.wrais_disk import FOLDER, MIB, VMSTAT, Disk, limit_dirty
from inside.wrais_limits import DISK_MBPS, DISK_MIB, LOOK_S, SLACK_BYTES, Peak, have_memory
from inside.wrais_tasks import Crew, Use, Words

DIRTY_BYTES = 64 * MIB
FUSE_PERCENT = 1
"""The kernel gives such a file system one per cent of that."""
ANSWERED_BYTES = MIB
"""What the server takes before it stops to answer."""
OTHERS_BYTES, BRIEF_BYTES = 20 * MIB, 4 * MIB
_CONNECTIONS = "/sys/fs/fuse/connections"
_HEAD = struct.Struct("<IIQQ")
_HEAD_BYTES = 40
_LOOKUP, _FORGET, _GETATTR, _SETATTR, _WRITE, _INIT, _CREATE = 1, 2, 3, 4, 16, 26, 35
_INTERRUPT, _FORGET_MANY = 36, 42
_BIG_WRITES, _WRITEBACK_CACHE, _MAX_PAGES = 1 << 5, 1 << 16, 1 << 22
_ROOT = 1
_MAX_WRITE = MIB


def _attributes(node: int) -> bytes:
    """The root directory, or any file: no more is looked at."""
    mode, links = (0o040755, 2) if node == _ROOT else (0o100644, 1)
    return struct.pack("<Q40x12xII20x", node, mode, links)


class Server:
    """What it has answered for, and whether it answers no write any more, is shared."""

    def __init__(self, device: int) -> None:
        self._device = device
        self._shared = memoryview(mmap.mmap(-1, mmap.PAGESIZE)).cast("Q")
        self._nodes = _ROOT

    def stalled(self) -> bool:
        """It answers no write any more."""
        return bool(self._shared[1])

    def serve(self) -> None:
        """Until the connection is aborted."""
        while True:
            try:
                asked = os.read(self._device, _MAX_WRITE + mmap.PAGESIZE)
            except OSError as error:
                if error.errno == errno.ENODEV:
                    return
                if error.errno != errno.ECONNABORTED:
                    raise
                continue
            _, code, unique, node = _HEAD.unpack_from(asked)
            answer = self._answer(code, node, asked[_HEAD_BYTES:])
            if answer is not None:
                error_of = answer if isinstance(answer, int) else 0
                data = answer if isinstance(answer, bytes) else b""
                head = struct.pack("<IiQ", 16 + len(data), -error_of, unique)
                calls.fails(os.write, self._device, head + data)

    def _answer(self, code: int, node: int, data: bytes) -> bytes | int | None:
        """Bytes, an error, or nothing."""
        if code == _INIT:
            _, minor, ahead = struct.unpack_from("<III", data)
            # the kernel keeps what is written, as for a disk
            flags = _BIG_WRITES | _WRITEBACK_CACHE | _MAX_PAGES
            pages = _MAX_WRITE // mmap.PAGESIZE
            words = (7, min(minor, 31), ahead, flags, 0, 0, _MAX_WRITE, 1, pages)
            return struct.pack("<IIIIHHIIH34x", *words)
        if code in (_GETATTR, _SETATTR):
            return bytes(16) + _attributes(node)
        if code == _CREATE:
            self._nodes += 1
            return struct.pack("<Q32x", self._nodes) + _attributes(self._nodes) + bytes(16)
        if code == _WRITE:
            return self._write(struct.unpack_from("<QQI", data)[2])
        if code in (_FORGET, _INTERRUPT, _FORGET_MANY):
            return None
        return errno.ENOENT if code == _LOOKUP else errno.ENOSYS

    def _write(self, size: int) -> bytes | None:
        """Data go nowhere; what is to be answered no more waits until the connection is aborted."""
        if self._shared[0] >= ANSWERED_BYTES:
            self._shared[1] = 1
            return None
        self._shared[0] += size
        return struct.pack("<II", size, 0)


@contextmanager
def mounted() -> Iterator[tuple[str, Server]]:
    """A child serves it; at the end, all that waits for it gets an error."""
    folder = f"{FOLDER}-fuse"
    os.makedirs(folder, exist_ok=True)
    device = os.open("/dev/fuse", os.O_RDWR)
    server = Server(device)
    with Task(server.serve) as task:
        options = f"fd={device},rootmode=40000,user_id=0,group_id=0"
        calls.mount("wrais-safety", folder, "fuse", 0, options)
        os.close(device)
        task.release()
        yield folder, server
        task.result()
    calls.unmount(folder, 2)


def _abort(device: int) -> None:
    if not os.listdir(_CONNECTIONS):
        calls.mount("fusectl", _CONNECTIONS, "fusectl", 0)
    calls.write(f"{_CONNECTIONS}/{os.minor(device)}/abort", "1")


def _dirty_of(device: int) -> int:
    """What waits to be written to it, and what it has been asked to write."""
    stats = f"/sys/kernel/debug/bdi/{os.major(device)}:{os.minor(device)}/stats"
    found = calls.values(stats)
    return (found["BdiReclaimable"] + found["BdiWriteback"]) * 1024


def stalled(case: Case) -> None:
    """The file system keeps its own limit under privileged writers; others get on, and have memory.

    Its pages stay dirty, or are copied and under way without end, which no counter of dirty pages
    shows: only its own limit keeps it from all memory.
    """
    kills = calls.values(VMSTAT)["oom_kill"]
    with Disk(DISK_MIB, DISK_MBPS) as disk, mounted() as (folder, server):
        limit_dirty(DIRTY_BYTES)
        device = os.stat(folder).st_dev
        uses = [Use("fill", privileged=True, path=f"{folder}/file.{i}") for i in (1, 2)]
        most = DIRTY_BYTES // 100 * FUSE_PERCENT + len(uses) * SLACK_BYTES
        peak = Peak(lambda: _dirty_of(device), most)
        with Crew(case, (disk,), *uses) as crew:
            try:
                case.expect(wait_until(server.stalled, longest_s=LOOK_S), "nothing is written")
                with Crew(case, (disk,), Use("write")) as others:
                    peak.watch(others, BRIEF_BYTES if Words.brief else OTHERS_BYTES)
                    have_memory()
                    peak.look()
                    others.stop()
            finally:
                _abort(device)
            crew.ended(errno.ENOTCONN, errno.ECONNABORTED)
    peak.judge(case)
    case.equal(calls.values(VMSTAT)["oom_kill"], kills, "killed for memory")

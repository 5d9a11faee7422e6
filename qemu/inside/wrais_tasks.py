# SPDX-License-Identifier: GPL-2.0
"""Readers and writers of a disk, which note how far they are and what ended them."""

from __future__ import annotations

import ctypes
import mmap
import os
import struct
import time
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any

from inside import calls, cgroup, wrais
from inside.ktap import Case
from inside.task import Task, wait_until
from inside.wrais_disk import MIB, Disk, fill_file

BLOCK = 64 << 10
ROOM, PUNCH = 24 * MIB, 8 * MIB
"""A writer's file holds so much, and gives back so much at a time."""
READ_SIZE = MIB
PAUSE_S = 0.02
"""What a polite reader leaves to others: longer than BFQ waits for it (slice_idle)."""
LOOK_S = 0.1
THINK_S = 0.0005
"""What a task that thinks does not leave to them: shorter than that."""
APART = range(0, 640, 32)
"""Inodes, or KiB of a file: no blocks of them are neighbours, and they are more than a CPU
remembers the buffers of (BH_LRU_SIZE).
"""
WATCH_S, BRIEF_WATCH_S = 5, 3
DIRECT = ("request", "log")
READERS = ("read", "request", "write_back", "look")
_BYTES = b"\x5a" * BLOCK
_PUNCH_HOLE, _KEEP_SIZE = 2, 1
_SYNC_WRITE = 2
_IOCB = "QIIHhIQQqQII"
_AIO_PREAD, _AIO_PWRITE, _AIO_IOPRIO = 0, 1, 2
_DSYNC = 2
_SLOT = 8


class Words:
    """How the program runs: brief has smaller limits and fewer rounds, for a slow kernel."""

    brief = False


@dataclass(frozen=True)
class Use:
    """What a task does: a method of Worker, again and again."""

    role: str
    privileged: bool = False
    thinks: bool = False
    """Half a millisecond before each read."""
    group: str = ""
    """A cgroup to join."""
    disk: int = 0
    path: str = ""
    """What it uses in place of a file of its own."""
    image: str = ""
    """Of what file that is made, which is in memory, too."""


def privileged(role: str) -> Use:
    """On the first disk."""
    return Use(role, privileged=True)


class Slot:
    """What a task and its parent share: rounds, value and mark.

    The value is bytes moved, or of what is timed the longest in ns; the mark is the error that has
    ended it.
    """

    def __init__(self, words: memoryview) -> None:
        self.words = words

    @property
    def rounds(self) -> int:
        """How often it has done its work."""
        return int(self.words[0])

    @property
    def value(self) -> int:
        """How far it is."""
        return int(self.words[1])

    @property
    def mark(self) -> int:
        """Why it has ended."""
        return int(self.words[2])


class Worker:
    """A task at work; each method is a round of it.  Raises OSError."""

    def __init__(self, use: Use, own: str) -> None:
        self.own = own
        path = use.path or own
        direct = os.O_DIRECT if use.role in DIRECT and not use.path else 0
        reads = use.role in READERS and (direct or use.path)
        how = os.O_RDONLY if reads else os.O_RDWR | os.O_CREAT
        self.fd = os.open(path, how | direct, 0o644)
        self.image = os.open(use.image, os.O_RDONLY) if use.image else -1
        self.buffer = mmap.mmap(-1, BLOCK)
        self.at = self.hole = self.value = 0
        # without the floor nothing else keeps it from starving the others
        starves = use.privileged and not (wrais.on(wrais.MASTER) and wrais.on("floor"))
        self.pause_s = PAUSE_S if starves else THINK_S if use.thinks else 0.0
        self.aio = 0
        self.forget()

    def forget(self) -> None:
        """What it reads is no longer in memory."""
        for fd in (self.fd, self.image):
            if fd >= 0:
                os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)

    def _note(self, begin: int) -> None:
        self.value = max(self.value, time.monotonic_ns() - begin)

    def fill(self) -> None:
        """Append."""
        self.at += os.pwrite(self.fd, _BYTES, self.at)
        self.value = self.at

    def write(self) -> None:
        """The same, giving the oldest blocks back."""
        self.fill()
        if self.at - self.hole >= ROOM + PUNCH:
            calls.call("fallocate", self.fd, _PUNCH_HOLE | _KEEP_SIZE, self.hole, PUNCH)
            self.hole += PUNCH

    def allocate(self) -> None:
        """Take blocks and give them back, without data."""
        calls.call("fallocate", self.fd, 0, 0, PUNCH)
        os.ftruncate(self.fd, 0)

    def sync(self) -> None:
        """Append a page, fsync."""
        self.at += os.pwrite(self.fd, _BYTES[: mmap.PAGESIZE], self.at)
        begin = time.monotonic_ns()
        os.fsync(self.fd)
        self._note(begin)

    def create(self) -> None:
        """A new file with a name that goes away again, fsync."""
        path = f"{self.own}.new"
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644)
        os.fsync(fd)
        os.close(fd)
        os.unlink(path)

    def touch(self) -> None:
        """Change inodes, no two of whose blocks are neighbours, fsync."""
        while self.at < APART.stop:
            os.close(os.open(f"{self.own}.{self.at}", os.O_CREAT, 0o644))
            self.at += 1
        time.sleep(2 * PAUSE_S)
        begin = time.monotonic_ns()
        for i in APART:
            os.utime(f"{self.own}.{i}")
        os.utime(self.fd)
        os.fsync(self.fd)
        self._note(begin)

    def rewrite(self) -> None:
        """Write pages of a file again, no two of which are neighbours."""
        time.sleep(2 * PAUSE_S)
        begin = time.monotonic_ns()
        for i in APART:
            os.pwrite(self.fd, _BYTES[: mmap.PAGESIZE], i << 10)
        self._note(begin)

    def read(self) -> None:
        """A block of a file that is no longer in memory."""
        if self.pause_s:
            time.sleep(self.pause_s)
        got = os.preadv(self.fd, [self.buffer], self.at)
        self.at += got
        self.value += got
        if not got:
            self.at = 0
            self.forget()

    def look(self) -> None:
        """A page that is no longer in memory, ten times a second."""
        time.sleep(LOOK_S)
        self.forget()
        begin = time.monotonic_ns()
        os.pread(self.fd, mmap.PAGESIZE, 0)
        self._note(begin)

    def log(self) -> None:
        """Write a page of an allocated file by AIO, which is on the disk when that is done."""
        if not self.value:
            os.ftruncate(self.fd, 0)
            os.posix_fallocate(self.fd, 0, ROOM)
        self._aio((0, _DSYNC, _AIO_PWRITE, 0), mmap.PAGESIZE, 0)
        self.at = (self.at + mmap.PAGESIZE) % ROOM
        self.value += mmap.PAGESIZE

    def request(self) -> None:
        """The same as read, with a request of the real-time class."""
        self._aio((0, 0, _AIO_PREAD, wrais.RT << 13), BLOCK, _AIO_IOPRIO)
        self.at = (self.at + BLOCK) % READ_SIZE
        self.value += BLOCK

    def _aio(self, how: tuple[int, ...], size: int, flags: int) -> None:
        if not self.aio:
            context = ctypes.c_uint64()
            calls.call("io_setup", 1, ctypes.addressof(context))
            self.aio = context.value
        page = ctypes.addressof(ctypes.c_char.from_buffer(self.buffer))
        words = (0, *how, self.fd, page, size, self.at, 0)
        control = ctypes.create_string_buffer(struct.pack(_IOCB, *words, flags, 0))
        pointer = ctypes.c_uint64(ctypes.addressof(control))
        calls.call("io_submit", self.aio, 1, ctypes.addressof(pointer))
        event = (ctypes.c_int64 * 4)()
        calls.call("io_getevents", self.aio, 1, 1, ctypes.addressof(event), 0)
        if event[2] != size:
            raise OSError(5, f"a request came to {event[2]}")

    def write_back(self) -> None:
        """Have what is dirty written, and do not wait, as the flusher does every few seconds."""
        time.sleep(PAUSE_S)
        calls.call("sync_file_range", self.fd, 0, 0, _SYNC_WRITE)


def _work(use: Use, own: str, slot: memoryview, stop: memoryview) -> None:
    if use.privileged and wrais.take_class(wrais.RT):
        raise PermissionError("no real-time I/O class")
    if use.group:
        cgroup.move(use.group, 0)
    try:
        worker = Worker(use, own)
        step = getattr(worker, use.role)
        while not stop[0]:
            try:
                step()
            finally:
                slot[1] = worker.value
                slot[0] += 1
    except OSError as error:
        slot[2] = error.errno or 0


class Crew:
    """Such tasks on these disks, at work; killed at the end of the block."""

    def __init__(self, case: Case, disks: tuple[Disk, ...], *uses: Use) -> None:
        self._case = case
        self._stack = ExitStack()
        self._shared = memoryview(mmap.mmap(-1, mmap.PAGESIZE)).cast("Q")
        self.slots: list[Slot] = []
        self.tasks: dict[int, Task] = {}
        self.paths: list[str] = []
        for i, use in enumerate(uses):
            own = f"{disks[use.disk].folder}/task.{i + 1}"
            if use.role in (*READERS, "rewrite") and not use.path and not os.path.exists(own):
                fill_file(own, READ_SIZE)
            words = self._shared[_SLOT * (i + 1) : _SLOT * (i + 2)]
            work = partial(_work, use, own, words, self._shared)
            self.tasks[i] = self._stack.enter_context(Task(work))
            self.slots.append(Slot(words))
            self.paths.append(own)
        for task in self.tasks.values():
            task.release()

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.__exit__(*error)

    def advance(self, rounds: int, *which: int) -> None:
        """All of them, or those, do so many rounds more.  Raises OSError."""
        goals = {i: self.slots[i].rounds + rounds for i in which or range(len(self.slots))}
        for i, goal in goals.items():
            slot = self.slots[i]
            there = wait_until(partial(_has_come, slot, goal))
            if slot.mark or not there:
                raise OSError(slot.mark, f"task {i + 1}: {slot.rounds} rounds, not {goal}")

    def bytes(self) -> int:
        """How many they have moved; of "sync" nothing is known."""
        return sum(slot.value for slot in self.slots)

    def watch(self, seconds: float = 0) -> list[int]:
        """What each does for a while, or for so long, once all have begun."""
        self.advance(1)
        return self.measure(seconds or (BRIEF_WATCH_S if Words.brief else WATCH_S))

    def measure(self, seconds: float) -> list[int]:
        """What each does in that time."""
        before = [slot.value for slot in self.slots]
        time.sleep(seconds)
        done = [slot.value - old for slot, old in zip(self.slots, before, strict=True)]
        rounds = [slot.rounds for slot in self.slots]
        self._case.note(f"in {seconds} s {done}, {rounds} rounds in all")
        return done

    def expect_longest(self, what: str, most_ms: int, which: int = 0) -> None:
        """What one of them times took so long at most."""
        longest_ms = self.slots[which].value // 1_000_000
        bounded = longest_ms <= most_ms
        self._case.expect_bound(bounded, f"the longest {what} took {longest_ms} ms")

    def ended(self, *errors: int) -> None:
        """They end by themselves, with one of these errors."""
        for i, task in self.tasks.items():
            task.result()
            mark = self.slots[i].mark
            self._case.expect(mark in errors, f"task {i + 1}: {os.strerror(mark)}")

    def kill(self, which: int) -> None:
        """End one of them at once."""
        self.tasks.pop(which).end()

    def stop(self) -> None:
        """They end, because they shall, without error."""
        self._shared[0] = 1
        self.ended(0)


def _has_come(slot: Slot, goal: int) -> bool:
    return slot.rounds >= goal or bool(slot.mark)

# SPDX-License-Identifier: GPL-2.0
"""Child processes that sleep until their release, so that they are made something before."""

from __future__ import annotations

import ctypes
import marshal
import mmap
import os
import signal
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn, TypeVar

from inside import calls

WAIT_S = 30.0
"""For a child to do a small thing: far above what a slow machine needs."""
S = TypeVar("S", bound=ctypes.Structure)


def shared(kind: type[S]) -> S:
    """Zeros that children share with their parent."""
    return kind.from_buffer(mmap.mmap(-1, mmap.PAGESIZE))


def _usual() -> float:
    return WAIT_S


patience: Callable[[], float] = _usual
"""How long a wait that begins now may take; a program may have another."""


def wait_until(
    condition: Callable[[], object], seconds: float | None = None, longest_s: float = 0.05
) -> bool:
    """Look until it holds, every longest_s at least; returns whether it does in time."""
    end = time.monotonic() + (patience() if seconds is None else seconds)
    pause = 0.001
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(pause)
        pause = min(1.25 * pause, longest_s)
    return True


class Stat(NamedTuple):
    """Of /proc/PID/stat."""

    state: str
    priority: int
    cpu: int


def stat(pid: int) -> Stat:
    """As it is now."""
    fields = calls.read(f"/proc/{pid}/stat").rpartition(") ")[2].split()
    return Stat(fields[0], int(fields[15]), int(fields[36]))


def asleep(pid: int) -> bool:
    """It is, and not on the way to it: a task that was preempted there is still queued."""
    return stat(pid).state == "S" and calls.read(f"/proc/{pid}/wchan") not in ("", "0")


def spin() -> NoReturn:
    """The work of a hog."""
    while True:
        pass


class Task:
    """A child that sleeps until its release, works, and ends with the block or its parent."""

    def __init__(self, work: Callable[[], Any]) -> None:
        # A read returns one write, though two may wait.
        self._orders, self._go = os.pipe2(os.O_CLOEXEC | os.O_DIRECT)
        self._result, result = os.pipe()
        self._status: int | None = None
        parent = os.getpid()
        self.pid = os.fork()
        if not self.pid:
            _child(parent, self._orders, result, work)
        os.close(self._orders)
        os.close(result)
        self._expect(lambda: asleep(self.pid), "sleep")

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()
        os.close(self._go)
        os.close(self._result)

    def _expect(self, condition: Callable[[], bool], what: str) -> None:
        if not wait_until(condition):
            raise TimeoutError(f"pid {self.pid} does not {what}")

    def _ended(self) -> bool:
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        if pid:
            self._status = status
        return bool(pid)

    @property
    def ended(self) -> bool:
        """Whether that has been seen."""
        return self._status is not None

    def kill(self) -> None:
        """Unless it has ended."""
        if self._status is None:
            os.kill(self.pid, signal.SIGKILL)

    def end(self) -> None:
        """Kill it, and wait until it has ended."""
        self.kill()
        if self._status is None:
            self._expect(self._ended, "end although it was killed")

    def release(self) -> None:
        """Let it work."""
        os.write(self._go, b".")

    def result(self) -> Any:
        """What its work returned, once it has ended.  Raises OSError if it did not end well."""
        self._expect(self._ended, "end")
        if self._status:
            raise ChildProcessError(f"pid {self.pid} ended with status {self._status:#x}")
        found = os.read(self._result, 65536)
        return marshal.loads(found) if found else None


def _child(parent: int, go: int, result: int, work: Callable[[], Any]) -> NoReturn:
    code = 1
    try:
        calls.signal_at_death_of_parent(signal.SIGKILL)
        if os.getppid() == parent:
            os.read(go, 1)
            os.write(result, marshal.dumps(work()))
            code = 0
    except BaseException:
        sys.excepthook(*sys.exc_info())
    os._exit(code)


def released(work: Callable[[], Any]) -> Any:
    """What that returns in a child.  Raises OSError if it did not end well."""
    with Task(work) as task:
        task.release()
        return task.result()

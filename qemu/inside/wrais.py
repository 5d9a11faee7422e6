# SPDX-License-Identifier: GPL-2.0
"""The switches, numbers and counters of privileged I/O, and the tasks that have it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from inside import calls, cgroup
from inside.ktap import FAILED, UNSUPPORTED, stop

MASTER = "enabled"
PARTS = ("raise", "dirty", "copy_out", "inherit", "tags", "floor")
KNOBS = {
    "dirty_headroom_pct": (1, 25, 25),
    "nap_ms": (1, 200, 10),
    "fill_ms": (1, 1000, 25),
    "floor_pct": (0, 50, 5),
    "floor_window_ms": (1000, 300000, 30000),
    "random_pct": (1, 100, 30),
}
"""The least, the most, and what is usual."""
NAMES = (MASTER, *PARTS, *KNOBS)
DEBUGFS = "/sys/kernel/debug/wrais"
STAT = f"{DEBUGFS}/stat"

NONE, RT, BE, IDLE = range(4)
"""I/O classes."""
LEVELS = range(8)
USUAL_LEVEL = 4
_PROCESS = 1

NAME = "wrais-api"
GROUP = f"{cgroup.ROOT}/{NAME}"
CHILD = f"{GROUP}/child"
SWITCH = "io.wrais"
_SUBTREE = "cgroup.subtree_control"


def path(name: str) -> str:
    """The file of a switch or number."""
    return "/proc/sys/kernel/wrais" if name == MASTER else f"{DEBUGFS}/{name}"


def get(name: str) -> int:
    """A switch or number.  Raises OSError."""
    return calls.number(path(name))


def put(name: str, value: int) -> int:
    """The same: an errno, or 0."""
    return write(path(name), str(value))


def write(file: str, text: str) -> int:
    """An errno, or 0."""
    return calls.fails(calls.write, file, text)


def on(name: str) -> bool:
    """The kernel has that switch, and it is on."""
    return os.path.exists(path(name)) and bool(get(name))


def switch_all(on: bool) -> None:
    """Switch on every part that there is, and then all of them on or off.  Raises OSError."""
    calls.write(path(MASTER), "0")
    for name in PARTS:
        if os.path.exists(path(name)):
            calls.write(path(name), "1")
    calls.write(path(MASTER), str(int(on)))


@contextmanager
def kept() -> Iterator[None]:
    """All switches and numbers are put back."""
    before = {name: get(name) for name in NAMES if os.path.exists(path(name))}
    try:
        yield
    finally:
        for name, value in before.items():
            put(name, value)


def require() -> None:
    """Exits unless this kernel has privileged I/O and the caller is root."""
    if not os.path.exists(path(MASTER)):
        stop(UNSUPPORTED, "this kernel has no privileged I/O (CONFIG_BFQ_WRAIS)")
    if os.geteuid():
        stop(FAILED, "be root: tests drop privileges, and make and remove disks")


def parse(text: str) -> dict[str, int]:
    """The counters in the text of STAT.  Raises ValueError unless it is as documented."""
    version, *lines = text.split("\n")
    if version != "version 1" or lines[-1:] != [""]:
        raise ValueError(f"not 'version 1' and whole lines: {text!r}")
    pairs = [line.partition(" ") for line in lines[:-1]]
    for name, _, value in pairs:
        if not (name and value.isdigit()):
            raise ValueError(f"not a name and a value: {name!r} {value!r}")
    return {name: int(value) for name, _, value in pairs}


def counters() -> dict[str, int]:
    """The kernel's counters by name."""
    return parse(calls.read(STAT))


def take_class(io_class: int, level: int = 0, task: int = 0) -> int:
    """ioprio_set(2) of a task, or the caller: an errno, or 0."""
    return calls.fails(calls.call, "ioprio_set", _PROCESS, task, io_class << 13 | level)


def class_of(task: int = 0) -> tuple[int, int]:
    """ioprio_get(2) of a task, or the caller: class and level.  Raises OSError."""
    value = calls.call("ioprio_get", _PROCESS, task)
    return value >> 13 & 7, value & 7


def switch(group: str, text: str) -> int:
    """Write to the attribute of a cgroup: an errno, or 0."""
    return write(f"{group}/{SWITCH}", text)


@contextmanager
def groups() -> Iterator[bool]:
    """Make GROUP and CHILD, for a while; false if there is no I/O controller."""
    with cgroup.controlled("io") as there:
        if not there:
            yield False
            return
        with cgroup.made(NAME):
            write(f"{GROUP}/{_SUBTREE}", "+io")
            with cgroup.made(f"{NAME}/child"):
                yield os.path.exists(f"{CHILD}/{SWITCH}")


@contextmanager
def scheduler(disk: str, name: str) -> Iterator[bool]:
    """Let a disk have an I/O scheduler, for a while; false if it cannot."""
    file = f"/sys/block/{disk}/queue/scheduler"
    before = calls.read(file) if os.path.exists(file) else ""
    try:
        yield bool(before) and not write(file, name)
    finally:
        # the one in brackets
        write(file, before.partition("[")[2].partition("]")[0])

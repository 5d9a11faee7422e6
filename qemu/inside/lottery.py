# SPDX-License-Identifier: GPL-2.0
"""/proc/sched_lottery and its sysctls, and a lottery task for a test to work on."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from inside import calls, sched
from inside.ktap import Case
from inside.task import Task, spin, wait_until

PROC = "/proc/sched_lottery"
SYSCTLS = "/proc/sys/kernel/sched_lottery_"
POOLS = ("list", "rbtree", "sums")
_WEIGHTS = """
88761 71755 56483 46273 36291 29154 23254 18705 14949 11916 9548 7620 6100 4904 3906 3121 2501 1991
1586 1277 1024 820 655 526 423 335 272 215 172 137 110 87 70 56 45 36 29 23 18 15
"""
WEIGHTS = dict(enumerate(map(int, _WEIGHTS.split()), -20))
"""The tickets of a task that was given none: the kernel's weight of its nice value."""
_OPS = [f"{op}_{what}" for op in ("enqueue", "dequeue", "draw") for what in ("count", "ns")]
_HEAD = re.compile(r"version 1\ntick_ns ([1-9]\d*)\nstats ([01])\n")
_PLAIN = r"cpu (\d+) pool (\S+) tasks (\d+) tickets (\d+) lotteries (\d+)"
_MORE = "".join(rf" {op} (\d+)" for op in _OPS)
_CPU = re.compile(_PLAIN + r"\n"), re.compile(_PLAIN + _MORE + r"\n")


class Cpu(NamedTuple):
    """A line; ops is empty without statistics."""

    pool: str
    tasks: int
    tickets: int
    lotteries: int
    ops: dict[str, int]


class State(NamedTuple):
    """The whole file."""

    tick_ns: int
    stats: bool
    cpus: dict[int, Cpu]


@functools.lru_cache(maxsize=8)
def parse(text: str) -> State:
    """Raises ValueError unless it is exactly in the documented form."""
    head = _HEAD.match(text)
    lines = text[head.end() :].splitlines(keepends=True) if head else []
    if not head or not lines:
        raise ValueError(f"{PROC}: not in its form: {text!r}")
    cpus = {}
    for line in lines:
        found = _CPU[int(head[2])].fullmatch(line)
        if not found:
            raise ValueError(f"{PROC}: not in its form: {line!r}")
        tasks, tickets, lotteries, *ops = map(int, found.groups()[2:])
        counts = dict(zip(_OPS, ops, strict=False))
        cpus[int(found[1])] = Cpu(found[2], tasks, tickets, lotteries, counts)
    return State(int(head[1]), head[2] == "1", cpus)


def state() -> State:
    """As it is now."""
    return parse(calls.read(PROC))


def tickets() -> int:
    """Of all tasks that are in a pool now; one that moves meanwhile can be in it twice or not."""
    return sum(cpu.tickets for cpu in state().cpus.values())


def in_ticks(quantum_ns: int) -> int:
    """In whole ticks, as a quantum is used."""
    tick_ns = state().tick_ns
    return max(1, -(-quantum_ns // tick_ns)) * tick_ns


def await_tickets(wanted: int) -> bool:
    """Of a task that stops or ends its parent hears a moment before it has left its pool."""
    return wait_until(lambda: tickets() == wanted)


def expect_tickets(case: Case, others: int, wanted: int) -> None:
    """The pools come to hold so many beside those of others."""
    good = await_tickets(others + wanted)
    case.expect(good, f"{tickets() - others} tickets in the pools, wanted {wanted}")


def switch(name: str, on: bool) -> None:
    """Switch a sysctl."""
    calls.write(SYSCTLS + name, f"{on:d}\n")


@contextmanager
def statistics(*switches: bool) -> Iterator[None]:
    """Switched like that, and at the end as they were."""
    before = state().stats
    try:
        for on in switches:
            switch("stats", on)
            if state().stats != on:
                raise ValueError(f"they cannot be switched to {on}")
        yield
    finally:
        switch("stats", before)


class Subject(Task):
    """A hog that sleeps at first, in the class if it is given tickets, or 0 for derived ones."""

    def __init__(self, owned: int | None = None, quantum_ns: int = 0, awake: bool = False) -> None:
        super().__init__(spin)
        self._others: int | None = None
        if owned is not None:
            sched.join(self.pid, owned, quantum_ns)
        if awake:
            self.release()

    def release(self) -> None:
        """Its tickets count from now on."""
        self._others = tickets()
        super().release()

    def __exit__(self, *_: object) -> None:
        super().__exit__()
        if self._others is not None:
            await_tickets(self._others)

    def expect_in_pool(self, case: Case, wanted: int) -> None:
        """Its part of the pools' tickets."""
        expect_tickets(case, self._others or 0, wanted)


def expect_attr(case: Case, pid: int, wanted: sched.Attr) -> None:
    """That is what all calls tell of it."""
    found = sched.get_attr(pid)
    names = ["size", "policy", "nice", "priority", "tickets", "pad"]
    if wanted.policy == sched.LOTTERY:
        names += ["runtime", "deadline", "period"]
    for name in names:
        case.equal(getattr(found, name), getattr(wanted, name), name)
    case.equal(os.sched_getscheduler(pid), wanted.policy, "sched_getscheduler")
    case.equal(os.sched_getparam(pid).sched_priority, wanted.priority, "sched_getparam")

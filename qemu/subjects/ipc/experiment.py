# SPDX-License-Identifier: GPL-2.0
"""What the IPC experiment runs: every mechanism, on the host and in the guest, under policies."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from lab.guest.boot import Boot, Program
from lab.guest.machine import Machine

METRICS = ("latency_ns", "latency_cycles", "reference_measured")
SPINNING = ("spin", "spin-affinity", "spin-shm", "flag")
WAITING = (
    *("semaphore", "zmq-inproc", "zmq-ipc", "zmq-tcp"),
    *("futex", "pipe", "eventfd", "unix", "mq", "zmq-perf"),
)
TCP_CONTAINERS = ("zmq-tcp-containers",)
SHM_CONTAINERS = ("shm-containers",)
CONTAINERS = (*TCP_CONTAINERS, *SHM_CONTAINERS)
MECHANISMS = (*SPINNING, *WAITING, *CONTAINERS)
HOST_POLICIES = ("other", "rr:90", "fifo")
TICKETS = 9000
HOG_TICKETS = 1000
POLICIES = {
    **{policy: policy for policy in HOST_POLICIES},
    "lottery": f"lottery:{TICKETS}",
}
SHIFT = 3
"""8 ns an instruction: the cost is the wait behind a hog, and the host works an eighth of it."""


@dataclass(frozen=True)
class Cell:
    """One run of ipclat."""

    mechanisms: tuple[str, ...]
    where: str
    load: str
    policy: str
    messages: int
    repeats: int
    seconds: int
    hogs: int

    def argv(self) -> tuple[str, ...]:
        """The command."""
        warmup = str(max(10, self.messages // 5))
        amount = ("-k", str(self.messages), "-n", str(self.repeats), "-w", warmup)
        words = ["ipclat", "-m", ",".join(self.mechanisms), *amount]
        words += ["--seconds", str(self.seconds), "--policy", POLICIES[self.policy]]
        if self.where == "host":
            words += ["--available"]
        if self.load == "hogs":
            words += ["--hogs", str(self.hogs)]
            if self.policy == "lottery":
                words += ["--hog-tickets", str(HOG_TICKETS)]
        return (*words, "--json", "--buckets")


def program_of(cell: Cell) -> Program:
    """The program of a cell; its time is what the slowest mechanisms are allowed."""
    name = f"{cell.mechanisms[0]}-{cell.policy}-{cell.load}"
    busy_s = float(cell.seconds * cell.repeats * len(cell.mechanisms))
    return Program(name, cell.argv(), 30 + round(10 * busy_s), busy_s=busy_s, what=cell)


def guest_of(name: str, cells: Iterable[Cell], cpus: int = 1, root: bool = False) -> Boot:
    """A guest in virtual time for cells."""
    machine = Machine(cpus=cpus, accel="icount", root=root, icount_shift=SHIFT)
    return Boot(name, machine, tuple(map(program_of, cells)), defer=True)


@dataclass(frozen=True)
class Scope:
    """How much is measured: messages and repeats, and which policies.

    Many short repeats: mechanisms take turns, so that each gets its part of what
    disturbs the host.
    """

    messages: int
    repeats: int
    container_repeats: int
    guest_messages: int
    host_policies: tuple[str, ...]
    guest_policies: tuple[str, ...]
    loads: tuple[str, ...] = ("none", "hogs")
    mechanisms: tuple[str, ...] = MECHANISMS

    def of(self, kind: tuple[str, ...]) -> tuple[str, ...]:
        """Those of a kind that are measured."""
        return tuple(name for name in kind if name in self.mechanisms)


FULL = Scope(
    messages=500,
    repeats=60,
    container_repeats=5,
    guest_messages=500,
    host_policies=HOST_POLICIES,
    guest_policies=tuple(POLICIES),
)
QUICK = Scope(
    messages=500,
    repeats=15,
    container_repeats=2,
    guest_messages=100,
    host_policies=("other", "fifo"),
    guest_policies=("other", "fifo", "lottery"),
)
DEMO = Scope(
    messages=500,
    repeats=10,
    container_repeats=0,
    guest_messages=100,
    host_policies=("other",),
    guest_policies=("other", "lottery"),
    loads=("none",),
    mechanisms=("spin", "flag", "semaphore", "zmq-ipc", "zmq-perf", "pipe"),
)
HOG_SECONDS = 1


def _host(scope: Scope, load: str, policy: str) -> Iterator[Cell]:
    """A hog for each CPU that we may use; under them a repeat is short."""
    cpus = len(os.sched_getaffinity(0))
    repeats = scope.repeats if load == "none" else max(1, scope.repeats // 5)
    kinds = {(*SPINNING, *WAITING): repeats, CONTAINERS: scope.container_repeats}
    for kind, count in kinds.items():
        if count:
            mechanisms = scope.of(kind)
            yield Cell(mechanisms, "host", load, policy, scope.messages, count, HOG_SECONDS, cpus)


def _guest(scope: Scope, load: str, kind: tuple[str, ...], cpus: int) -> Iterator[Cell]:
    mechanisms = scope.of(kind)
    for policy in scope.guest_policies:
        yield Cell(mechanisms, "guest", load, policy, scope.guest_messages, 1, HOG_SECONDS, cpus)


def boots(scope: Scope, only: str | None = None) -> list[Boot]:
    """The host first.

    Mechanisms that wait are measured on one CPU, where virtual time is exact; those
    that spin need two, which take turns in slices when both are busy.
    """
    del only  # both metrics come of the same runs
    host = [
        cell
        for load in scope.loads
        for policy in scope.host_policies
        for cell in _host(scope, load, policy)
    ]
    result = [Boot("ipc-host", programs=tuple(map(program_of, host)), host=True)]
    for load in scope.loads:
        result.append(guest_of(f"ipc-waiting-{load}", _guest(scope, load, WAITING, 1)))
        result.append(guest_of(f"ipc-spinning-{load}", _guest(scope, load, SPINNING, 2), cpus=2))
        if scope.container_repeats:
            for cpus, kind in ((1, TCP_CONTAINERS), (2, SHM_CONTAINERS)):
                name = f"ipc-containers-{cpus}-{load}"
                result.append(guest_of(name, _guest(scope, load, kind, cpus), cpus, root=True))
    return result

# SPDX-License-Identifier: GPL-2.0
"""What the UDP experiment runs: on the host with its peers, and in the guest under policies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lab.guest.boot import Boot, Program
from lab.guest.machine import Machine
from subjects.udp import iperf

SIZE = 1472
"""Payload of a packet, the reference's 11,776 bits; the same for each sender."""
RATES = (3, 6, 12, 32, 64, 128, 256, 512, 1024)
ALONE = "quantum-0"
"""udprate with packets that leave one by one."""
OURS = ("udprate", ALONE)
METRICS = {
    "rate_error_pct": "percent",
    "received_error_pct": "percent",
    "rate_sd_mbps": "Mbit/s",
    "gap_us": "us",
    "cpu_pct": "percent",
    "max_mbps": "Mbit/s",
}
"""Metrics and their units."""
QUANTILES = ("p1", "p50", "p99", "p999")
HOGS = 4
HOG_TICKETS = 100
LOTTERY = f"lottery:{9 * HOGS * HOG_TICKETS}"
"""Nine tenths of all tickets."""
POLICIES = {"other": "other", "fifo": "fifo", "lottery": LOTTERY}
GUEST_MBPS = 100
MOST_MBPS = 100_000
"""More than a process can do: what it does is its greatest rate."""


@dataclass(frozen=True)
class Cell:
    """One run: a sender, a rate and a place; `repeat` counts equal ones from 1."""

    variant: str
    rate_mbps: int
    workers: int
    where: str
    load: str
    policy: str
    seconds: int
    repeat: int
    most: bool = False

    @property
    def name(self) -> str:
        """Unique in an experiment."""
        what = "most" if self.most else f"{self.rate_mbps}"
        return (
            f"{self.variant}-{what}-w{self.workers}-{self.where}-{self.load}-"
            f"{self.policy}-{self.repeat}"
        )

    def argv(self) -> tuple[str, ...]:
        """The command; a rate that cannot be held is still measured."""
        if self.variant == iperf.NAME:
            return iperf.argv(self.rate_mbps, self.seconds, SIZE, self.policy)
        amount = ("-r", str(self.rate_mbps), "-t", str(self.seconds), "-w", str(self.workers))
        how = ("--naive",) if self.variant == "naive" else ("--best-effort",)
        words = ["udprate", *amount, "-s", str(SIZE), "--loop", *how, "--json"]
        words += ["--quantum", "0"] if self.variant == ALONE else []
        words += ["--policy", POLICIES[self.policy]]
        if self.load == "hogs":
            words += ["--hogs", str(HOGS)]
            if self.policy == "lottery":
                words += ["--hog-tickets", str(HOG_TICKETS)]
        return tuple(words)


def program_of(cell: Cell) -> Program:
    """The program of a cell; udprate starts its hogs itself."""
    theirs = cell.variant == iperf.NAME
    return Program(
        cell.name,
        cell.argv(),
        30 + 10 * cell.seconds,
        busy_s=cell.seconds,
        what=cell,
        repeat=cell.repeat,
        peer=iperf.NAME if theirs else "",
        hogs=HOGS if theirs and cell.load == "hogs" else 0,
    )


@dataclass(frozen=True)
class Scope:
    """How much is measured: seconds of a run, repeats, rates, numbers of processes."""

    seconds: int
    repeats: int
    rates: tuple[int, ...]
    workers: tuple[int, ...]
    spread: tuple[tuple[int, ...], tuple[int, ...]]
    guest_s: int
    policies: tuple[str, ...]


FULL = Scope(
    seconds=5,
    repeats=3,
    rates=RATES,
    workers=(1, 2, 3, 4, 6, 8, 12, 16),
    spread=((100, 200, 300, 400, 500, 600, 700), (1, 2, 3, 4, 5, 6)),
    guest_s=3,
    policies=("other", "fifo", "lottery"),
)
QUICK = Scope(
    seconds=2,
    repeats=1,
    rates=(3, 64, 512),
    workers=(1, 16),
    spread=((100,), (1, 4)),
    guest_s=1,
    policies=("other", "fifo", "lottery"),
)
DEMO = Scope(
    seconds=2,
    repeats=1,
    rates=(512,),
    workers=(),
    spread=((), ()),
    guest_s=1,
    policies=("fifo",),
)


def _beside_peers(scope: Scope) -> Iterator[Cell]:
    """Each rate with each sender in turn, repeatedly: what disturbs one disturbs all."""
    for repeat in range(1, scope.repeats + 1):
        for rate in scope.rates:
            for variant in (*OURS, iperf.NAME, "naive"):
                yield Cell(variant, rate, 1, "host", "none", "other", scope.seconds, repeat)


def _by_processes(scope: Scope) -> Iterator[Cell]:
    """The reference's tables by number of processes; one process at these rates is above."""
    rates, workers = scope.spread
    seen = {(rate, 1) for rate in scope.rates}
    for repeat in range(1, max(1, scope.repeats - 1) + 1):
        pairs = [(rate, count) for rate in rates for count in workers]
        if scope.workers:
            pairs.append((512, 16))
        for rate, count in pairs:
            if (rate, count) not in seen:
                seconds = max(2, scope.seconds - 2)
                yield Cell("udprate", rate, count, "host", "none", "other", seconds, repeat)


def _most(scope: Scope) -> Iterator[Cell]:
    for repeat in range(1, scope.repeats + 1):
        for count in scope.workers:
            yield Cell("udprate", MOST_MBPS, count, "host", "none", "other", 1, repeat, True)


def _under_load(scope: Scope) -> Iterator[Cell]:
    """The host under hogs, in turn with iperf3, with the policies that every kernel has."""
    policies = [policy for policy in scope.policies if policy != "lottery"]
    for repeat in range(1, scope.repeats + 1):
        for policy in policies:
            for variant in ("udprate", iperf.NAME):
                yield Cell(variant, GUEST_MBPS, 1, "host", "hogs", policy, scope.seconds, repeat)


def _guest(scope: Scope, load: str) -> Iterator[Cell]:
    for policy in scope.policies:
        yield Cell("udprate", GUEST_MBPS, 1, "guest", load, policy, scope.guest_s, 1)


def boots(scope: Scope, only: str | None = None) -> list[Boot]:
    """What runs where; `only` max_mbps, or anything else, leaves the other's runs out."""
    host = []
    if only in (None, "max_mbps"):
        host += list(_most(scope))
    if only != "max_mbps":
        host += [*_beside_peers(scope), *_by_processes(scope), *_under_load(scope)]
    result = []
    if host:
        result.append(Boot("udp-host", programs=tuple(map(program_of, host)), host=True))
    if only != "max_mbps":
        for load in ("none", "hogs"):
            programs = tuple(map(program_of, _guest(scope, load)))
            machine = Machine(accel="icount", root=False)
            result.append(Boot(f"udp-guest-{load}", machine, programs, defer=True))
    return result


PEERS = {iperf.NAME: iperf.run}
"""Programs of others that run on the host, by name."""

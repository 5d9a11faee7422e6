# SPDX-License-Identifier: GPL-2.0
"""What the lottery experiment runs in the guest: boots and programs, full and quick.

Every random number comes from QEMU's seed, but for several CPUs, which are
measured in real time: there a boot is a sample.  Sizes, seeds and seconds are
chosen so that the whole fits into some minutes of a two-core machine.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from lab.arch import ARCH
from lab.guest.boot import Boot, Program
from lab.guest.machine import Machine

POOLS = ("list", "rbtree", "sums")
BOOTED = "sums"
"""The pool that boots by default."""
MEASURED = {
    "scale": ("enqueue_ns", "dequeue_ns", "draw_ns", "cycle_ns"),
    "share": ("share_error_sigma",),
    "ratio": ("ratio_10_1",),
    "yield": ("yield_ratio",),
    "draws": ("draw_error",),
    "pipe": ("pipe_roundtrip_ns",),
    "floor": ("fair_floor_pct", "fair_wait_ms"),
    "fair": ("order_correlation",),
    "smp": ("smp_share_error_pct",),
    "displaced": ("displaced_share_pct",),
    "hackbench": ("hackbench_ms", "hackbench_busy_pct"),
    "cyclictest": ("cyclictest_max_ns",),
    "montecarlo": ("montecarlo_error_ratio", "montecarlo_law_error_pct"),
    "viewers": ("viewers_ratio", "viewers_error_pct"),
    "transfers": ("transfer_ratio", "transfer_error_pct"),
    "currencies": ("currency_ratio",),
}
"""Kinds of programs, and the metrics that each measures."""
KINDS = {metric: kind for kind, metrics in MEASURED.items() for metric in metrics}
METRICS = tuple(KINDS)


@dataclass(frozen=True)
class Scope:
    """How much is measured: repetitions within a boot by size, seeds, guest seconds.

    `unit_us` is a unit of the case scale's work; 1000 is a tick, and thus a
    quantum.  0 seconds, rounds or tasks leave a measurement out.  `smp_s` is of
    lottery-smp, whose shares take four times as long.  `hackbench_runs` are of each
    policy, `latency_loops` are wakeups of cyclictest.
    """

    sizes: tuple[tuple[int, int], ...]
    unit_us: int
    scale_seeds: tuple[int, ...]
    ratios: tuple[str, ...]
    share_seeds: tuple[int, ...]
    share_s: int
    ratio_s: int
    pipe_rounds: int
    pipe_repeats: int
    floor_s: int
    fair_tasks: int
    smp_seeds: tuple[int, ...]
    smp_s: int
    hackbench_runs: int
    latency_loops: int
    montecarlo_s: int
    viewers_s: int
    transfer_s: int
    currency_s: int


_SCOPES: dict[str, tuple[Any, Any, Any]] = {
    "sizes": (
        ((2, 10), (20, 5), (100, 2), (300, 1), (1000, 1), (3000, 1)),
        ((2, 5), (20, 3), (100, 1), (300, 1)),
        ((2, 5), (20, 3), (100, 1), (300, 1)),
    ),
    "unit_us": (1000, 200, 200),
    "scale_seeds": ((1, 2, 3), (1,), (1,)),
    "ratios": (
        ("1:1", "2:1", "3:1", "5:1", "10:1", "20:1", "50:1", "100:1"),
        ("1:1", "10:1", "100:1"),
        ("10:1", "3:2:1"),
    ),
    "share_seeds": ((1, 2, 3), (1,), (1,)),
    "share_s": (10, 5, 10),
    "ratio_s": (60, 10, 0),
    "pipe_rounds": (1000, 500, 0),
    "pipe_repeats": (10, 5, 0),
    "floor_s": (20, 5, 10),
    "fair_tasks": (100, 50, 50),
    "smp_seeds": ((1, 2, 3), (1,), ()),
    "smp_s": (5, 1, 0),
    "hackbench_runs": (5, 2, 0),
    "latency_loops": (5000, 5000, 0),
    "montecarlo_s": (30, 30, 0),
    "viewers_s": (60, 60, 0),
    "transfer_s": (60, 60, 0),
    "currency_s": (60, 60, 0),
}
FULL, QUICK, DEMO = (
    Scope(**{name: values[scope] for name, values in _SCOPES.items()}) for scope in range(3)
)

FORK_S = 4e-4
"""Guest seconds to make a task, bring it to the start and bury it."""
FAIR_WORK_S = 0.02
"""Guest seconds that each task of the case fair works."""
SHARE_SHIFT = 3
"""The winner does not depend on how long an instruction is, so shares use 8 ns ones."""
DRAWS_RATIO = "5:4:3:2:1"
DRAWS = {"independent": (), "low-variance": ("--low-variance",)}
SMP_CPUS = 4
DISPLACED_S = 7
"""Guest seconds of all rounds of lottery-smp's displacement."""

LIBRARIES = (ARCH.loader, *map(ARCH.library, ("libc.so.6", "libpthread.so.0")))
HACKBENCH = ("usr/bin/hackbench", *LIBRARIES)
CYCLICTEST = (
    "usr/bin/cyclictest",
    *LIBRARIES,
    *map(ARCH.library, ("librt.so.1", "libnuma.so.1")),
)
"""What both take of the root image, which would not be virtual time."""
HACKBENCH_CPUS = (1, 4)
HACKBENCH_POLICIES = {"lottery": ("lottery", "--tickets", "100"), "other": ()}
"""What stands before it."""
HACKBENCH_GROUPS, HACKBENCH_LOOPS = 10, 100
"""400 tasks and 40,000 messages: a second and a third of work."""
HACKBENCH_S = 1.5
LATENCY_US = 1000
"""A tick: each wakeup is due at the moment of one."""
_LOTTERY_HOGS = ("lottery-bench", "hogs", "--hogs", "2", "--hog-tickets", "100")
LATENCY_BESIDE = {
    "idle": ("lottery-bench", "hogs", "--hogs", "0"),
    "other": ("lottery-bench", "hogs", "--hogs", "2"),
    "lottery": _LOTTERY_HOGS,
    "both": ("lottery-bench", "hogs", "--hogs", "1", *_LOTTERY_HOGS),
}
"""What runs while cyclictest does: nothing, fair hogs, lottery hogs, and these with a fair one."""
MONTECARLO_STAGGER_S = 5
VIEWERS = ("3:2:1", "3:1:2")
"""Tickets before and after the middle, as in the paper."""
CLIENTS = "8000:3000:1000"
"""Tickets of the clients of a server without any, as in the paper."""
SERVERS = {"lottery": ("--server-tickets", "1"), "other": ()}


def _program(
    what: str, name: str, argv: tuple[str, ...], busy_s: float, repeat: int = 1, **more: Any
) -> Program:
    """A measurement; what is made of its output is named by `what`."""
    timeout_s = 30 + round(10 * busy_s)
    return Program(name, argv, timeout_s, busy_s=busy_s, what=what, repeat=repeat, **more)


def _timed(
    what: str, name: str, seconds: int, case: tuple[str, ...], more: tuple[str, ...] = ()
) -> Iterator[Program]:
    """A case of lottery-bench that lasts so long; none if that is 0."""
    if seconds:
        argv = ("lottery-bench", *case, "--seconds", str(seconds), "--json", *more)
        yield _program(what, name, argv, seconds)


def scale_programs(scope: Scope) -> Iterator[Program]:
    """The sizes, each as often as the scope says."""
    for tasks, repeats in scope.sizes:
        argv = ("lottery-bench", "scale", str(tasks), "--unit-us", str(scope.unit_us), "--json")
        busy_s = tasks * (10.9 * scope.unit_us / 1e6 + FORK_S)
        for repeat in range(1, repeats + 1):
            yield _program("scale", f"scale-{tasks}-{repeat}", argv, busy_s, repeat)


def share_programs(scope: Scope) -> Iterator[Program]:
    """Every ratio once; then 10:1 over the long time, and draws of both kinds, 1000 a second."""
    for ratio in scope.ratios:
        yield from _timed("share", f"share-{ratio}", scope.share_s, ("share", ratio))
    if scope.ratio_s:
        yield from _timed("ratio", "ratio-10:1", scope.ratio_s, ("share", "10:1"))
        yielding = ("share", "1:1", "--case", "yield", "--quantum", "5000")
        yield from _timed("yield", "yield", scope.ratio_s, yielding)
        for name, options in DRAWS.items():
            case = ("share", DRAWS_RATIO)
            yield from _timed("draws", f"draws-{name}", scope.share_s, case, options)


def fair_programs(scope: Scope) -> Iterator[Program]:
    """The reference's experiment behind its figure 1."""
    if scope.fair_tasks:
        argv = ("lottery-bench", "fair", "--tasks", str(scope.fair_tasks), "--json")
        yield _program("fair", "fair", argv, scope.fair_tasks * FAIR_WORK_S)


def pipe_programs(scope: Scope) -> Iterator[Program]:
    """The same round trips in both policies."""
    if not scope.pipe_rounds:
        return
    busy_s = scope.pipe_rounds * scope.pipe_repeats * 2e-5
    for policy in ("lottery", "other"):
        amount = ("--rounds", str(scope.pipe_rounds), "--repeats", str(scope.pipe_repeats))
        argv = ("lottery-bench", "pipe", "--policy", policy, *amount, "--json")
        yield _program("pipe", f"pipe-{policy}", argv, busy_s)


def smp_programs(scope: Scope) -> Iterator[Program]:
    """Shares of several CPUs, and what a task gets that a real-time one displaces."""
    argv = ("lottery-smp", "--json", "--seconds", str(scope.smp_s))
    yield _program("smp", "smp-shares", (*argv, "shares"), 8 * scope.smp_s)
    yield _program("displaced", "smp-displaced", (*argv, "displacement"), DISPLACED_S)


def hackbench_programs(scope: Scope, cpus: int) -> Iterator[Program]:
    """Both policies, taking turns; of several CPUs, the time that they were idle."""
    amount = ("-g", str(HACKBENCH_GROUPS), "-l", str(HACKBENCH_LOOPS))
    for run in range(1, scope.hackbench_runs + 1):
        for policy, before in HACKBENCH_POLICIES.items():
            name = f"hackbench-{policy}-{run}"
            argv = (*before, "hackbench", *amount)
            program = _program("hackbench", name, argv, HACKBENCH_S, run, image=HACKBENCH)
            looks = [
                _program("hackbench", f"{name}-{when}", ("@cat", "/proc/uptime"), 0.0, run)
                for when in ("before", "after")
            ]
            yield from (looks[0], program, looks[1]) if cpus > 1 else (program,)


def latency_programs(scope: Scope) -> Iterator[Program]:
    """A real-time task that wakes up, under any load."""
    if not scope.latency_loops:
        return
    steps = ("--secaligned", "-i", str(LATENCY_US), "-l", str(scope.latency_loops))
    measure = ("cyclictest", "--quiet", "--nsecs", "--mlockall", "--priority=80", *steps)
    busy_s = scope.latency_loops * LATENCY_US / 1e6
    for name, beside in LATENCY_BESIDE.items():
        argv = (*beside, *measure)
        yield _program("cyclictest", f"cyclictest-{name}", argv, busy_s, image=CYCLICTEST)


def progress_programs(scope: Scope, seed: int) -> Iterator[Program]:
    """Figures 6 and 8 of the paper."""
    if scope.montecarlo_s:
        times = ("--seconds", str(scope.montecarlo_s), "--stagger", str(MONTECARLO_STAGGER_S))
        argv = ("lottery-bench", "montecarlo", *times, "--seed", str(seed), "--json")
        yield _program("montecarlo", "montecarlo", argv, scope.montecarlo_s)
    yield from _timed("viewers", "viewers", scope.viewers_s, ("viewers",), VIEWERS)


def transfer_programs(scope: Scope) -> Iterator[Program]:
    """Figure 7 of the paper."""
    for name, options in SERVERS.items():
        seconds = scope.transfer_s
        yield from _timed("transfers", f"transfers-{name}", seconds, ("server", CLIENTS), options)


def currency_programs(scope: Scope) -> Iterator[Program]:
    """Figure 9 of the paper, and the same without currencies."""
    if scope.currency_s:
        argv = ("lottery-bench", "insulate", "--seconds", str(scope.currency_s), "--json")
        for name, options in (("groups", ()), ("none", ("--no-currencies",))):
            busy_s = 2 * scope.currency_s
            yield _program("currencies", f"currencies-{name}", (*argv, *options), busy_s)


def _boot(
    name: str, seed: int, programs: Iterable[Program], pool: str = BOOTED, **more: Any
) -> Boot:
    """A guest with a pool, in virtual time; what it says stays in memory until the end."""
    machine = Machine(accel="icount", append=(f"lottery_pool={pool}",), root=False, seed=seed)
    machine = dataclasses.replace(machine, **more)
    return Boot(name, machine, tuple(programs), defer=True)


def all_boots(scope: Scope) -> Iterator[Boot]:
    """Costs per pool and seed (round trips with the default one only), shares, several CPUs.

    Round trips have a boot of their own: what has run before in a boot, and how many tasks
    it has had, moves them by one or two parts in a hundred.

    The time of hackbench is measured in virtual time on several CPUs as well: they take
    turns on one thread of the host, so that it is the work of all of them together, which
    repeats.  In real time it spreads by half on a busy host, and still runs on one thread.
    Neither shows whether CPUs are left idle, which is measured separately.
    """
    for seed in scope.scale_seeds:
        for pool in POOLS:
            yield _boot(f"cost-{pool}-{seed}", seed, scale_programs(scope), pool)
        yield _boot(f"pipe-{seed}", seed, pipe_programs(scope))
    for seed in scope.share_seeds:
        # A lottery hog against a SCHED_OTHER hog.
        floor = _timed("floor", "floor", scope.floor_s, ("floor",))
        shares = (*share_programs(scope), *floor, *fair_programs(scope))
        yield _boot(f"share-{seed}", seed, shares, icount_shift=SHARE_SHIFT)
        yield _boot(f"latency-{seed}", seed, latency_programs(scope))
        progress = progress_programs(scope, seed)
        yield _boot(f"progress-{seed}", seed, progress, icount_shift=SHARE_SHIFT)
        yield _boot(f"transfer-{seed}", seed, transfer_programs(scope), icount_shift=SHARE_SHIFT)
        yield _boot(f"currency-{seed}", seed, currency_programs(scope), icount_shift=SHARE_SHIFT)
    for cpus in HACKBENCH_CPUS:
        yield _boot(f"hackbench-{cpus}", 1, hackbench_programs(scope, cpus), cpus=cpus)
    for seed in scope.smp_seeds:
        # In real time: a virtual CPU must not wait long for the others.
        yield _boot(f"smp-{seed}", seed, smp_programs(scope), cpus=SMP_CPUS, accel="tcg")


def boots(scope: Scope, only: str | None = None) -> list[Boot]:
    """The boots of a scope, with `only` cut down to the programs that measure this metric."""
    wanted = set(KINDS.values()) if only is None else {KINDS[only]}
    result = []
    for boot in all_boots(scope):
        programs = tuple(program for program in boot.programs if program.what in wanted)
        if programs:
            result.append(dataclasses.replace(boot, programs=programs))
    return result

# SPDX-License-Identifier: GPL-2.0
"""The `demo` verb: a short look at each subject.

Some seconds of latencies and of paced sending on the host itself, deterministic
boots (both pools' costs, the shares, start-ups beside a busy disk without and with
the privilege, three ways to receive too many frames, the instruments under
policies), a table of what was expected and what was measured, and the figures.
Exit status 0 only if every line of the table holds.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.experiments.bench import add_jobs
from lab.experiments.boots import Boot, Finished, Runner, run_boots
from lab.experiments.experiment import Experiment
from lab.experiments.goals import find, format_table, value
from lab.experiments.goals import ratio as quotient_of
from lab.experiments.ipc import EXPERIMENT as IPC_EXPERIMENT
from lab.experiments.ipc import plan as ipc_plan
from lab.experiments.ipc.goals import NATIVE
from lab.experiments.livelock import EXPERIMENT as LIVELOCK_EXPERIMENT
from lab.experiments.livelock import plan as livelock_plan
from lab.experiments.livelock import variants as receivers
from lab.experiments.livelock.goals import OVER_NAPI_LEAST, point
from lab.experiments.lottery import EXPERIMENT, plan
from lab.experiments.lottery.figures import STAIRCASE
from lab.experiments.lottery.goals import FLOOR_PCT, SIGMA_BOUND
from lab.experiments.measured import Measured, RawTable
from lab.experiments.udp import EXPERIMENT as UDP_EXPERIMENT
from lab.experiments.udp import plan as udp_plan
from lab.experiments.udp.goals import ALONE, FIFO_ERROR_PCT
from lab.experiments.wrais import EXPERIMENT as WRAIS_EXPERIMENT
from lab.experiments.wrais import plan as wrais_plan
from lab.experiments.wrais.goals import LIGHT, START_MOST
from lab.experiments.wrais.variants import BFQ, WRAIS
from lab.paths import Paths
from lab.records import Param, Record, write_text

TREE_WINS_FROM = 100
FLOOD_PPS = 60000
CALM_PPS = 2000
MEDIAN_MOST = 1.1
"""Of the latency that the in-tree driver has when there is little to do."""
HOST_MOST = 2.0
HOST_ERROR_PCT = 1.0
POLICY_MOST = 1.25

Check = tuple[str, str, str, bool]
"""A line of the table: what, expected, measured, and whether it holds."""


def wins_text(table: RawTable | None, case: str) -> str:
    """The wins of a case in the form of its ratio, the smallest share being 1."""
    if table is None:
        return "-"
    rows = [dict(zip(table.header, row, strict=True)) for row in table.rows]
    wins = [float(row["wins"]) for row in rows if row["case"] == case]
    least = min(wins, default=0.0)
    return " : ".join(f"{count / least:.2f}" for count in wins) if least > 0 else "-"


def share_checks(measured: Measured) -> Iterator[Check]:
    """Every ratio within its binomial bound."""
    for ratio in plan.DEMO.ratios:
        what = f"CPU shares of {ratio} tickets, {plan.DEMO.share_s} s"
        expected = f"{ratio.replace(':', ' : ')}, error < {SIGMA_BOUND:g} sigma"
        found = find(measured.records, "share_error_sigma", ratio=ratio)
        if not found:
            yield (what, expected, "not measured", False)
            continue
        error = found[0].value
        shown = f"{wins_text(measured.raw.get('share'), ratio)}, error {error:.2f} sigma"
        yield (what, expected, shown, error < SIGMA_BOUND)


def order_check(records: Sequence[Record]) -> Check:
    """Tasks with more tickets finish earlier."""
    what = f"completion order of {plan.DEMO.fair_tasks} tasks by tickets"
    expected = f"rank correlation <= {STAIRCASE:g}"
    found = find(records, "order_correlation")
    if not found:
        return (what, expected, "not measured", False)
    return (what, expected, f"{found[0].value:.2f}", found[0].value <= STAIRCASE)


def cost_checks(records: Sequence[Record]) -> Iterator[Check]:
    """Enqueue + dequeue + draw by size; from 100 tasks on the tree must not be slower."""
    for tasks, _ in plan.DEMO.sizes:
        what = f"enqueue + dequeue + draw, {tasks} tasks"
        judged = tasks >= TREE_WINS_FROM
        expected = "rbtree <= list" if judged else "both measured"
        line = value(records, "cycle_ns", "list", tasks=tasks)
        tree = value(records, "cycle_ns", "rbtree", tasks=tasks)
        if line is None or tree is None:
            yield (what, expected, "not measured", False)
            continue
        good = tree <= line or not judged
        yield (what, expected, f"list {line:.0f} ns, rbtree {tree:.0f} ns", good)


def floor_check(records: Sequence[Record]) -> Check:
    """SCHED_OTHER is not starved by a lottery hog."""
    low, high = FLOOR_PCT
    what, expected = "SCHED_OTHER's share under a lottery hog", f"{low:g} to {high:g} %"
    found = find(records, "fair_floor_pct")
    if not found:
        return (what, expected, "not measured", False)
    return (what, expected, f"{found[0].value:.2f} %", low <= found[0].value <= high)


def lottery_checks(measured: Measured) -> list[Check]:
    """The lottery's part of the table."""
    records = measured.records
    return [
        *share_checks(measured),
        order_check(records),
        *cost_checks(records),
        floor_check(records),
    ]


def start_checks(measured: Measured) -> list[Check]:
    """An application that starts beside readers and writers, as stock and privileged."""
    lines = []
    for background in LIGHT:
        what = f"start of an application beside {background}"
        expected = f"privileged <= {START_MOST:g} x idle"
        key: dict[str, Param] = {"background": background, "probe": "lprobe"}
        stock = value(measured.records, "startup_s", BFQ.name, **key)
        ours = value(measured.records, "startup_s", WRAIS.name, **key)
        over = value(measured.records, "startup_over_idle", WRAIS.name, **key)
        if stock is None or ours is None or over is None:
            lines.append((what, expected, "not measured", False))
            continue
        times = (("idle", ours / over), ("stock", stock), ("privileged", ours))
        shown = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in times)
        shown += f" ({over:.2f} x)"
        lines.append((what, expected, shown, over <= START_MOST))
    return lines


def receive_checks(measured: Measured) -> list[Check]:
    """Too many frames, and few."""
    stock, ours = receivers.E1000.name, receivers.HYBRID.name
    return [
        _flood(measured.records, stock, ours),
        _calm(measured.records, stock, ours),
    ]


def _flood(records: Sequence[Record], stock: str, ours: str) -> Check:
    """Goodput in an overload, where the in-tree driver livelocks."""
    what = f"packets an application gets of {FLOOD_PPS:,} a second"
    expected = f"hybrid >= {OVER_NAPI_LEAST:g} x e1000"
    names = (stock, receivers.THREADED.name, ours)
    found = [value(records, "goodput_pps", name, **point(1, FLOOD_PPS)) for name in names]
    theirs, threaded, hybrid = found
    if theirs is None or threaded is None or hybrid is None:
        return (what, expected, "not measured", False)
    shown = f"e1000 {theirs:,.0f}, threaded NAPI {threaded:,.0f}, hybrid {hybrid:,.0f}"
    return (what, expected, shown, hybrid >= OVER_NAPI_LEAST * max(theirs, 1.0))


def _calm(records: Sequence[Record], stock: str, ours: str) -> Check:
    """The median latency at a low rate."""
    what = f"median latency at {CALM_PPS:,} packets a second"
    expected = f"hybrid <= {MEDIAN_MOST:g} x e1000"
    key: dict[str, Param] = {**point(1, CALM_PPS), "quantile": "p50"}
    theirs = value(records, "latency_us", stock, **key)
    hybrid = value(records, "latency_us", ours, **key)
    if theirs is None or hybrid is None:
        return (what, expected, "not measured", False)
    shown = f"e1000 {theirs:.0f} us, hybrid {hybrid:.0f} us"
    return (what, expected, shown, hybrid <= MEDIAN_MOST * theirs)


def latency_checks(measured: Measured) -> list[Check]:
    """Latencies on this host against baselines of the same run, and under two policies.

    A host with other things to do says little: the bounds are wider than the bench's.
    """
    lines = []
    pairs = (("spin", "flag", "bare flags"), ("zmq-ipc", "zmq-perf", "libzmq's own loop"))
    for name, baseline, words in pairs:
        one, two = (value(measured.records, "latency_ns", n, **NATIVE) for n in (name, baseline))
        quotient = quotient_of(one, two)
        what, expected = f"latency of {name}, median", f"<= {HOST_MOST:g} x {words}"
        if quotient is None:
            lines.append((what, expected, "not measured", False))
            continue
        shown = f"{one:,.0f} ns, {quotient:.2f} x"
        lines.append((what, expected, shown, quotient <= HOST_MOST))
    what, expected = "semaphore in the guest, lottery / other", f"<= {POLICY_MOST:g} x"
    where: dict[str, Param] = {**NATIVE, "where": "guest"}
    medians = [
        value(measured.records, "latency_ns", "semaphore", **{**where, "policy": policy})
        for policy in ("lottery", "other")
    ]
    quotient = quotient_of(*medians)
    if quotient is None:
        return [*lines, (what, expected, "not measured", False)]
    return [*lines, (what, expected, f"{quotient:.2f} x", quotient <= POLICY_MOST)]


def sending_checks(measured: Measured) -> list[Check]:
    """Paced sending on this host beside iperf3, and in the guest beside hogs."""
    lines = []
    for rate in udp_plan.DEMO.rates:
        key: dict[str, Param] = {**ALONE, "rate_mbps": rate}
        errors = [
            value(measured.records, "rate_error_pct", name, **key)
            for name in ("udprate", "iperf3", "naive")
        ]
        what, expected = f"{rate} Mbit/s for {udp_plan.DEMO.seconds} s", "udprate: error <= 1 %"
        if errors[0] is None or None in errors:
            lines.append((what, expected, "not measured", False))
            continue
        ours, theirs, naive = (f"{error:.3f} %" for error in errors)
        shown = f"udprate {ours}, iperf3 {theirs}, naive {naive}"
        lines.append((what, expected, shown, abs(errors[0]) <= HOST_ERROR_PCT))
    what = f"{udp_plan.GUEST_MBPS} Mbit/s in the guest beside {udp_plan.HOGS} hogs, SCHED_FIFO"
    expected = f"error <= {FIFO_ERROR_PCT:g} %"
    found = find(measured.records, "rate_error_pct", "udprate", where="guest", load="hogs")
    if not found:
        return [*lines, (what, expected, "not measured", False)]
    error = found[0].value
    return [*lines, (what, expected, f"{error:.4f} %", abs(error) <= FIFO_ERROR_PCT)]


def table(lines: Sequence[Check]) -> str:
    """The table as text."""
    rows = [
        (what, expected, shown, "ok" if good else "FAIL") for what, expected, shown, good in lines
    ]
    return format_table(("what", "expected", "measured", ""), rows)


@dataclass(frozen=True)
class Part:
    """What the demo shows of an experiment."""

    experiment: Experiment
    boots: tuple[Boot, ...]
    checks: Callable[[Measured], list[Check]]

    @property
    def stem(self) -> str:
        """Name of its files; those of the bench are left alone."""
        return f"{self.experiment.name}-demo"

    def lines(self, results: Path, finished: Sequence[Finished]) -> list[Check]:
        """Its lines of the table; writes what they say is so."""
        measured = self.experiment.evaluate(finished)
        for name, text in sorted(measured.files(self.stem).items()):
            write_text(results / name, text)
        return self.checks(measured)


def parts() -> tuple[Part, ...]:
    """The demo's parts, in the order of the table."""
    return (
        Part(EXPERIMENT, tuple(plan.boots(plan.DEMO)), lottery_checks),
        Part(WRAIS_EXPERIMENT, tuple(wrais_plan.boots(wrais_plan.DEMO)), start_checks),
        Part(LIVELOCK_EXPERIMENT, tuple(livelock_plan.boots(livelock_plan.DEMO)), receive_checks),
        Part(IPC_EXPERIMENT, tuple(ipc_plan.boots(ipc_plan.DEMO)), latency_checks),
        Part(UDP_EXPERIMENT, tuple(udp_plan.boots(udp_plan.DEMO)), sending_checks),
    )


def main(paths: Paths, runner: Runner, workers: int) -> int:
    """Boot, check, draw.  Returns 0 if every check holds, else 1."""
    shown = parts()
    finished = run_boots([boot for part in shown for boot in part.boots], runner, workers, "demo")
    lines: list[Check] = []
    for part in shown:
        mine = [done for done in finished if done.boot in part.boots]
        lines += part.lines(paths.results, mine)
    print(table(lines))
    for part in shown:
        for path in part.experiment.draw(paths.results, paths.plots, part.stem):
            print(path)
    failed = sum(1 for line in lines if not line[3])
    print(f"demo: {len(lines) - failed} of {len(lines)} checks hold")
    return 1 if failed else 0


def register(subparsers: Any) -> None:
    """Add the `demo` verb."""
    text = "boot, hold lotteries, start applications, receive a flood, print a table, draw"
    parser = subparsers.add_parser("demo", help=text, description=text)
    add_jobs(parser)
    parser.set_defaults(func=_main)


def _main(args: argparse.Namespace) -> int:
    from lab.experiments.runners import runner

    paths = Paths.from_env()
    return main(paths, runner(paths, "demo"), args.jobs)

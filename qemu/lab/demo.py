# SPDX-License-Identifier: GPL-2.0
"""The `demo` verb: a short look at the lottery class at work on real tasks.

Three deterministic boots (both pools' costs, and the shares), a table of what
was expected and what was measured, and the figures.  Exit status 0 only if
every line of the table holds.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import Any

from lab.experiments.bench import add_jobs
from lab.experiments.boots import Runner, run_boots
from lab.experiments.goals import find, format_table, value
from lab.experiments.lottery import EXPERIMENT, plan
from lab.experiments.lottery.figures import STAIRCASE
from lab.experiments.lottery.goals import FLOOR_PCT, SIGMA_BOUND
from lab.experiments.lottery.metrics import evaluate
from lab.experiments.measured import Measured, RawTable
from lab.paths import Paths
from lab.records import Record, write_text

STEM = "lottery-demo"
TREE_WINS_FROM = 100

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


def checks(measured: Measured) -> list[Check]:
    """The whole table."""
    records = measured.records
    return [
        *share_checks(measured),
        order_check(records),
        *cost_checks(records),
        floor_check(records),
    ]


def table(lines: Sequence[Check]) -> str:
    """The table as text."""
    rows = [
        (what, expected, shown, "ok" if good else "FAIL") for what, expected, shown, good in lines
    ]
    return format_table(("what", "expected", "measured", ""), rows)


def main(paths: Paths, runner: Runner, workers: int) -> int:
    """Boot, check, draw.  Returns 0 if every check holds, else 1."""
    finished = run_boots(plan.boots(plan.DEMO), runner, workers, "demo")
    measured = evaluate(finished)
    for name, text in sorted(measured.files(STEM).items()):
        write_text(paths.results / name, text)
    lines = checks(measured)
    print(table(lines))
    for path in EXPERIMENT.draw(paths.results, paths.plots, STEM):
        print(path)
    failed = sum(1 for line in lines if not line[3])
    print(f"demo: {len(lines) - failed} of {len(lines)} checks hold")
    return 1 if failed else 0


def register(subparsers: Any) -> None:
    """Add the `demo` verb."""
    text = "boot, run the lottery validators on real tasks, print a table, draw the figures"
    parser = subparsers.add_parser("demo", help=text, description=text)
    add_jobs(parser)
    parser.set_defaults(func=_main)


def _main(args: argparse.Namespace) -> int:
    from lab.experiments.guest import guest_runner

    paths = Paths.from_env()
    return main(paths, guest_runner(paths, "demo"), args.jobs)

# SPDX-License-Identifier: GPL-2.0
"""The `demo` verb: each experiment in its smallest scope, judged by its own goals.

Some seconds of latencies and of paced sending on the host itself, then guests in
virtual time; a table of goals and what was measured, and the figures.
"""

from __future__ import annotations

import argparse
from typing import Any

from lab.bench import Bench, add_jobs, run_all, write
from lab.experiment import DEMO, measuring, require
from lab.paths import Paths
from lab.report.goals import NOT_MEASURED, Verdict, goals_text, missed
from lab.schedule import Runner
from lab.subjects.registry import EXPERIMENTS, PEERS


def parts() -> list[Bench]:
    """The experiments, in the order of the table."""
    return [Bench(experiment, DEMO) for experiment in EXPERIMENTS.values()]


def main(paths: Paths, runner: Runner, workers: int) -> int:
    """Boot, judge, draw.  Returns 0 if no goal was missed, else 1."""
    shown = parts()
    boots = [boot for part in shown for boot in part.boots()]
    results = {result.boot: result for result in run_all(boots, runner, workers, "demo")}
    verdicts: list[Verdict] = []
    for part in shown:
        measured = part.experiment.evaluate([results[boot] for boot in part.boots()])
        judged = part.experiment.judge(measured.records, part.whole)
        write(paths, part, measured.files(part.stem), judged)
        verdicts += [verdict for verdict in judged if verdict.measured != NOT_MEASURED]
        for path in part.experiment.draw(paths.results, paths.plots, part.stem):
            print(path)
    print(goals_text(verdicts), end="")
    return 1 if missed(verdicts) else 0


def register(subparsers: Any) -> None:
    """Add the `demo` verb."""
    text = "each experiment in its smallest scope: a table of goals, and the figures"
    parser = subparsers.add_parser("demo", help=text, description=text)
    add_jobs(parser)
    parser.set_defaults(func=_main)


def _main(args: argparse.Namespace) -> int:
    paths = Paths.from_env()
    require(paths, {boot.machine.kernel for part in parts() for boot in part.boots()})
    return main(paths, measuring(paths, "demo", PEERS), args.jobs)

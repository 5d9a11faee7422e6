# SPDX-License-Identifier: GPL-2.0
"""The `bench` verb: run an experiment, write its records, judge its goals, draw its figures."""

from __future__ import annotations

import argparse
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab import LabError
from lab.experiments.boots import Boot, Runner, run_boots
from lab.experiments.experiment import Experiment
from lab.experiments.goals import Goal
from lab.experiments.measured import (
    Measured,
    differing,
    first_difference,
    goals_text,
    repeat_goal,
)
from lab.experiments.registry import check_metric, lookup, names
from lab.paths import Paths
from lab.records import write_text

MAX_REPEAT = 10


@dataclass(frozen=True)
class Bench:
    """One call of the verb; `repeat` runs (1..10) of the whole are compared byte for byte."""

    experiment: Experiment
    quick: bool = False
    only: str | None = None
    repeat: int = 1
    workers: int = 1

    @property
    def stem(self) -> str:
        """Name of the result files; a partial run never overwrites a full one."""
        partial = self.quick or self.only is not None
        return f"{self.experiment.name}-quick" if partial else self.experiment.name

    def boots(self) -> list[Boot]:
        """What is booted, once a run."""
        return self.experiment.boots(self.quick, self.only)


def measure(bench: Bench, runner: Runner) -> tuple[Measured, list[dict[str, str]]]:
    """Run the experiment as often as asked for; the first run's numbers and all runs' files."""
    boots = bench.boots()
    first: Measured | None = None
    runs: list[dict[str, str]] = []
    for number in range(1, bench.repeat + 1):
        label = f"bench {bench.experiment.name}"
        if bench.repeat > 1:
            label += f" run {number} of {bench.repeat}"
        finished = run_boots(boots, runner, bench.workers, label)
        measured = bench.experiment.evaluate(finished)
        first = first or measured
        runs.append(measured.files(bench.stem))
    if first is None:
        raise LabError(f"repeat {bench.repeat}: must be 1 to {MAX_REPEAT}")
    return first, runs


def write(results: Path, bench: Bench, files: dict[str, str], goals: list[Goal]) -> None:
    """Write a run's files; raw tables that this run did not measure do not stay behind."""
    for name in bench.experiment.raw:
        if f"{bench.stem}-{name}.csv" not in files:
            (results / f"{bench.stem}-{name}.csv").unlink(missing_ok=True)
    for file, text in sorted(files.items()):
        write_text(results / file, text)
    write_text(results / f"{bench.stem}.txt", goals_text(goals))


def run(bench: Bench, paths: Paths, runner: Runner) -> int:
    """Measure, write, judge and draw.  Returns 1 if repeated runs differ, else 0."""
    started = time.monotonic()
    measured, runs = measure(bench, runner)
    goals = [*bench.experiment.goals(measured.records), repeat_goal(runs)]
    write(paths.results, bench, runs[0], goals)
    print(goals_text(goals), end="")
    for path in bench.experiment.draw(paths.results, paths.plots, bench.stem):
        print(path)
    print(f"{paths.results / bench.stem}.json, measured in {time.monotonic() - started:.0f} s")
    for name in differing(runs):
        for number, other in enumerate(runs[1:], 2):
            if other.get(name) != runs[0].get(name):
                print(f"run {number} differs: {first_difference(name, runs[0], other)}")
    return 1 if differing(runs) else 0


def make_bench(exp: str, quick: bool, only: str | None, repeat: int, workers: int) -> Bench:
    """A checked Bench.  Raises LabError (exit code 2) for an unknown name or a bad number."""
    experiment = lookup(exp)
    check_metric(experiment, only)
    if not 1 <= repeat <= MAX_REPEAT:
        raise LabError(f"repeat {repeat}: must be 1 to {MAX_REPEAT}")
    most = 4 * (os.cpu_count() or 1)
    if not 1 <= workers <= most:
        raise LabError(f"jobs {workers}: must be 1 to {most}")
    return Bench(experiment, quick, only, repeat, workers)


def whole(name: str, text: str) -> int:
    """A whole number given on the command line.  Raises LabError naming it otherwise."""
    try:
        return int(text)
    except ValueError:
        raise LabError(f"{name} '{text}': must be a whole number") from None


def add_jobs(parser: argparse.ArgumentParser) -> None:
    """The --jobs option: guests at a time."""
    parser.add_argument(
        "--jobs",
        metavar="N",
        type=lambda text: whole("jobs", text),
        default=os.cpu_count() or 1,
        help="guests running beside each other (default: one a host CPU); changes no figure",
    )


def _main(args: argparse.Namespace) -> int:
    from lab.experiments.runners import runner

    bench = make_bench(args.exp, args.quick, args.only, args.repeat, args.jobs)
    paths = Paths.from_env()
    kernels = {boot.kernel for boot in bench.boots()}
    return run(bench, paths, runner(paths, f"bench-{bench.stem}", kernels))


def register(subparsers: Any) -> None:
    """Add the `bench` verb."""
    text = "run an experiment: records, goals and figures under $(O)/results and $(O)/plots"
    parser = subparsers.add_parser("bench", help=text, description=text)
    parser.add_argument("--exp", metavar="NAME", default="lottery", help=", ".join(names()))
    parser.add_argument("--quick", action="store_true", help="fewer sizes, seeds and seconds")
    parser.add_argument("--only", metavar="METRIC", help="measure this metric alone")
    parser.add_argument(
        "--repeat",
        metavar="N",
        type=lambda text: whole("repeat", text),
        default=1,
        help=f"run all of it N times (1..{MAX_REPEAT}) and compare the files byte for byte",
    )
    add_jobs(parser)
    parser.set_defaults(func=_main)

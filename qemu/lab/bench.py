# SPDX-License-Identifier: GPL-2.0
"""A bench: run an experiment, write its records, judge its goals, draw its figures."""

import argparse
import os
import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

from lab import LabError
from lab.experiment import FULL, QUICK, Experiment
from lab.guest.boot import Boot
from lab.guest.machine import Files, Machine
from lab.guest.result import BootResult
from lab.host.progress import Progress
from lab.paths import Paths
from lab.registry import check_metric, lookup
from lab.report.goals import Verdict, goals_json, goals_text, missed
from lab.report.measured import Measured, differing, first_difference, repeat_goal
from lab.report.provenance import Provenance, collect
from lab.report.records import write_text
from lab.report.results import stem
from lab.schedule import Runner, Schedule

MAX_REPEAT = 10
# Host seconds of a guest in virtual time: to boot, and for a second that it is busy.
BOOT_S = 8.0
GUEST_FACTOR = 0.15


@dataclass(frozen=True)
class Bench:
    """One call of the verb; `repeat` runs (1..10) of the whole are compared byte for byte."""

    experiment: Experiment
    scope: str = FULL
    only: str | None = None
    repeat: int = 1
    workers: int = 1

    @property
    def whole(self) -> bool:
        """Everything is measured that the experiment can."""
        return self.scope == FULL and self.only is None

    @property
    def stem(self) -> str:
        """Name of the result files; a partial run never overwrites a full one."""
        part = QUICK if self.scope == FULL else self.scope
        return stem(self.experiment.name, FULL if self.whole else part)

    def boots(self) -> list[Boot]:
        """What is booted, once a run."""
        return self.experiment.boots(self.scope, self.only)


def measure(bench: Bench, runner: Runner) -> tuple[Measured, list[dict[str, str]]]:
    """Run the experiment as often as asked for; the first run's numbers and all runs' files."""
    found: list[tuple[Measured, dict[str, str]]] = []
    for number in range(1, bench.repeat + 1):
        label = f"bench {bench.experiment.name}"
        if bench.repeat > 1:
            label += f" run {number} of {bench.repeat}"
        measured = bench.experiment.evaluate(run_all(bench.boots(), runner, bench.workers, label))
        found.append((measured, measured.files(bench.stem)))
    return found[0][0], [files for _, files in found]


@dataclass
class Forecast:
    """How long the rest of some boots takes on so many lanes.

    `known` are host seconds by the boots' names, from an earlier run; for others their
    length says it.  What has ended says how fast this machine is, at either of both.
    """

    boots: Sequence[Boot]
    lanes: int
    known: Mapping[str, float] = field(default_factory=dict)
    clock: Callable[[], float] = time.monotonic
    begun: dict[str, float] = field(default_factory=dict)
    took: dict[str, float] = field(default_factory=dict)

    def begin(self, boot: Boot) -> None:
        """A boot has begun."""
        self.begun[boot.name] = self.clock()

    def end(self, boot: Boot) -> None:
        """It has ended."""
        self.took[boot.name] = self.clock() - self.begun[boot.name]

    def expected(self, boot: Boot) -> float:
        """Host seconds of a boot on a machine as it was."""
        of_guest = BOOT_S + GUEST_FACTOR * boot.length
        return self.known.get(boot.name, boot.length if boot.host else of_guest)

    def seconds(self) -> float:
        """Host seconds that are left; what runs on the host itself runs alone."""
        alone, beside = (self._all_left(host) for host in (True, False))
        return sum(alone) + max([sum(beside) / self.lanes, *beside])

    def _all_left(self, host: bool) -> list[float]:
        # Other threads go on adding to it.
        took = dict(self.took)
        boots = [boot for boot in self.boots if boot.host == host]
        ended = [boot for boot in boots if boot.name in took]
        before = sum(map(self.expected, ended))
        pace = sum(took[boot.name] for boot in ended) / before if before else 1.0
        return [self._left(boot, pace) for boot in boots]

    def _left(self, boot: Boot, pace: float) -> float:
        if boot.name in self.took:
            return 0.0
        begun = self.begun.get(boot.name)
        ran = 0.0 if begun is None else self.clock() - begun
        return max(0.0, pace * self.expected(boot) - ran)


def run_all(
    boots: list[Boot],
    runner: Runner,
    workers: int,
    label: str,
    known: Mapping[str, float] = MappingProxyType({}),
) -> list[BootResult]:
    """The results of all boots, with progress; the first error is raised at once.

    known are the host seconds that boots took before, by their names.
    """
    forecast = Forecast(boots, workers, known)
    progress = Progress(label, len(boots), "boots", left=forecast.seconds)

    def run_one(boot: Boot) -> BootResult:
        progress.label = f"{label}, {'on this machine' if boot.host else 'in guests'}"
        forecast.begin(boot)
        result = runner(boot)
        forecast.end(boot)
        return result

    with closing(progress), progress.ticking():
        return Schedule(boots, run_one, workers).all(progress.update)


def made_by(paths: Paths, bench: Bench) -> Provenance:
    """What the figures depend on."""
    guests = [boot.machine for boot in bench.boots() if not boot.host]
    models = " ".join(sorted({guest.model for guest in guests}))
    found = collect(paths, {guest.kernel for guest in guests}, Machine.qemu, models)
    # Of the first guest, with names that are the same on every machine.
    here = Paths(Path("."), Path("build"))
    lines = [guest.argv(here, Files.under(here.logs)) for guest in guests[:1]]
    return replace(found, command=shlex.join(lines[0]) if lines else "")


def write(paths: Paths, bench: Bench, files: dict[str, str], verdicts: list[Verdict]) -> None:
    """Write a run's files; raw tables that this run did not measure do not stay behind."""
    results = paths.results
    for name in bench.experiment.raw:
        if f"{bench.stem}-{name}.csv" not in files:
            (results / f"{bench.stem}-{name}.csv").unlink(missing_ok=True)
    for file, text in sorted(files.items()):
        write_text(results / file, text)
    write_text(results / f"{bench.stem}.txt", goals_text(verdicts))
    write_text(results / f"{bench.stem}-goals.json", goals_json(verdicts))
    write_text(results / f"{bench.stem}-provenance.json", made_by(paths, bench).json())


def settle(
    paths: Paths, bench: Bench, results: Sequence[BootResult]
) -> tuple[Measured, list[Verdict], list[Path]]:
    """Judge, write and draw what came of its boots."""
    measured = bench.experiment.evaluate(results)
    verdicts = bench.experiment.judge(measured.records, bench.whole)
    write(paths, bench, measured.files(bench.stem), verdicts)
    drawn = bench.experiment.draw(paths.results, paths.plots, bench.stem)
    return measured, verdicts, drawn


def run(bench: Bench, paths: Paths, runner: Runner) -> int:
    """Measure, write, draw and judge.  Returns 1 if a goal was missed, else 0.

    That repeated runs are equal is a goal, too.
    """
    started = time.monotonic()
    measured, runs = measure(bench, runner)
    verdicts = [*bench.experiment.judge(measured.records, bench.whole), repeat_goal(runs)]
    write(paths, bench, runs[0], verdicts)
    for path in bench.experiment.draw(paths.results, paths.plots, bench.stem):
        print(path)
    print(f"{paths.results / bench.stem}.json, measured in {time.monotonic() - started:.0f} s")
    for name in differing(runs):
        for number, other in enumerate(runs[1:], 2):
            if other.get(name) != runs[0].get(name):
                print(f"run {number} differs: {first_difference(name, runs[0], other)}")
    print(goals_text(verdicts), end="")
    return 1 if missed(verdicts) else 0


def make_bench(exp: str, scope: str, only: str | None, repeat: int, workers: int) -> Bench:
    """A checked Bench.  Raises LabError (exit code 2) for an unknown name or a bad number."""
    experiment = lookup(exp)
    check_metric(experiment, only)
    if not 1 <= repeat <= MAX_REPEAT:
        raise LabError(f"repeat {repeat}: must be 1 to {MAX_REPEAT}")
    return Bench(experiment, scope, only, repeat, workers)


def whole(name: str, text: str) -> int:
    """A whole number given on the command line.  Raises LabError naming it otherwise."""
    try:
        return int(text)
    except ValueError:
        raise LabError(f"{name} '{text}': must be a whole number") from None


def _jobs(text: str) -> int:
    """Guests at a time.  Raises LabError for a number that is no sensible one."""
    jobs, most = whole("jobs", text), 4 * (os.cpu_count() or 1)
    if not 1 <= jobs <= most:
        raise LabError(f"jobs {jobs}: must be 1 to {most}")
    return jobs


def add_jobs(parser: argparse.ArgumentParser) -> None:
    """The --jobs option: guests at a time."""
    parser.add_argument(
        "--jobs",
        metavar="N",
        type=_jobs,
        default=os.cpu_count() or 1,
        help="guests that run at a time (default: one a host CPU); changes no figure",
    )

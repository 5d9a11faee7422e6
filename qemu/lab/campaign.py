# SPDX-License-Identifier: GPL-2.0
"""All experiments in one call: what is done is kept, and a time budget ends it.

Experiments run one after the other, the shortest first. What is timed by the host's clock,
on the host itself or in a guest in real time, runs alone; then guests in virtual time run
beside each other, up to the CPUs.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from lab import LabError
from lab.bench import Bench, made_by, write
from lab.experiment import measuring, require
from lab.guest.boot import Boot
from lab.guest.result import BootResult
from lab.host.progress import Progress
from lab.kept import Kept, conditions
from lab.paths import Paths
from lab.report.goals import Verdict, goals_text, missed
from lab.schedule import OutOfTime, Runner, Schedule
from lab.subjects.registry import EXPERIMENTS, PEERS

_BUDGET = re.compile(r"([1-9][0-9]*)([smh])")
UNITS = {"s": 1, "m": 60, "h": 3600}

Clock = Callable[[], float]
KeptOf = Callable[[Bench], Kept]


def seconds(text: str) -> float:
    """A budget such as 30m.  Raises LabError that names it otherwise."""
    match = _BUDGET.fullmatch(text)
    if not match:
        raise LabError(f"BUDGET '{text}': must be a whole number of s, m or h, as in 30m")
    return float(int(match[1]) * UNITS[match[2]])


def benches(scope: str, workers: int) -> list[Bench]:
    """All experiments, the shortest first."""
    found = [Bench(experiment, scope, workers=workers) for experiment in EXPERIMENTS.values()]
    return sorted(found, key=lambda bench: sum(boot.length for boot in bench.boots()))


@dataclass
class Estimate:
    """How long the rest takes, by the host seconds that boots took for their length."""

    boots: Sequence[Boot]
    workers: int
    left: dict[str, float] = field(init=False)
    took: float = 0.0
    done: float = 0.0

    def __post_init__(self) -> None:
        self.left = {boot.name: boot.length for boot in self.boots}

    def add(self, result: BootResult) -> None:
        """A boot has ended."""
        self.done += self.left.pop(result.boot.name, 0.0)
        self.took += result.seconds

    def seconds(self) -> float | None:
        """None before the first boot has ended."""
        if not self.done:
            return None
        return sum(self.left.values()) * self.took / self.done / self.workers


@dataclass
class Campaign:
    """The benches to run, and until when; clock and deadline are in seconds."""

    paths: Paths
    benches: Sequence[Bench]
    kept_of: KeptOf
    deadline: float | None = None
    clock: Clock = time.monotonic
    verdicts: list[Verdict] = field(default_factory=list)
    unfinished: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

    def run(self) -> int:
        """Run all of them.  Returns 1 if a goal was missed or anything is left, else 0."""
        for bench in self.benches:
            try:
                self._one(bench)
            except LabError as error:
                self.failed.append(f"{bench.stem}: {error}")
        print(goals_text(self.verdicts), end="")
        for line in self.failed:
            print(f"failed: {line}")
        for line in self.unfinished:
            print(f"not finished: {line}; make bench goes on with it")
        return 1 if missed(self.verdicts) or self.unfinished or self.failed else 0

    def _one(self, bench: Bench) -> None:
        kept, boots = self.kept_of(bench), bench.boots()
        results = self._results(bench, kept, boots)
        if results is None:
            left = len(kept.missing(boots))
            self.unfinished.append(f"{bench.stem}: {len(boots) - left} of {len(boots)} boots done")
            return
        measured = bench.experiment.evaluate(results)
        judged = bench.experiment.judge(measured.records, bench.whole)
        write(self.paths, bench, measured.files(bench.stem), judged)
        bench.experiment.draw(self.paths.results, self.paths.plots, bench.stem)
        self.verdicts += judged

    def _results(self, bench: Bench, kept: Kept, boots: list[Boot]) -> list[BootResult] | None:
        """Of all boots; None if the time is up before they have ended."""
        todo = kept.missing(boots)
        alone = [boot for boot in todo if boot.host or boot.machine.real_time]
        beside = [boot for boot in todo if boot not in alone]
        workers = min(bench.workers, max(1, len(beside)))
        estimate = Estimate(todo, workers)
        errors: list[LabError] = []
        progress = Progress(f"bench {bench.stem}", len(boots), "boots", left=estimate.seconds)

        def run(boot: Boot) -> BootResult:
            if self.deadline is not None and self.clock() >= self.deadline:
                raise OutOfTime
            try:
                result = kept(boot)
            except LabError as error:
                # The others still run, and are kept: nothing of it runs beside the next bench.
                errors.append(error)
                estimate.left.pop(boot.name, None)
                return BootResult(boot, [], self.paths.logs)
            estimate.add(result)
            return result

        try:
            for some, lanes in ((alone, 1), (beside, workers)):
                Schedule(some, run, lanes).all(
                    lambda _: progress.update(len(boots) - len(estimate.left)), self.left_s
                )
        except OutOfTime:
            return None
        finally:
            progress.close()
        for error in errors:
            raise error
        return [kept(boot) for boot in boots]

    def left_s(self) -> float | None:
        """Seconds until the deadline; None without one."""
        return None if self.deadline is None else max(0.0, self.deadline - self.clock())


def keeping(paths: Paths, runner_of: Callable[[Bench], Runner]) -> KeptOf:
    """Where results of a bench's boots are kept: $(O)/bench/STEM."""

    def of(bench: Bench) -> Kept:
        told = conditions(paths, made_by(paths, bench))
        return Kept(runner_of(bench), paths.out / "bench" / bench.stem, told)

    return of


def main(paths: Paths, scope: str, budget: str | None, workers: int) -> int:
    """Run all experiments in a scope."""
    deadline = None if budget is None else time.monotonic() + seconds(budget)
    todo = benches(scope, workers)
    require(paths, {boot.machine.kernel for b in todo for boot in b.boots() if not boot.host})
    kept_of = keeping(paths, lambda bench: measuring(paths, f"bench-{bench.stem}", PEERS))
    return Campaign(paths, todo, kept_of, deadline).run()

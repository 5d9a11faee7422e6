# SPDX-License-Identifier: GPL-2.0
"""The `bench` verb: one experiment, or all: what is done is kept, and a time budget ends it.

All experiments run one after the other, the shortest first. What is timed by the host's clock,
on the host itself or in a guest in real time, runs alone; then guests in virtual time run
beside each other, up to the CPUs.
"""

import argparse
import hashlib
import os
import pickle
import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from lab import LabError
from lab.bench import MAX_REPEAT, Bench, Forecast, add_jobs, made_by, make_bench, run, settle, whole
from lab.experiment import FULL, QUICK, measuring, require
from lab.guest.boot import Boot
from lab.guest.result import BootResult
from lab.host.progress import Progress
from lab.paths import Paths
from lab.registry import EXPERIMENTS, PEERS, names
from lab.report.goals import Verdict, goals_text, missed
from lab.report.provenance import Provenance
from lab.schedule import OutOfTime, Runner, Schedule

_BUDGET = re.compile(r"([1-9][0-9]*)([smh])")
UNITS = {"s": 1, "m": 60, "h": 3600}

Clock = Callable[[], float]


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


def programs(paths: Paths) -> str:
    """Changes with every byte of the programs that guests without a root image get."""
    digest = hashlib.sha256()
    found = [path for top in (paths.bin, paths.libexec) for path in top.rglob("*")]
    for path in sorted((*found, paths.init)):
        if path.is_file():
            digest.update(f"{path.name}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def conditions(paths: Paths, made_by: Provenance) -> str:
    """What a measurement depends on other than its boot: not on how it is evaluated."""
    return repr(replace(made_by, commit="", dirty=False, python="")) + programs(paths)


@dataclass(frozen=True)
class Kept:
    """A runner that runs only what is not in its directory, under the same conditions."""

    runner: Runner
    directory: Path
    conditions: str

    def _file(self, boot: Boot) -> Path:
        key = hashlib.sha256((repr(boot) + self.conditions).encode()).hexdigest()
        return self.directory / f"{boot.name}-{key[:16]}.pickle"

    def read(self, boot: Boot) -> BootResult | None:
        """The result that is there.  A file that cannot be read is as none."""
        try:
            found = pickle.loads(self._file(boot).read_bytes())
        except (OSError, EOFError, AttributeError, ImportError, pickle.UnpicklingError):
            return None
        return replace(found, boot=boot) if isinstance(found, BootResult) else None

    def missing(self, boots: Iterable[Boot]) -> list[Boot]:
        return [boot for boot in boots if self.read(boot) is None]

    def __call__(self, boot: Boot) -> BootResult:
        """The result that is there, or a new one, which then is."""
        found = self.read(boot)
        if found is None:
            found = self.runner(boot)
            self.directory.mkdir(parents=True, exist_ok=True)
            file = self._file(boot)
            part = file.with_suffix(".part")
            part.write_bytes(pickle.dumps(found))
            os.replace(part, file)
        return found


KeptOf = Callable[[Bench], Kept]


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
        self.verdicts += settle(self.paths, bench, results)[1]

    def _results(self, bench: Bench, kept: Kept, boots: list[Boot]) -> list[BootResult] | None:
        """Of all boots; None if the time is up before they have ended."""
        todo = kept.missing(boots)
        alone = [boot for boot in todo if boot.host or boot.machine.real_time]
        beside = [boot for boot in todo if boot not in alone]
        workers = min(bench.workers, max(1, len(beside)))
        forecast = Forecast(todo, workers)
        errors: list[LabError] = []
        progress = Progress(f"bench {bench.stem}", len(boots), "boots", left=forecast.seconds)

        def run(boot: Boot) -> BootResult:
            if self.deadline is not None and self.clock() >= self.deadline:
                raise OutOfTime
            forecast.begin(boot)
            try:
                return kept(boot)
            except LabError as error:
                # The others still run, and are kept: nothing of it runs during the next bench.
                errors.append(error)
                return BootResult(boot, [], self.paths.logs)
            finally:
                forecast.end(boot)

        try:
            for some, lanes in ((alone, 1), (beside, workers)):
                Schedule(some, run, lanes).all(
                    lambda _: progress.update(len(boots) - len(todo) + len(forecast.took)),
                    self.left_s,
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


def verb(args: argparse.Namespace) -> int:
    scope = QUICK if args.quick else FULL
    paths = Paths.from_env()
    if args.exp is None:
        for name, given in (("--only", args.only is not None), ("--repeat", args.repeat != 1)):
            if given:
                raise LabError(f"{name}: must come with one experiment, --exp {'|'.join(names())}")
        return main(paths, scope, args.budget, args.jobs)
    if args.budget is not None:
        raise LabError("--budget: must come without --exp: it is for all experiments")
    bench = make_bench(args.exp, scope, args.only, args.repeat, args.jobs)
    require(paths, {boot.machine.kernel for boot in bench.boots() if not boot.host})
    return run(bench, paths, measuring(paths, f"bench-{bench.stem}", PEERS))


def register(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "run an experiment: records, goals and figures under $(O)/results and $(O)/plots"
    )
    parser.add_argument(
        "--exp",
        metavar="NAME",
        help=f"one of {', '.join(names())}; default: all, and what is done is not done again",
    )
    parser.add_argument(
        "--budget", metavar="TIME", help="of all: begin nothing after 90s, 30m, 2h, and end then"
    )
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

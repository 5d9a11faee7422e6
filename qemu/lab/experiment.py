# SPDX-License-Identifier: GPL-2.0
"""What an experiment is to the verbs that run, judge and draw it."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from lab import LabError
from lab.guest.boot import Boot
from lab.guest.ktap import Status
from lab.guest.machine import Machine
from lab.guest.protocol import STATUS_FAILED
from lab.guest.result import BootResult
from lab.guest.vm import run_boot
from lab.native import Peer, run_here
from lab.paths import Paths
from lab.report.goals import Goal, Verdict
from lab.report.measured import Measured
from lab.report.records import Record
from lab.schedule import Runner

S = TypeVar("S")

FULL, QUICK, DEMO = SCOPES = ("full", "quick", "demo")
"""How much is measured."""

Chooser = Callable[[str, str | None], list[Boot]]
"""What to run: in which scope, and for one metric or, None, for all."""


def by_scope(boots: Callable[[S, str | None], list[Boot]], full: S, quick: S, demo: S) -> Chooser:
    """The chooser of an experiment that has its own idea of a scope."""
    scopes = {FULL: full, QUICK: quick, DEMO: demo}
    return lambda scope, only: boots(scopes[scope], only)


@dataclass(frozen=True)
class Experiment:
    """Names, and the four things an experiment can do.

    `boots(scope, only)` is what to run, `only` a metric or None for all;
    `evaluate` turns the results into records, `judge(records, whole)` holds them
    against its goals, whole if all that there is was measured, and
    `draw(results, plots, stem)` draws figures and returns the files.
    """

    name: str
    metrics: tuple[str, ...]
    raw: tuple[str, ...]
    boots: Chooser
    evaluate: Callable[[Sequence[BootResult]], Measured]
    judge: Callable[[Sequence[Record], bool], list[Verdict]]
    draw: Callable[[Path, Path, str], list[Path]]


@dataclass(frozen=True)
class Shown:
    """How the demo's screen tells of an experiment.

    `told` says in plain words what was shown, with its figures, or None where they are not
    there; `picture` ends the name of the plot that shows it.  Variants that are `peers` are
    what a user could take instead.
    """

    told: Callable[[Measured], str | None] = lambda _: None
    picture: str = ""
    goals: Sequence[Goal] = ()
    peers: Sequence[str] = ()


def fault(result: BootResult) -> str | None:
    """Why a run is no measurement, or None: all that measures printed, and nothing complained."""
    measures = {program.name for program in result.boot.programs if program.what is not None}
    for text in (*result.errors, *map(str, result.splats)):
        return text
    for program in result.programs:
        # A tool whose own check failed has measured: that is judged by the goals.
        measured = program.status is Status.OK or program.code == STATUS_FAILED
        if not measured or (program.name in measures and not program.output):
            return f"{program.name}: {program.status}: {program.reason or 'no output'}"
    return None


def require(paths: Paths, kernels: Collection[str]) -> None:
    """Raises LabError if one of the kernels, or the tools, are not built."""
    for kernel in sorted(kernels):
        Machine(kernel=kernel, root=False).require(paths)


def measuring(paths: Paths, label: str, peers: Mapping[str, Peer]) -> Runner:
    """A runner whose logs are kept under $(O)/logs/LABEL, one directory a boot.

    It raises LabError (exit code 1) for a boot that is no measurement. peers
    run programs on the host that are not ours, by their names.
    """

    def run(boot: Boot) -> BootResult:
        log_dir = paths.logs / label / boot.name
        if boot.host:
            return run_here(paths, boot, peers, log_dir)
        result = run_boot(paths, boot, log_dir)
        text = fault(result)
        if text:
            raise LabError(f"{boot.name}: {text}; see {result.console}", exit_code=1)
        return result

    return run

# SPDX-License-Identifier: GPL-2.0
"""The subjects that there are: their experiments and their suites."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from lab import checked, one_of, plan
from lab.experiment import Experiment, Shown, by_scope
from lab.guest.boot import Boot, Program
from lab.native import Peer
from lab.paths import CHECKED, MATRIX
from lab.report.goals import judge_all
from lab.suite import for_debug, machine_for, of_gate, patient, shortened
from lab.trace.traced import Picture
from lab.tree.kconfig import maximum_cpus

NAMES = plan.subjects()
"""All subjects, in the order of their place."""


def _parts(module: str, what: str) -> dict[str, Any]:
    """What that module of a subject has under a name, by subject, of those that have it."""
    there = [name for name in NAMES if find_spec(f"subjects.{name}.{module}")]
    modules = {name: import_module(f"subjects.{name}.{module}") for name in there}
    return {name: getattr(one, what) for name, one in modules.items() if hasattr(one, what)}


def _experiment(name: str) -> Experiment:
    """From the modules of its folder, which have the same names in each."""
    runs, metrics, goals, figures = (
        import_module(f"subjects.{name}.{part}")
        for part in ("experiment", "metrics", "goals", "figures")
    )
    return Experiment(
        name=name,
        metrics=tuple(runs.METRICS),
        raw=metrics.RAW,
        boots=by_scope(runs.boots, runs.FULL, runs.QUICK, runs.DEMO),
        evaluate=metrics.evaluate,
        judge=lambda records, whole: judge_all(goals.GOALS, records, whole),
        draw=figures.draw,
    )


EXPERIMENTS = {
    name: _experiment(name) for name in NAMES if find_spec(f"subjects.{name}.experiment")
}
"""In the order of the demo's table."""

SHOWN: dict[str, Shown] = _parts("shown", "SHOWN")
"""How the demo tells of them."""

PICTURES: dict[str, Picture] = _parts("trace", "PICTURE")
"""What is recorded of an experiment, to draw who waits for whom, by its name."""

PEERS: dict[str, Peer] = {
    peer: run for found in _parts("experiment", "PEERS").values() for peer, run in found.items()
}
"""Programs of others that experiments run on the host, by name."""

_MATRIX = tomllib.loads((plan.HERE / "matrix.toml").read_text(encoding="utf-8"))
MATRIX_SUITES = tuple(_MATRIX.pop("all"))
"""What is tested with each kernel of the matrix."""

OTHER_MATRIX_SUITES = {kernel: tuple(suites) for kernel, suites in _MATRIX.items()}
"""And with those that are there for something else."""


def _lacking(kernel: str, boot: Boot, program: Program) -> str:
    """Why the kernel cannot run a program of the boot; empty if it can."""
    there, wanted = maximum_cpus(kernel), max(boot.machine.cpus, program.cpus)
    return f"needs {wanted} CPUs, kernel-{kernel} has {there}" if wanted > there else ""


@cache
def _planned(kernel: str = "guest") -> tuple[Boot, ...]:
    """What is planned for a kernel: the normal one, which others follow, or that of the torture."""
    own = _parts("suite", "boots")
    found = (boot for name in NAMES for boot in (own[name]() if name in own else plan.boots(name)))
    return tuple(boot for boot in found if boot.machine.kernel == kernel)


def _of_matrix(kernel: str) -> tuple[Boot, ...]:
    """As the normal kernel has it."""
    wanted = OTHER_MATRIX_SUITES.get(kernel, MATRIX_SUITES)
    return tuple(boot for boot in _planned() if boot.name in wanted)


def _with(kernel: str, boot: Boot) -> Boot:
    """The boot with a kernel of the matrix, and with what that can run."""
    programs = tuple(p for p in boot.programs if not _lacking(kernel, boot, p))
    boot = replace(boot, programs=programs)
    if kernel not in CHECKED:
        return replace(boot, machine=machine_for(kernel, boot.machine))
    boot = patient(boot, kernel)
    return replace(boot, machine=replace(boot.machine, parallel=True))


def left_out(kernel: str) -> tuple[tuple[Boot, Program, str], ...]:
    """What the matrix tests and this kernel of it cannot run, and why."""
    if kernel not in MATRIX:
        return ()
    pairs = ((boot, program) for boot in _of_matrix(kernel) for program in boot.programs)
    return tuple((b, p, why) for b, p in pairs if (why := _lacking(kernel, b, p)))


def _suites_of_matrix(kernel: str) -> tuple[Boot, ...]:
    able = (boot for boot in _of_matrix(kernel) if boot.machine.cpus <= maximum_cpus(kernel))
    return tuple(_with(kernel, boot) for boot in able)


def suites(kernel: str = "guest", short: bool = False, tier: str = "long") -> tuple[Boot, ...]:
    """The suites of a tier for a kernel; short ones use the shorter form of their programs.

    The gate has no program that is judged in real time.
    """
    if kernel == "torture":
        return _planned(kernel)
    found = _suites_of_matrix(kernel) if kernel in MATRIX else _planned()
    if short:
        found = tuple(map(shortened, found))
    if kernel == "debug":
        found = tuple(boot for boot in found if any(p.debug for p in boot.programs))
    if kernel == "debug" and tier == "gate":
        return checked.boots(found)
    found = tuple(plan.budgeted(boot, kernel) for boot in found)
    if kernel == "guest" and tier == "gate":
        found = tuple(boot for boot in map(of_gate, found) if boot.programs)
    return for_debug(found) if kernel == "debug" else found


def names() -> list[str]:
    """Names of all experiments, sorted."""
    return sorted(EXPERIMENTS)


def lookup(name: str) -> Experiment:
    """The experiment of a name.  Raises LabError (exit code 2) with the allowed names."""
    one_of("EXP", name, names())
    return EXPERIMENTS[name]


def check_metric(experiment: Experiment, metric: str | None) -> None:
    """Raises LabError (exit code 2) for a metric that the experiment does not measure."""
    if metric is not None:
        one_of("metric", metric, experiment.metrics)

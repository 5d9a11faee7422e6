# SPDX-License-Identifier: GPL-2.0
"""The subjects that there are: their experiments and their suites."""

from __future__ import annotations

from lab import LabError
from lab.experiment import Experiment
from lab.guest.boot import Boot
from lab.subjects import ipc, livelock, lottery, udp, wrais
from lab.subjects.base import suite as base_suite
from lab.subjects.budgets import budgeted
from lab.subjects.ipc import suite as ipc_suite
from lab.subjects.livelock import suite as livelock_suite
from lab.subjects.lottery import suite as lottery_suite
from lab.subjects.udp import iperf
from lab.subjects.udp import suite as udp_suite
from lab.subjects.wrais import suite as wrais_suite
from lab.suite import for_debug, shortened

EXPERIMENTS: dict[str, Experiment] = {
    found.name: found
    for found in (
        *(lottery.EXPERIMENT, wrais.EXPERIMENT, livelock.EXPERIMENT),
        *(ipc.EXPERIMENT, udp.EXPERIMENT),
    )
}
"""In the order of the demo's table."""

SUITES = (base_suite, lottery_suite, wrais_suite, ipc_suite, udp_suite, livelock_suite)

PEERS = {iperf.NAME: iperf.run}
"""Programs of others that experiments run on the host, by name."""


def suites(kernel: str = "guest", short: bool = False) -> tuple[Boot, ...]:
    """All suites for a kernel; short ones use the shorter form of their programs."""
    found = tuple(boot for suite in SUITES for boot in suite.boots())
    if short:
        found = tuple(map(shortened, found))
    if kernel == "debug":
        found = tuple(boot for boot in found if any(p.debug for p in boot.programs))
    found = tuple(budgeted(boot, kernel) for boot in found)
    return for_debug(found) if kernel == "debug" else found


def names() -> list[str]:
    """Names of all experiments, sorted."""
    return sorted(EXPERIMENTS)


def lookup(name: str) -> Experiment:
    """The experiment of a name.  Raises LabError (exit code 2) with the allowed names."""
    if name not in EXPERIMENTS:
        raise LabError(f"EXP '{name}': allowed are {', '.join(names())}")
    return EXPERIMENTS[name]


def check_metric(experiment: Experiment, metric: str | None) -> None:
    """Raises LabError (exit code 2) for a metric that the experiment does not measure."""
    if metric is not None and metric not in experiment.metrics:
        raise LabError(f"metric '{metric}': allowed are {', '.join(experiment.metrics)}")

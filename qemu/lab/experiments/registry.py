# SPDX-License-Identifier: GPL-2.0
"""The experiments that there are."""

from __future__ import annotations

from lab import LabError
from lab.experiments import ipc, livelock, lottery, udp, wrais
from lab.experiments.experiment import Experiment

EXPERIMENTS: dict[str, Experiment] = {
    found.name: found
    for found in (
        *(ipc.EXPERIMENT, livelock.EXPERIMENT, lottery.EXPERIMENT),
        *(udp.EXPERIMENT, wrais.EXPERIMENT),
    )
}


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

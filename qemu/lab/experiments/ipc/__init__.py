# SPDX-License-Identifier: GPL-2.0
"""The IPC experiment: how long a message needs, by mechanism, policy and load."""

from __future__ import annotations

from lab.experiments.boots import Boot
from lab.experiments.experiment import Experiment
from lab.experiments.ipc import plan
from lab.experiments.ipc.figures import draw
from lab.experiments.ipc.goals import goals as judge
from lab.experiments.ipc.metrics import NAME, RAW, evaluate


def _boots(quick: bool, only: str | None) -> list[Boot]:
    return plan.boots(plan.QUICK if quick else plan.FULL, only)


EXPERIMENT = Experiment(
    name=NAME,
    metrics=plan.METRICS,
    raw=RAW,
    boots=_boots,
    evaluate=evaluate,
    goals=judge,
    draw=draw,
)

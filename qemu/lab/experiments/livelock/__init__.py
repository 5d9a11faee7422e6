# SPDX-License-Identifier: GPL-2.0
"""The livelock experiment: what applications and others get of the CPU in a flood of frames."""

from __future__ import annotations

from lab.experiments.boots import Boot
from lab.experiments.experiment import Experiment
from lab.experiments.livelock import plan
from lab.experiments.livelock.figures import draw
from lab.experiments.livelock.goals import goals as judge
from lab.experiments.livelock.metrics import NAME, RAW, UNITS, evaluate


def _boots(quick: bool, only: str | None) -> list[Boot]:
    """Every curve measures every metric: `only` chooses nothing."""
    return plan.boots(plan.QUICK if quick else plan.FULL)


EXPERIMENT = Experiment(
    name=NAME,
    metrics=tuple(UNITS),
    raw=RAW,
    boots=_boots,
    evaluate=evaluate,
    goals=judge,
    draw=draw,
)

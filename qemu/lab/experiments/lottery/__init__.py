# SPDX-License-Identifier: GPL-2.0
"""The lottery experiment: the cost of both pools, and who wins how often."""

from __future__ import annotations

from lab.experiments.boots import Boot
from lab.experiments.experiment import Experiment
from lab.experiments.lottery import plan
from lab.experiments.lottery.figures import draw
from lab.experiments.lottery.goals import goals as judge
from lab.experiments.lottery.metrics import NAME, RAW, evaluate


def _boots(quick: bool, only: str | None) -> list[Boot]:
    return plan.boots(plan.QUICK if quick else plan.FULL, only)


EXPERIMENT = Experiment(
    name=NAME,
    metrics=tuple(plan.KINDS),
    raw=RAW,
    boots=_boots,
    evaluate=evaluate,
    goals=judge,
    draw=draw,
)

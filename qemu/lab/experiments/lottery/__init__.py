# SPDX-License-Identifier: GPL-2.0
"""The lottery experiment: the cost of both pools, and who wins how often."""

from __future__ import annotations

from lab.experiments.experiment import Experiment, by_scope
from lab.experiments.lottery import plan
from lab.experiments.lottery.figures import draw
from lab.experiments.lottery.goals import goals as judge
from lab.experiments.lottery.metrics import NAME, RAW, evaluate

EXPERIMENT = Experiment(
    name=NAME,
    metrics=tuple(plan.KINDS),
    raw=RAW,
    boots=by_scope(plan.boots, plan.FULL, plan.QUICK),
    evaluate=evaluate,
    goals=judge,
    draw=draw,
)

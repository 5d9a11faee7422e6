# SPDX-License-Identifier: GPL-2.0
"""The livelock experiment: what applications and others get of the CPU in a flood of frames."""

from __future__ import annotations

from lab.experiments.experiment import Experiment, by_scope
from lab.experiments.livelock import plan
from lab.experiments.livelock.figures import draw
from lab.experiments.livelock.goals import goals as judge
from lab.experiments.livelock.metrics import NAME, RAW, UNITS, evaluate

EXPERIMENT = Experiment(
    name=NAME,
    metrics=tuple(UNITS),
    raw=RAW,
    boots=by_scope(plan.boots, plan.FULL, plan.QUICK),
    evaluate=evaluate,
    goals=judge,
    draw=draw,
)

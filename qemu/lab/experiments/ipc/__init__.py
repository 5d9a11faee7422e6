# SPDX-License-Identifier: GPL-2.0
"""The IPC experiment: how long a message needs, by mechanism, policy and load."""

from __future__ import annotations

from lab.experiments.experiment import Experiment, by_scope
from lab.experiments.ipc import plan
from lab.experiments.ipc.figures import draw
from lab.experiments.ipc.goals import goals as judge
from lab.experiments.ipc.metrics import NAME, RAW, evaluate

EXPERIMENT = Experiment(
    name=NAME,
    metrics=plan.METRICS,
    raw=RAW,
    boots=by_scope(plan.boots, plan.FULL, plan.QUICK),
    evaluate=evaluate,
    goals=judge,
    draw=draw,
)

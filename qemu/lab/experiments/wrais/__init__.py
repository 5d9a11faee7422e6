# SPDX-License-Identifier: GPL-2.0
"""The I/O experiment: how long a privileged application takes to start beside a busy disk."""

from __future__ import annotations

from lab.experiments.experiment import Experiment, by_scope
from lab.experiments.wrais import plan
from lab.experiments.wrais.figures import draw
from lab.experiments.wrais.goals import goals as judge
from lab.experiments.wrais.metrics import NAME, RAW, evaluate

EXPERIMENT = Experiment(
    name=NAME,
    metrics=tuple(plan.KINDS),
    raw=RAW,
    boots=by_scope(plan.boots, plan.FULL, plan.QUICK),
    evaluate=evaluate,
    goals=judge,
    draw=draw,
)

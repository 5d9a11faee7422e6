# SPDX-License-Identifier: GPL-2.0
"""The UDP experiment: how exactly a process sends at a rate, beside iperf3 and a naive one."""

from __future__ import annotations

from lab.experiments.experiment import Experiment, by_scope
from lab.experiments.udp import plan
from lab.experiments.udp.figures import draw
from lab.experiments.udp.goals import goals as judge
from lab.experiments.udp.metrics import NAME, RAW, evaluate

EXPERIMENT = Experiment(
    name=NAME,
    metrics=plan.METRICS,
    raw=RAW,
    boots=by_scope(plan.boots, plan.FULL, plan.QUICK),
    evaluate=evaluate,
    goals=judge,
    draw=draw,
)

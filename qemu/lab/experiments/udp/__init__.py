# SPDX-License-Identifier: GPL-2.0
"""The UDP experiment: how exactly a process sends at a rate, beside iperf3 and a naive one."""

from __future__ import annotations

from lab.experiments.boots import Boot
from lab.experiments.experiment import Experiment
from lab.experiments.udp import plan
from lab.experiments.udp.figures import draw
from lab.experiments.udp.goals import goals as judge
from lab.experiments.udp.metrics import NAME, RAW, evaluate


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

# SPDX-License-Identifier: GPL-2.0
"""The UDP experiment: how exactly a process sends at a rate, beside iperf3 and a naive one."""

from __future__ import annotations

from lab.experiment import Experiment, by_scope
from lab.report.goals import judge_all
from lab.subjects.udp import experiment
from lab.subjects.udp.figures import draw
from lab.subjects.udp.goals import GOALS
from lab.subjects.udp.metrics import NAME, RAW, evaluate

EXPERIMENT = Experiment(
    name=NAME,
    metrics=experiment.METRICS,
    raw=RAW,
    boots=by_scope(experiment.boots, experiment.FULL, experiment.QUICK, experiment.DEMO),
    evaluate=evaluate,
    judge=lambda records, whole: judge_all(GOALS, records, whole),
    draw=draw,
)

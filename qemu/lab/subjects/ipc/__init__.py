# SPDX-License-Identifier: GPL-2.0
"""The IPC experiment: how long a message needs, by mechanism, policy and load."""

from __future__ import annotations

from lab.experiment import Experiment, by_scope
from lab.report.goals import judge_all
from lab.subjects.ipc import experiment
from lab.subjects.ipc.figures import draw
from lab.subjects.ipc.goals import GOALS
from lab.subjects.ipc.metrics import NAME, RAW, evaluate

EXPERIMENT = Experiment(
    name=NAME,
    metrics=experiment.METRICS,
    raw=RAW,
    boots=by_scope(experiment.boots, experiment.FULL, experiment.QUICK, experiment.DEMO),
    evaluate=evaluate,
    judge=lambda records, whole: judge_all(GOALS, records, whole),
    draw=draw,
)

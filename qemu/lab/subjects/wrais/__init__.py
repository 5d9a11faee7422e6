# SPDX-License-Identifier: GPL-2.0
"""The I/O experiment: how long a privileged application takes to start beside a busy disk."""

from __future__ import annotations

from lab.experiment import Experiment, by_scope
from lab.report.goals import judge_all
from lab.subjects.wrais import experiment
from lab.subjects.wrais.figures import draw
from lab.subjects.wrais.goals import GOALS
from lab.subjects.wrais.metrics import NAME, RAW, evaluate

EXPERIMENT = Experiment(
    name=NAME,
    metrics=tuple(experiment.KINDS),
    raw=RAW,
    boots=by_scope(experiment.boots, experiment.FULL, experiment.QUICK, experiment.DEMO),
    evaluate=evaluate,
    judge=lambda records, whole: judge_all(GOALS, records, whole),
    draw=draw,
)

# SPDX-License-Identifier: GPL-2.0
"""The I/O experiment: how long a privileged application takes to start beside a busy disk."""

from __future__ import annotations

from lab.experiment import Experiment, by_scope
from lab.subjects.wrais import experiment
from lab.subjects.wrais.figures import draw
from lab.subjects.wrais.goals import goals as judge
from lab.subjects.wrais.metrics import NAME, RAW, evaluate

EXPERIMENT = Experiment(
    name=NAME,
    metrics=tuple(experiment.KINDS),
    raw=RAW,
    boots=by_scope(experiment.boots, experiment.FULL, experiment.QUICK, experiment.DEMO),
    evaluate=evaluate,
    judge=lambda records, _: judge(records),
    draw=draw,
)

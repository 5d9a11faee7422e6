# SPDX-License-Identifier: GPL-2.0
"""The lottery experiment: the cost of both pools, and who wins how often."""

from __future__ import annotations

from lab.experiment import Experiment, by_scope
from lab.report.goals import judge_all
from lab.subjects.lottery import experiment
from lab.subjects.lottery.figures import draw
from lab.subjects.lottery.goals import GOALS
from lab.subjects.lottery.metrics import NAME, RAW, evaluate

EXPERIMENT = Experiment(
    name=NAME,
    metrics=tuple(experiment.KINDS),
    raw=RAW,
    boots=by_scope(experiment.boots, experiment.FULL, experiment.QUICK, experiment.DEMO),
    evaluate=evaluate,
    judge=lambda records, whole: judge_all(GOALS, records, whole),
    draw=draw,
)

# SPDX-License-Identifier: GPL-2.0
"""The livelock experiment: what applications and others get of the CPU in a flood of frames."""

from __future__ import annotations

from lab.experiment import Experiment, by_scope
from lab.report.goals import judge_all
from lab.subjects.livelock import experiment
from lab.subjects.livelock.figures import draw
from lab.subjects.livelock.goals import GOALS
from lab.subjects.livelock.metrics import NAME, RAW, UNITS, evaluate

EXPERIMENT = Experiment(
    name=NAME,
    metrics=tuple(UNITS),
    raw=RAW,
    boots=by_scope(experiment.boots, experiment.FULL, experiment.QUICK, experiment.DEMO),
    evaluate=evaluate,
    judge=lambda records, whole: judge_all(GOALS, records, whole),
    draw=draw,
)

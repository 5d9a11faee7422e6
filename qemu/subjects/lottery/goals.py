# SPDX-License-Identifier: GPL-2.0
"""The goals of the lottery experiment: see goals.toml."""

from __future__ import annotations

from pathlib import Path

from lab.report.goals import read

GOALS = read(Path(__file__).with_suffix(".toml"))
STAIRCASE = next(goal.high for goal in GOALS if goal.metric == "order_correlation")
"""Rank correlation of tickets and completion order from which on a staircase can be seen."""

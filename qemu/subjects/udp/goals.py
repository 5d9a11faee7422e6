# SPDX-License-Identifier: GPL-2.0
"""The goals of the UDP experiment: see goals.toml."""

from __future__ import annotations

from pathlib import Path

from lab.report.goals import read
from lab.report.records import Param

ALONE: dict[str, Param] = {"workers": 1, "where": "host", "load": "none", "policy": "other"}
GOALS = read(Path(__file__).with_suffix(".toml"))

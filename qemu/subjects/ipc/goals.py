# SPDX-License-Identifier: GPL-2.0
"""The goals of the IPC experiment: see goals.toml."""

from __future__ import annotations

from pathlib import Path

from lab.report.goals import read
from lab.report.records import Param
from subjects.ipc.reference import TABLE

NATIVE: dict[str, Param] = {"where": "host", "load": "none", "policy": "other"}
MEDIAN: dict[str, Param] = {**NATIVE, "stat": "p50"}
REFERENCE = (*TABLE, "shm-containers")
"""Every mechanism of the reference, and the one it could not get to work."""
GOALS = read(Path(__file__).with_suffix(".toml"))

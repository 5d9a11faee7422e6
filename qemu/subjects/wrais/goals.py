# SPDX-License-Identifier: GPL-2.0
"""The goals of the I/O experiment: see goals.toml."""

from __future__ import annotations

from pathlib import Path

from lab.report.goals import read

GOALS = read(Path(__file__).with_suffix(".toml"))

# SPDX-License-Identifier: GPL-2.0
"""How the demo tells of the experiment."""

from __future__ import annotations

from lab.experiment import Shown
from lab.report.goals import value
from lab.report.measured import Measured
from subjects.ipc.goals import GOALS, MEDIAN


def _told(measured: Measured) -> str | None:
    pipe, spin = (
        value(measured.records, "latency_ns", name, **MEDIAN) for name in ("pipe", "spin")
    )
    if pipe is None or spin is None:
        return None
    pipe_us, spin_us = pipe / 1000, spin / 1000
    return f"A message took {pipe_us:.1f} us by a pipe, {spin_us:.2f} us to a spinning thread."


SHOWN = Shown(_told, "mechanisms", GOALS, ("zmq-perf", "flag"))

# SPDX-License-Identifier: GPL-2.0
"""Canned output of udprate and iperf3: a runner for the UDP experiment without a network."""

from __future__ import annotations

from typing import Any

from lab.experiments.boots import Job

from lab.subjects.udp.experiment import Cell, CellJob
from tests.host import canned
from tests.host.canned import Rows

Row = dict[str, Any]
Change = canned.Change[Cell]


def row(cell: Cell) -> Row:
    """udprate is nearly exact, iperf3 spreads more, the naive sender lags."""
    error = {"udprate": 0.001, "iperf3": -0.02, "naive": -40.0}[cell.variant]
    if cell.most:
        error = -80.0
    said: Row = {
        "tool": "iperf3" if cell.variant == "iperf3" else "udprate",
        "workers": cell.workers,
        "requested_mbps": float(cell.rate_mbps),
        "achieved_mbps": cell.rate_mbps * (1 + error / 100),
        "rate_error_pct": error + cell.repeat / 10_000,
        "rate_sd_mbps": 0.01 if cell.variant == "udprate" else 0.5,
        "cpu_pct": 5 if cell.variant == "udprate" else 10.0,
    }
    if cell.variant != "iperf3":
        gaps = {f"gap_us_{name}": 100.0 for name in ("p1", "p50", "p99", "p999")}
        late = {f"late_us_{name}": 10.0 for name in ("p50", "p99", "max")}
        counts = {"packets": 1000, "skipped": 0, "lost": 0}
        said |= {"elapsed_s": float(cell.seconds), **counts, **gaps, **late}
    return said


class FakeRunner(canned.CannedRunner[Cell]):
    """The row of a cell."""

    def canned(self, job: Job) -> tuple[Cell, Rows] | None:
        assert isinstance(job, CellJob)
        return job.cell, [row(job.cell)]

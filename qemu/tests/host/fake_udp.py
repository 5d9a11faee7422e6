# SPDX-License-Identifier: GPL-2.0
"""Canned output of udprate and iperf3: a runner for the UDP experiment without a network."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from lab.experiments.boots import Boot, Outputs
from lab.experiments.udp.plan import Cell, CellJob

Row = dict[str, Any]
Change = Callable[[Cell, Row], Row]


def unchanged(_cell: Cell, row: Row) -> Row:
    """The row as it is."""
    return row


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


@dataclass
class FakeRunner:
    """Runs boots from thin air; `change` may falsify the row of a cell."""

    change: Change = unchanged
    booted: list[Boot] = field(default_factory=list)

    def __call__(self, boot: Boot) -> Outputs:
        self.booted.append(boot)
        outputs = {}
        for job in boot.jobs:
            assert isinstance(job, CellJob)
            outputs[job.name] = [json.dumps(self.change(job.cell, row(job.cell)))]
        return outputs

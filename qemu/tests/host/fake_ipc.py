# SPDX-License-Identifier: GPL-2.0
"""Canned output of ipclat: a runner for the IPC experiment without threads, guests or clocks."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from lab.experiments.boots import Boot, Outputs
from lab.experiments.ipc.plan import Cell, CellJob

Rows = list[dict[str, Any]]
Change = Callable[[Cell, Rows], Rows]

MEDIANS = {"flag": 100.0, "spin": 105.0, "zmq-ipc": 10_000.0, "zmq-perf": 10_200.0}


def unchanged(_cell: Cell, rows: Rows) -> Rows:
    """Rows as they are."""
    return rows


def row(cell: Cell, mechanism: str) -> dict[str, Any]:
    """Three buckets of samples around the median."""
    median = MEDIANS.get(mechanism, 1000.0) * (5 if cell.load == "hogs" else 1)
    parts = [(0.9 * median, 30), (median, 60), (1.3 * median, 10)]
    buckets = " ".join(f"{low:.2f}-{low + 1:.2f}:{count}" for low, count in parts)
    shares = {"mean": 1.01, "low": 1.0, "high": 1.02, "p1": 0.9, "p50": 1.0, "p99": 1.3}
    shares |= {"p999": 1.3, "max": 1.31, "sd": 0.1, "model_mean": 1.01}
    return {
        "tool": "ipclat",
        "mechanism": mechanism,
        "missing": "",
        "samples": 100,
        "repeats": cell.repeats,
        **{f"{stat}_ns": share * median for stat, share in shares.items()},
        "log_sd": 0.1,
        "distance_normal": 0.2,
        "distance_lognormal": 0.1,
        "tsc_ghz": 1,
        "clock_overhead_ns": 20.0,
        "buckets": buckets,
    }


@dataclass
class FakeRunner:
    """Runs boots from thin air; `change` may falsify the rows of a cell."""

    change: Change = unchanged
    booted: list[Boot] = field(default_factory=list)

    def __call__(self, boot: Boot) -> Outputs:
        self.booted.append(boot)
        outputs = {}
        for job in boot.jobs:
            assert isinstance(job, CellJob)
            rows = [row(job.cell, name) for name in job.cell.mechanisms]
            outputs[job.name] = [json.dumps(one) for one in self.change(job.cell, rows)]
        return outputs

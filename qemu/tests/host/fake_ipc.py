# SPDX-License-Identifier: GPL-2.0
"""Canned output of ipclat: a runner for the IPC experiment without threads, guests or clocks."""

from __future__ import annotations

from typing import Any

from lab.experiments.boots import Job

from lab.subjects.ipc.experiment import Cell, CellJob
from tests.host import canned
from tests.host.canned import Rows

Change = canned.Change[Cell]

MEDIANS = {"flag": 100.0, "spin": 105.0, "zmq-ipc": 10_000.0, "zmq-perf": 10_200.0}


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


class FakeRunner(canned.CannedRunner[Cell]):
    """ipclat's rows of a cell."""

    def canned(self, job: Job) -> tuple[Cell, Rows] | None:
        assert isinstance(job, CellJob)
        return job.cell, [row(job.cell, name) for name in job.cell.mechanisms]

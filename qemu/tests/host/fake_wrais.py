# SPDX-License-Identifier: GPL-2.0
"""Canned output of wrais-run: a runner for the I/O experiment without a guest.

Stock BFQ starts several times slower beside a background, everything privileged
one per cent slower; other schedulers never end.
"""

from __future__ import annotations

from typing import Any

from lab.experiments.boots import Boot, Job, Outputs

from lab.subjects.wrais.experiment import PROBES, SQLITE, Cell, CellJob
from lab.subjects.wrais.variants import NO_PARTS
from tests.host import canned
from tests.host.canned import Rows

Change = canned.Change[Cell]

LOSERS = ("mq-deadline", "kyber", "none")


def factor(cell: Cell, repeat: int) -> float:
    """Start-up over idle."""
    if cell.background == "idle":
        return 1.0
    if cell.variant.parts == NO_PARTS:
        return 100.0 if cell.variant.sched in LOSERS else 4.0 + repeat / 10
    return 1.01 + repeat / 1000


def probe_row(cell: Cell, repeat: int) -> dict[str, Any]:
    """One start."""
    took = PROBES[cell.probe] * factor(cell, repeat)
    finished = took <= cell.limit_s()
    stock = cell.variant.parts == NO_PARTS
    return {
        "tool": "wrais-run",
        "repeat": repeat,
        "finished": finished,
        "startup_s": min(took, cell.limit_s()),
        "stalls_over_300ms": 7 if stock else 0,
        "max_stall_ms": 4000.0 if stock else 100 + repeat,
        "background_mbps": 0 if cell.background == "idle" else 20.0 if stock else 2.0,
        "device_mbps": 27.0 if stock else 26.0,
    }


def sqlite_row(cell: Cell, repeat: int) -> dict[str, Any]:
    """One run of the commit loop."""
    base = 10.0 if cell.variant.parts != NO_PARTS else 100.0 * factor(cell, repeat)
    return {
        "tool": "wrais-sqlite",
        "journal": SQLITE[cell.probe],
        "commits": 200,
        "elapsed_s": 10,
        "p50_ms": base,
        "p90_ms": 2 * base,
        "p99_ms": 3 * base,
        "max_ms": 5 * base,
    }


class FakeRunner(canned.CannedRunner[Cell]):
    """wrais-run's and wrais-sqlite's rows of a cell, and those of the disk."""

    def canned(self, job: Job) -> tuple[Cell, Rows] | None:
        if not isinstance(job, CellJob):
            return None
        make = sqlite_row if job.cell.probe in SQLITE else probe_row
        return job.cell, [make(job.cell, number) for number in range(1, job.cell.repeats + 1)]

    def __call__(self, boot: Boot) -> Outputs:
        return {"disk": ['{"tool":"wrais-disk"}'], **super().__call__(boot)}

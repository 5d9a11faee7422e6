# SPDX-License-Identifier: GPL-2.0
"""The lottery tools' rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypeVar

from lab import LabError


@dataclass(frozen=True)
class ScaleRow:
    """lottery-scale: the kernel's own counters over one run; *_ns are totals."""

    TOOL: ClassVar[str] = "lottery-scale"
    pool: str
    tasks: int
    enqueue_count: int
    enqueue_ns: int
    dequeue_count: int
    dequeue_ns: int
    draw_count: int
    draw_ns: int
    elapsed_ns: int

    def mean(self, operation: str) -> float:
        """Mean ns of `enqueue`, `dequeue` or `draw`.  Raises LabError if it never ran."""
        count = getattr(self, f"{operation}_count")
        if count <= 0:
            raise LabError(
                f"{self.TOOL} {self.tasks}: {operation}_count {count}: must be at least 1",
                exit_code=1,
            )
        return float(getattr(self, f"{operation}_ns") / count)


@dataclass(frozen=True)
class ShareRow:
    """lottery-share: one task's wins against its tickets."""

    TOOL: ClassVar[str] = "lottery-share"
    case: str
    tickets: int
    total: int
    lotteries: float
    wins: float
    expected: float
    sigma_error: float
    draw: str = "independent"


@dataclass(frozen=True)
class PipeRow:
    """lottery-pipe: mean ns of a round trip over `rounds`."""

    TOOL: ClassVar[str] = "lottery-pipe"
    policy: str
    rounds: int
    repeat: int
    ns_per_round: float


@dataclass(frozen=True)
class FloorRow:
    """lottery-floor: percent of the CPU that was left to SCHED_OTHER."""

    TOOL: ClassVar[str] = "lottery-floor"
    fair_pct: float
    seconds: float


@dataclass(frozen=True)
class FairRow:
    """lottery-fair: one finished task; `order` counts completions from 1."""

    TOOL: ClassVar[str] = "lottery-fair"
    order: int
    id: int
    tickets: int
    work: float
    finish_ns: int


@dataclass(frozen=True)
class SmpRow:
    """lottery-smp: percent of one CPU that a task of a case was due and got.

    Of the case "displaced" each row is a round.
    """

    TOOL: ClassVar[str] = "lottery-smp"
    case: str
    task: int
    tickets: int
    due_pct: float
    got_pct: float


Row = TypeVar("Row", ScaleRow, ShareRow, PipeRow, FloorRow, FairRow, SmpRow)

# SPDX-License-Identifier: GPL-2.0
"""What the lottery tools print with --json, as typed rows.

A row class has the fields of a tool's JSON object under the same names; a line
that is not such an object raises LabError, because a measurement that is half
understood is none.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar, get_type_hints

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


Row = TypeVar("Row", ScaleRow, ShareRow, PipeRow, FloorRow, FairRow)


def _field(tool: str, item: dict[str, Any], name: str, kind: type) -> Any:
    """One field in its type; an int may stand for a float, nothing else is converted."""
    value = item.get(name)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise LabError(f"{tool}: {name} {value!r}: must be {kind.__name__}", exit_code=1)
    return value


def read_rows(cls: type[Row], lines: Sequence[str]) -> list[Row]:
    """The rows a tool printed.  Raises LabError for no rows or a line that is not one."""
    kinds = get_type_hints(cls)
    rows = []
    for line in lines:
        if not line.strip():
            continue
        try:
            item = json.loads(line)
        except ValueError:
            item = None
        if not isinstance(item, dict) or item.get("tool") != cls.TOOL:
            raise LabError(
                f"{cls.TOOL}: output {line!r}: must be a JSON object of this tool", exit_code=1
            )
        names = [field.name for field in dataclasses.fields(cls)]
        rows.append(cls(**{name: _field(cls.TOOL, item, name, kinds[name]) for name in names}))
    if not rows:
        raise LabError(f"{cls.TOOL}: no output: must be at least one JSON object", exit_code=1)
    return rows

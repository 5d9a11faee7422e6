# SPDX-License-Identifier: GPL-2.0
"""The rows of the lottery tools, and of those of others that print no JSON."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import ClassVar

from lab import LabError


@dataclass(frozen=True)
class ScaleRow:
    """lottery-bench scale: the kernel's own counters over one run; *_ns are totals."""

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
    """lottery-bench share: one task's wins against its tickets."""

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
    """lottery-bench pipe: mean ns of a round trip over `rounds`."""

    TOOL: ClassVar[str] = "lottery-pipe"
    policy: str
    rounds: int
    repeat: int
    ns_per_round: float


@dataclass(frozen=True)
class FloorRow:
    """lottery-bench floor: percent of the CPU that was left to SCHED_OTHER, and a wait for it."""

    TOOL: ClassVar[str] = "lottery-floor"
    fair_pct: float
    wait_ms: float
    seconds: float


@dataclass(frozen=True)
class FairRow:
    """lottery-bench fair: one finished task; `order` counts completions from 1."""

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


@dataclass(frozen=True)
class MonteCarloRow:
    """lottery-bench montecarlo: one integration at one look; `error` is relative."""

    TOOL: ClassVar[str] = "lottery-montecarlo"
    time_ms: int
    task: int
    tickets: int
    trials: int
    estimate: float
    error: float


@dataclass(frozen=True)
class ViewersRow:
    """lottery-bench viewers: one viewer at one look, at the end of a part of `phase`."""

    TOOL: ClassVar[str] = "lottery-viewers"
    time_ms: int
    phase: str
    viewer: int
    tickets: int
    frames: int

    @property
    def letter(self) -> str:
        """Its name in the paper: A, B, C."""
        return ascii_uppercase[self.viewer - 1]


@dataclass(frozen=True)
class ServerRow:
    """lottery-bench server: one client."""

    TOOL: ClassVar[str] = "lottery-server"
    case: str
    loans: bool
    server_tickets: int
    client: int
    tickets: int
    queries: int
    ratio: float


@dataclass(frozen=True)
class InsulateRow:
    """lottery-bench insulate: one task, before or after inflation in B."""

    TOOL: ClassVar[str] = "lottery-insulate"
    case: str
    currencies: bool
    currency: str
    task: int
    tickets: int
    cpu_s: float


@dataclass(frozen=True)
class HackbenchRow:
    """hackbench: how long all messages took."""

    TOOL: ClassVar[str] = "hackbench"
    policy: str
    cpus: int
    ms: float


@dataclass(frozen=True)
class CyclictestRow:
    """cyclictest: from the time that a task asked for to its first instruction."""

    TOOL: ClassVar[str] = "cyclictest"
    beside: str
    loops: int
    min_ns: int
    avg_ns: int
    max_ns: int


HACKBENCH_TIME = re.compile(r"Time: (\d+\.\d+)")
CYCLICTEST_LINE = re.compile(r"T: *0 .* C: *(\d+) Min: *(\d+) Act: *\d+ Avg: *(\d+) Max: *(\d+)")


def _only_match(tool: str, pattern: re.Pattern[str], lines: Sequence[str]) -> re.Match[str]:
    """The one line that is a result.  Raises LabError (exit code 1) for none or more."""
    found = [match for line in lines if (match := pattern.fullmatch(line.strip()))]
    if len(found) != 1:
        raise LabError(f"{tool}: {len(found)} lines with a result: must be 1", exit_code=1)
    return found[0]


def hackbench_row(policy: str, cpus: int, lines: Sequence[str]) -> HackbenchRow:
    """What hackbench said."""
    match = _only_match(HackbenchRow.TOOL, HACKBENCH_TIME, lines)
    return HackbenchRow(policy, cpus, 1000 * float(match[1]))


def cyclictest_row(beside: str, lines: Sequence[str]) -> CyclictestRow:
    """What cyclictest said of its one thread."""
    match = _only_match(CyclictestRow.TOOL, CYCLICTEST_LINE, lines)
    return CyclictestRow(beside, *map(int, match.groups()))


def idle_s(lines: Sequence[str]) -> tuple[float, float]:
    """/proc/uptime: seconds since the boot, and those that all CPUs together were idle."""
    try:
        up, idle = map(float, " ".join(lines).split())
    except ValueError:
        raise LabError(f"/proc/uptime: {lines!r}: must be two numbers", exit_code=1) from None
    return up, idle

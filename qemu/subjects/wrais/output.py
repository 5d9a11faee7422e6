# SPDX-License-Identifier: GPL-2.0
"""The rows of wrais-run and of the databases that it starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class ProbeRow:
    """One start of a probe: seconds, milliseconds, 10^6 bytes a second.

    `background_window_mbps` is the least of any row of seconds, if one was asked for and the
    start was that long. Without `finished` the start was ended early, and `startup_s` is how
    long it had had.
    """

    TOOL: ClassVar[str] = "wrais-run"
    repeat: int
    finished: bool
    startup_s: float
    stalls_over_300ms: int
    max_stall_ms: float
    background_mbps: float
    device_mbps: float
    device_read_mbps: float = 0.0
    background_read_mbps: float = 0.0
    background_window_mbps: float | None = None


@dataclass(frozen=True)
class SqliteRow:
    """One run of the commit loop: quantiles of the commits in milliseconds."""

    TOOL: ClassVar[str] = "wrais-sqlite"
    journal: str
    commits: int
    elapsed_s: float
    p50_ms: float
    p90_ms: float
    p99_ms: float
    max_ms: float


@dataclass(frozen=True)
class PgbenchRow:
    """One run of pgbench: quantiles of the transactions in milliseconds."""

    TOOL: ClassVar[str] = "wrais-pgbench"
    clients: int
    transactions: int
    elapsed_s: float
    p50_ms: float
    p90_ms: float
    p99_ms: float
    max_ms: float


QUANTILES = ("p50", "p90", "p99", "max")
"""Values of the parameter `quantile`; the field of each is QUANTILE_ms."""

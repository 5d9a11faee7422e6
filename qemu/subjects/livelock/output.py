# SPDX-License-Identifier: GPL-2.0
"""The rows of livelock-run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from lab import LabError

LATE_NS = 1 << 20
"""Frames that took longer are late: of the distribution's buckets the edge next to 1 ms."""


@dataclass(frozen=True)
class PointRow:
    """One measurement: frames a second and shares in the window, frames of the whole run."""

    TOOL: ClassVar[str] = "livelock-run"
    ports: int
    function: str
    offered_pps: int
    duration_ms: int
    sent_pps: float
    goodput_pps: float
    port_least_pps: float
    port_most_pps: float
    user_share_pct: float
    apps_share_pct: float
    source_pct: float
    source_timer_pct: float
    shots_per_s: float
    due: int
    received: int
    lost_tail: int
    lost_ring: int
    lost_early: int
    lost_backlog: int
    lost_socket: int
    lost_other: int
    missing: int
    buffer_full: int
    switches_per_s: float
    disorder: int
    strange: int
    latencies: int
    latency_mean_us: float
    latency_p1_us: float
    latency_p50_us: float
    latency_p90_us: float
    latency_p99_us: float
    latency_p999_us: float
    latency_max_us: float
    latency_ns: str

    def distribution(self) -> list[tuple[int, int]]:
        """Lower bound in ns and count of every bucket.  Raises LabError for another text."""
        found = []
        for word in self.latency_ns.split():
            bound, _, count = word.partition(":")
            if not (bound.isdigit() and count.isdigit()):
                raise LabError(f"livelock-run: latency_ns '{word}': must be BOUND:COUNT", 1)
            found.append((int(bound), int(count)))
        return found

    def late_pct(self) -> float:
        """The share of the frames that arrived which were late.  At least one must arrive."""
        late = sum(count for bound, count in self.distribution() if bound >= LATE_NS)
        return 100 * late / self.latencies

    def receiving_ns(self) -> float:
        """CPU time for a frame that arrived, outside its application.  There must be one."""
        share = 100 - self.user_share_pct - self.apps_share_pct - self.source_pct
        return share / 100 * 1e9 / self.goodput_pps

# SPDX-License-Identifier: GPL-2.0
"""Canned output of livelock-run: a runner for the livelock experiment without a guest.

Everybody receives all up to 20,000 frames/s. Beyond, interrupts and NAPI break down,
threads keep a peak, and the hybrid keeps a higher one, within its limit.
"""

from __future__ import annotations

from typing import Any

from lab.experiments.boots import Job

from lab.subjects.livelock import variants as v
from lab.subjects.livelock.experiment import Curve, CurveJob
from tests.host import canned
from tests.host.canned import Rows

Change = canned.Change[Curve]

KNEE_PPS = 20000
SOURCE_PCT = 15.0
THREADED = (18000, 20.0)
"""Goodput and user share of threads when there is too much."""
HYBRID_LIMIT = 50
HYBRID_PEAK = 24000
LATENCY_US = {v.POLL.name: 500.0, v.THREADED.name: 150.0, v.E1000_THREADED.name: 150.0}


def overload(curve: Curve) -> tuple[float, float]:
    """Goodput and user share beyond the knee."""
    if curve.variant in v.HYBRIDS:
        limit = curve.variant.limit_pct or HYBRID_LIMIT
        return HYBRID_PEAK * min(1.0, limit / 40), 100 - limit - SOURCE_PCT
    return THREADED if curve.variant in (*v.THREADS, v.POLL) else (50, 0.1)


def row(curve: Curve, rate: int) -> dict[str, Any]:
    """One point."""
    lasts_ms = curve.lasts_ms(rate)
    due = rate * lasts_ms // 1000
    goodput, share = (rate, 60.0) if rate <= KNEE_PPS else overload(curve)
    goodput = min(goodput, rate)
    received = round(goodput * lasts_ms / 1000)
    latency = LATENCY_US.get(curve.variant.name, 80.0)
    return {
        "tool": "livelock-run",
        "ports": curve.ports,
        "function": curve.function,
        "offered_pps": rate,
        "duration_ms": lasts_ms,
        "sent_pps": rate,
        "goodput_pps": goodput,
        "port_least_pps": goodput / curve.ports * 0.99,
        "port_most_pps": goodput / curve.ports,
        "user_share_pct": share,
        "apps_share_pct": 1.0,
        "source_pct": SOURCE_PCT,
        "source_timer_pct": 4.0,
        "shots_per_s": min(rate, 20000),
        "due": due,
        "received": received,
        "lost_tail": due - received,
        "lost_ring": 0,
        "lost_backlog": 0,
        "lost_socket": 0,
        "lost_other": 0,
        "missing": 0,
        "buffer_full": 100 if rate > KNEE_PPS else 0,
        "switches_per_s": 2.0 if curve.variant in v.HYBRIDS else 0,
        "disorder": 0,
        "strange": 0,
        "latencies": 100,
        "latency_mean_us": latency,
        "latency_p1_us": latency / 2,
        "latency_p50_us": latency,
        "latency_p90_us": latency * 2,
        "latency_p99_us": latency * 4,
        "latency_p999_us": latency * 8,
        "latency_max_us": latency * 9,
        "latency_ns": "65536:60 131072:39 524288:1",
    }


class FakeRunner(canned.CannedRunner[Curve]):
    """livelock-run's rows of a curve."""

    def canned(self, job: Job) -> tuple[Curve, Rows] | None:
        if not isinstance(job, CurveJob):
            return None
        return job.curve, [row(job.curve, rate) for rate, _ in job.curve.windows]

# SPDX-License-Identifier: GPL-2.0
"""How the demo tells of the experiment."""

from __future__ import annotations

from lab.experiment import Shown
from lab.report.goals import value
from lab.report.measured import Measured
from subjects.livelock import variants
from subjects.livelock.derived import point
from subjects.livelock.experiment import FLOOD_PPS
from subjects.livelock.goals import GOALS


def _told(measured: Measured) -> str | None:
    flood = point(1, FLOOD_PPS)
    ours, stock = (
        value(measured.records, "goodput_pps", variant.name, **flood)
        for variant in (variants.GOVERNOR, variants.E1000)
    )
    if ours is None or stock is None:
        return None
    return f"Of {FLOOD_PPS:,} packets/s {ours:,.0f} arrived, with the stock driver {stock:,.0f}."


SHOWN = Shown(
    _told,
    "throughput",
    GOALS,
    tuple(
        variant.name
        for variant in (
            *(variants.E1000, variants.E1000_THREADED),
            *(variants.PLAIN, variants.PLAIN_THREADED),
            *(variants.NAPI, variants.THREADED, *variants.NICED),
        )
    ),
)

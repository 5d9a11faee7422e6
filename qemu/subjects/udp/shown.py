# SPDX-License-Identifier: GPL-2.0
"""How the demo tells of the experiment."""

from __future__ import annotations

from lab.experiment import Shown
from lab.report.goals import value
from lab.report.measured import Measured
from subjects.udp import iperf
from subjects.udp.goals import ALONE, GOALS

BUSY_MBPS = 512


def _told(measured: Measured) -> str | None:
    ours, other = (
        value(measured.records, "rate_error_pct", name, **{**ALONE, "rate_mbps": BUSY_MBPS})
        for name in ("udprate", iperf.NAME)
    )
    if ours is None or other is None:
        return None
    return (
        f"{BUSY_MBPS} Mbit/s were sent {abs(ours):.3f} % off, by {iperf.NAME} {abs(other):.3f} %."
    )


SHOWN = Shown(_told, "figure-2", GOALS, (iperf.NAME, "naive"))

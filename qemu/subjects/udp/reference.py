# SPDX-License-Identifier: GPL-2.0
"""The tables of the reference, "Deterministic Systems: Processes" (Mbit/s)."""

from __future__ import annotations

from lab.report.references import references


def _by_number(figure: str, series: str) -> dict[int, float]:
    return {int(row): value for row, value in references().column(figure, series).items()}


MAX_MBPS = _by_number("udp-t1", "greatest rate")
"""Greatest rate by number of processes."""

ACTUAL_MBPS = _by_number("udp-t2", "udprate")
"""What arrived by what was asked for."""

SD_MBPS = {rate: _by_number("udp-t3", f"{rate} Mbit/s") for rate in range(100, 701, 100)}
"""Standard deviation by rate and number of processes, where that can do the rate."""

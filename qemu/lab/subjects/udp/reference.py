# SPDX-License-Identifier: GPL-2.0
"""The tables of the reference, "Deterministic Systems: Processes" (Mbit/s)."""

from __future__ import annotations

MAX_MBPS = {
    **{1: 180, 2: 458, 3: 611, 4: 691, 5: 695, 6: 696, 7: 713, 8: 753},
    **{9: 781, 10: 840, 11: 860, 12: 861, 13: 860, 14: 870, 15: 806, 16: 825},
}
"""Greatest rate by number of processes."""

ACTUAL_MBPS: dict[int, float] = {3: 2.27, 6: 2.52, 128: 100, 256: 240, 512: 500, 1024: 800}
"""What arrived by what was asked for, as printed."""

SD_MBPS = {100: (1.6, 1.07, 1.1, 1.07, 1.0), 200: (5.7, 1.9, 0.48, 0.37, 0.5, 0.4)}
"""Standard deviation by rate, for 1, 2 ... processes; the rows that are whole in print."""

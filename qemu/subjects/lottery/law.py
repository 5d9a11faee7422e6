# SPDX-License-Identifier: GPL-2.0
"""What tickets promise to integrations and viewers, to hold what they did against."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from subjects.lottery.output import MonteCarloRow, ViewersRow


def trials_by_law(total: float, starts: Sequence[float]) -> list[float]:
    """Trials of each integration when all have made `total`.

    `starts` are what all had made when each began, the first at 0.  Tickets in proportion
    to the square of the error are tickets in proportion to 1 / trials: then n dn is
    the same for all, and the difference of the squares of two numbers of trials stays
    what it was when the later one began.
    """
    behind: list[float] = []
    for start in starts:
        behind.append(_first(start, behind) ** 2 if behind else 0.0)
    first = _first(total, behind)
    return [math.sqrt(max(first**2 - square, 0.0)) for square in behind]


def _first(total: float, behind: Sequence[float]) -> float:
    """Trials of the first one, of which the others' squares are `behind`."""
    low, high = math.sqrt(max(behind)), max(total, math.sqrt(max(behind)))
    for _ in range(100):
        middle = (low + high) / 2
        made = sum(math.sqrt(max(middle**2 - square, 0.0)) for square in behind)
        low, high = (middle, high) if made < total else (low, middle)
    return high


def at_the_end(rows: Sequence[MonteCarloRow]) -> tuple[list[int], list[float]]:
    """Trials that integrations, in the order of their starts, had made, and those by the law."""
    made: dict[int, int] = {}
    starts: list[float] = []
    for row in rows:
        if row.task not in made:
            # it began after the look before this one, where this sum was reached
            starts.append(_total_before(rows, row.time_ms))
        made[row.task] = row.trials
    return [*made.values()], trials_by_law(sum(made.values()), starts)


def _total_before(rows: Sequence[MonteCarloRow], time_ms: int) -> float:
    """The trials of all at the last look before a time."""
    earlier = [row.time_ms for row in rows if row.time_ms < time_ms]
    return sum(row.trials for row in rows if earlier and row.time_ms == max(earlier))


def shares(rows: Sequence[ViewersRow]) -> dict[str, list[ViewersRow]]:
    """The viewers at the end of each phase, with the frames of that phase alone."""
    found: dict[str, list[ViewersRow]] = {}
    before: dict[int, int] = {}
    for phase in dict.fromkeys(row.phase for row in rows):
        last = {row.viewer: row for row in rows if row.phase == phase}
        found[phase] = [
            replace(row, frames=row.frames - before.get(viewer, 0)) for viewer, row in last.items()
        ]
        before = {viewer: row.frames for viewer, row in last.items()}
    return found

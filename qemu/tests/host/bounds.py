# SPDX-License-Identifier: GPL-2.0
"""Goals at their bounds: each finds what was measured, and a row beyond its bound spoils it."""

import math
from collections.abc import Sequence
from dataclasses import replace

from lab.report.goals import Goal, find, judge, rows
from lab.report.records import Record

CLOSE = 0.001


def _at(goal: Goal, records: Sequence[Record], numbers: Sequence[float]) -> list[Record]:
    """The records, with these numbers in the goal's rows, and enough samples."""
    mine = find(records, goal.metric, goal.variant, **goal.where)
    # those without a divisor are no rows
    pairs = [
        (record, row)
        for record in mine
        for row in rows(replace(goal, variant=record.variant, where=record.params), records)
    ]
    assert len(pairs) == len(numbers)
    moved = {
        id(record): number * record.value / row.value
        for (record, row), number in zip(pairs, numbers, strict=True)
    }
    return [replace(r, n=max(r.n, goal.least_n), value=moved.get(id(r), r.value)) for r in records]


def check(goal: Goal, measured: Sequence[Record]) -> None:
    """Of records that were measured, with a value in each row of the goal."""
    records = [replace(r, value=r.value or 1.0) for r in find(measured, goal.metric)]
    count = len(rows(goal, records))
    assert count, f"{goal.name}: finds nothing"
    if not goal.judged:
        assert judge(goal, records, False).met is None
        return
    ends = []
    if goal.high < math.inf:
        ends.append((goal.high - CLOSE, goal.high + CLOSE))
    if goal.low > -math.inf:
        ends.append((goal.low + CLOSE, goal.low - CLOSE))
    if goal.magnitude:
        ends.append((CLOSE - goal.high, -goal.high - CLOSE))
    assert ends, f"{goal.name}: has no bound"
    for inside, outside in ends:
        good = _at(goal, records, [inside] * count)
        assert judge(goal, good, True).met is True, goal.name
        for spoilt in (0, count - 1):
            numbers = [outside if number == spoilt else inside for number in range(count)]
            bad = _at(goal, records, numbers)
            assert judge(goal, bad, False).met is False, goal.name
        few = [replace(record, n=goal.least_n - 1) for record in bad if goal.least_n > 1]
        assert not few or judge(goal, few, False).met is None, goal.name

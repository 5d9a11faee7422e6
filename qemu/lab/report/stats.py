# SPDX-License-Identifier: GPL-2.0
"""Small statistics over samples: spread and rank correlation."""

import statistics
from bisect import bisect_left, bisect_right
from collections.abc import Sequence


def spread(values: Sequence[float]) -> dict[str, float]:
    """Standard deviation (0 for one value), least and greatest of at least one value."""
    deviation = statistics.stdev(values) if len(values) > 1 else 0.0
    return {"sd": deviation, "min": min(values), "max": max(values)}


def ranks(values: Sequence[float]) -> list[float]:
    """Ranks from 1; equal values share the mean of their ranks."""
    order = sorted(values)
    return [(bisect_left(order, one) + 1 + bisect_right(order, one)) / 2 for one in values]


def rank_correlation(left: Sequence[float], right: Sequence[float]) -> float:
    """Spearman's coefficient, -1..1; 0 if one side does not vary.

    Raises ValueError for sequences of different lengths or fewer than two values.
    """
    if len(left) != len(right) or len(left) < 2:
        raise ValueError("two sequences of the same length, at least 2, are needed")
    try:
        return statistics.correlation(ranks(left), ranks(right))
    except statistics.StatisticsError:
        return 0.0

# SPDX-License-Identifier: GPL-2.0
"""The goals of the lottery experiment against its records."""

from __future__ import annotations

from collections.abc import Sequence

from lab.report.goals import Verdict, find, ratio, value
from lab.report.records import Record

SIGMA_BOUND = 4.0
FLOOR_PCT = (4.0, 6.0)
MANY = 3000


def _times(number: float | None) -> str:
    return "not measured" if number is None else f"{number:.4g} x"


def speedup_goal(records: Sequence[Record]) -> Verdict:
    """The list's cycle over the tree's, at 3000 tasks."""
    quotient = ratio(
        value(records, "cycle_ns", "list", tasks=MANY),
        value(records, "cycle_ns", "rbtree", tasks=MANY),
    )
    met = None if quotient is None else quotient >= 20
    return Verdict(f"cycle_ns at {MANY} tasks, list / rbtree", ">= 20", _times(quotient), met)


def crossover_goal(records: Sequence[Record], least: int = 100) -> Verdict:
    """The tree is never slower than the list from `least` tasks on."""
    quotients = {}
    for record in find(records, "cycle_ns", "rbtree"):
        tasks = record.params["tasks"]
        quotient = ratio(record.value, value(records, "cycle_ns", "list", tasks=tasks))
        if isinstance(tasks, int) and tasks >= least and quotient is not None:
            quotients[tasks] = quotient
    what = f"cycle_ns at {least} tasks and above, rbtree / list"
    if not quotients:
        return Verdict(what, "<= 1 each", "not measured", None)
    shown = ", ".join(f"{tasks}: {quotients[tasks]:.3g}" for tasks in sorted(quotients))
    return Verdict(what, "<= 1 each", shown, max(quotients.values()) <= 1)


def enqueue_goal(records: Sequence[Record]) -> Verdict:
    """The tree's enqueue against the list's, where the reference's tree did very poorly."""
    quotient = ratio(
        value(records, "enqueue_ns", "rbtree", tasks=MANY),
        value(records, "enqueue_ns", "list", tasks=MANY),
    )
    met = None if quotient is None else quotient <= 4
    return Verdict(f"enqueue_ns at {MANY} tasks, rbtree / list", "<= 4", _times(quotient), met)


def growth_goal(records: Sequence[Record]) -> Verdict:
    """How the tree's cycle grows with thirty times the tasks."""
    quotient = ratio(
        value(records, "cycle_ns", "rbtree", tasks=MANY),
        value(records, "cycle_ns", "rbtree", tasks=100),
    )
    met = None if quotient is None else quotient <= 3
    return Verdict(f"rbtree cycle_ns, {MANY} / 100 tasks", "<= 3", _times(quotient), met)


def share_goal(records: Sequence[Record]) -> Verdict:
    """The worst share error of every ratio."""
    errors = find(records, "share_error_sigma")
    wanted = f"< {SIGMA_BOUND:g} each"
    if not errors:
        return Verdict("share_error_sigma, every ratio", wanted, "not measured", None)
    worst = max(errors, key=lambda record: record.value)
    measured = f"worst {worst.value:.3g} at {worst.params['ratio']}, {len(errors)} ratios"
    return Verdict("share_error_sigma, every ratio", wanted, measured, worst.value < SIGMA_BOUND)


def ratio_line(records: Sequence[Record]) -> Verdict:
    """10:1 over the long time, where one standard deviation is 1.3 % over 60 s."""
    found = find(records, "ratio_10_1")
    if not found:
        return Verdict("ratio_10_1", "9 to 11", "not measured", None)
    record = found[0]
    measured = f"{record.value:.4g}, n = {record.n}"
    return Verdict("ratio_10_1", "9 to 11", measured, 9 <= record.value <= 11)


def pipe_goal(records: Sequence[Record]) -> Verdict:
    """Round trips through a pipe in this class against EEVDF, in the same boot."""
    quotient = ratio(
        value(records, "pipe_roundtrip_ns", "lottery"),
        value(records, "pipe_roundtrip_ns", "other"),
    )
    met = None if quotient is None else quotient <= 1.05
    return Verdict("pipe_roundtrip_ns, lottery / other", "<= 1.05", _times(quotient), met)


def floor_goal(records: Sequence[Record]) -> Verdict:
    """What SCHED_OTHER keeps under a lottery hog: the mean and every single run."""
    low, high = FLOOR_PCT
    wanted = f"{low:g} to {high:g}"
    found = find(records, "fair_floor_pct")
    if not found:
        return Verdict("fair_floor_pct under a lottery hog", wanted, "not measured", None)
    good = all(low <= record.value <= high for record in found)
    measured = ", ".join(f"{record.value:.3g}" for record in found)
    return Verdict("fair_floor_pct under a lottery hog", wanted, measured, good)


def goals(records: Sequence[Record]) -> list[Verdict]:
    """The whole table, in its usual order."""
    return [
        speedup_goal(records),
        crossover_goal(records),
        enqueue_goal(records),
        growth_goal(records),
        share_goal(records),
        ratio_line(records),
        pipe_goal(records),
        floor_goal(records),
    ]

# SPDX-License-Identifier: GPL-2.0
"""What the lottery experiment must show."""

from __future__ import annotations

from lab.report.goals import Goal

MANY = 3000
STAIRCASE = -0.5
"""Rank correlation of tickets and completion order from which on a staircase can be seen."""
README = ("README.md",)

GOALS = (
    Goal(
        name=f"cycle_ns at {MANY} tasks, list / rbtree",
        metric="cycle_ns",
        variant="list",
        where={"tasks": MANY},
        over="rbtree",
        low=20.0,
        form=".4g",
        quoted=README,
    ),
    Goal(
        name="cycle_ns at 100 tasks and above, rbtree / list",
        metric="cycle_ns",
        variant="rbtree",
        where={"tasks": (100, 300, 1000, MANY)},
        by="tasks",
        over="list",
        high=1.0,
        form=".3g",
        quoted=README,
    ),
    Goal(
        name="cycle_ns at every size, sums / list",
        metric="cycle_ns",
        variant="sums",
        by="tasks",
        over="list",
        high=1.0,
        form=".3g",
        quoted=README,
    ),
    Goal(
        name=f"cycle_ns at {MANY} tasks, list / sums",
        metric="cycle_ns",
        variant="list",
        where={"tasks": MANY},
        over="sums",
        low=100.0,
        form=".4g",
        quoted=README,
    ),
    Goal(
        name=f"enqueue_ns at {MANY} tasks, rbtree / list",
        metric="enqueue_ns",
        variant="rbtree",
        where={"tasks": MANY},
        over="list",
        high=4.0,
        form=".4g",
        quoted=README,
    ),
    Goal(
        name=f"rbtree cycle_ns, {MANY} / 100 tasks",
        metric="cycle_ns",
        variant="rbtree",
        where={"tasks": MANY},
        over_where={"tasks": 100},
        high=3.0,
        form=".4g",
        quoted=README,
    ),
    Goal(
        name="share_error_sigma, every ratio",
        metric="share_error_sigma",
        by="ratio",
        high=4.0,
        form=".3g",
        worst=True,
        quoted=README,
    ),
    Goal(
        name="ratio_10_1",
        metric="ratio_10_1",
        low=9.0,
        high=11.0,
        form=".4g",
        quoted=README,
    ),
    Goal(
        name="yield_ratio: a hog beside one that uses a fifth of its turns",
        metric="yield_ratio",
        low=0.95,
        high=1.05,
        form=".3f",
    ),
    Goal(
        name="draw_error after 10,000 draws, low-variance / independent",
        metric="draw_error",
        variant="low-variance",
        over="independent",
        high=0.1,
        form=".3g",
    ),
    Goal(
        name="pipe_roundtrip_ns, lottery / other",
        metric="pipe_roundtrip_ns",
        variant="lottery",
        over="other",
        high=1.05,
        form=".4g",
        quoted=README,
    ),
    Goal(
        name="fair_floor_pct under a lottery hog",
        metric="fair_floor_pct",
        low=4.0,
        high=6.0,
        form=".3g",
        quoted=README,
    ),
    Goal(
        name="order_correlation of tickets and completion order",
        metric="order_correlation",
        high=STAIRCASE,
        form=".2f",
    ),
    Goal(
        name="smp_share_error_pct, the worst task of each case",
        metric="smp_share_error_pct",
        where={"case": ("1..16", "4:1:1:1:1")},
        by="case",
        high=3.0,
        form=".3g",
        least_n=3,
    ),
    Goal(
        name="displaced_share_pct in the first 100 ms",
        metric="displaced_share_pct",
        low=90.0,
        form=".3g",
    ),
)

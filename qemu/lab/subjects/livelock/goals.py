# SPDX-License-Identifier: GPL-2.0
"""What the livelock experiment must show."""

from __future__ import annotations

from lab.report.goals import Goal
from lab.subjects.livelock import governed
from lab.subjects.livelock import variants as v
from lab.subjects.livelock.derived import point
from lab.subjects.livelock.experiment import CALM_PPS, LOW, OVERLOAD

PAGE = ("Documentation/networking/napi-livelock.rst",)

HYBRID = v.HYBRID.name
MAIN = {"rate_function": "constant", "mitigation": "off"}


def _late(who: str, variant: str, *quoted: str) -> Goal:
    return Goal(
        name=f"frames later than 1 ms up to the loss-free rate, {who}",
        metric="late_over_best",
        variant=variant,
        by="offered_pps",
        high=1.1,
        form=".2f",
        least_n=5,
        quoted=quoted,
    )


GOALS = (
    Goal(
        name="median latency, hybrid / interrupt",
        metric="latency_us",
        variant=HYBRID,
        where={**MAIN, "ports": 1, "quantile": "p50", "offered_pps": LOW},
        by="offered_pps",
        over=v.INTERRUPT.name,
        high=1.05,
        quoted=PAGE,
    ),
    Goal(
        name="median latency at 2k, hybrid / e1000",
        metric="latency_us",
        variant=HYBRID,
        where={**point(1, CALM_PPS), "quantile": "p50"},
        over=v.E1000.name,
        high=1.05,
    ),
    _late("hybrid / best other", HYBRID, *PAGE),
    _late("e1000's governor / best other", v.GOVERNOR.name, *governed.PAGE),
    Goal(
        name="goodput of 3 ports, smallest / largest, hybrid",
        metric="port_split",
        variant=HYBRID,
        where={**MAIN, "ports": 3, "offered_pps": OVERLOAD},
        by="offered_pps",
        low=0.95,
        quoted=PAGE,
    ),
    Goal(
        name="switches per second, hybrid, the most at any load",
        metric="switches_per_s",
        where={},
        by="rate_function",
        high=100.0,
        form=".1f",
        worst=True,
        quoted=PAGE,
    ),
    *governed.GOALS,
)

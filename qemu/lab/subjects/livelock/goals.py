# SPDX-License-Identifier: GPL-2.0
"""What the livelock experiment must show."""

from __future__ import annotations

from lab.report.goals import Goal
from lab.subjects.livelock import governed
from lab.subjects.livelock import variants as v
from lab.subjects.livelock.derived import place, point
from lab.subjects.livelock.experiment import CALM_PPS, FLOOD_PPS, LOW, OVERLOAD, PORTS

PAGE = ("Documentation/networking/napi-livelock.rst",)

HYBRID = v.HYBRID.name
LIMITS = (20, 40, 60, 80)
THREADED = tuple(place(variant.name, rate) for variant in v.THREADS for rate in OVERLOAD)
MAIN = {"rate_function": "constant", "mitigation": "off"}


def _matched(ports: int, least: float, note: str = "", limits: int = 1) -> Goal:
    """Dominate threaded NAPI: more packets for the same CPU, with the best of the limits."""
    cards = "1 port" if ports == 1 else f"{ports} ports"
    return Goal(
        name="goodput at the user share of threaded NAPI, hybrid / threaded, " + cards + note,
        metric="matched_ratio",
        where={"ports": ports, "at": THREADED},
        by="at",
        low=least,
        least_n=limits,
        quoted=PAGE,
    )


GOALS = (
    Goal(
        name="goodput at 10 x the loss-free rate / peak, hybrid",
        metric="flat_ratio",
        where={"ports": PORTS},
        by="ports",
        low=0.95,
        quoted=PAGE,
    ),
    Goal(
        name="goodput at 60k, hybrid / e1000",
        metric="over_e1000_ratio",
        where={"ports": 1, "offered_pps": FLOOD_PPS},
        low=50.0,
        form=".0f",
        quoted=PAGE,
    ),
    *(_matched(ports, 1.0) for ports in PORTS),
    _matched(1, 1.2, ", stretch", limits=2),
    Goal(
        name="share of user processes - (100 - limit - source), hybrid, points",
        metric="limit_spare_points",
        where={"at": tuple(place(f"{limit} %", rate) for limit in LIMITS for rate in OVERLOAD)},
        by="at",
        low=-3.0,
        form="+.1f",
        quoted=PAGE,
    ),
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
    Goal(
        name="p99 latency up to the loss-free rate, hybrid / best other",
        metric="tail_over_best",
        by="offered_pps",
        high=1.1,
        form=".2f",
        least_n=5,
        quoted=PAGE,
    ),
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

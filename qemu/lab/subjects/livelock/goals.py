# SPDX-License-Identifier: GPL-2.0
"""The goals of the livelock experiment against its records."""

from __future__ import annotations

from collections.abc import Sequence

from lab.report.goals import Verdict, find, ratio, value
from lab.report.records import Param, Record
from lab.report.verdicts import at_least, at_most
from lab.subjects.livelock import variants as v
from lab.subjects.livelock.experiment import CONSTANT, LOW, OVERLOAD, PLACES, PORTS

FLAT_LEAST = 0.95
FLAT_TIMES = 10
LOSS_MOST = 0.001
"""Of what was offered, up to which nothing counts as lost."""
OVER_NAPI_LEAST = 50.0
THREADED_LEAST = 1.0
THREADED_STRETCH = 1.2
LIMITS = (20, 40, 60, 80)
LIMIT_POINTS = 3.0
MEDIAN_MOST = 1.05
TAIL_MOST = 1.1
SPLIT_LEAST = 0.95
SWITCHES_MOST = 100.0


def _ports(ports: int) -> str:
    return "1 port" if ports == 1 else f"{ports} ports"


def point(ports: int, offered_pps: int) -> dict[str, Param]:
    """The key of a point of the main curves."""
    return {
        "ports": ports,
        "offered_pps": offered_pps,
        "rate_function": CONSTANT,
        "mitigation": "off",
    }


def curve(records: Sequence[Record], metric: str, variant: str, ports: int) -> dict[int, float]:
    """A metric over the offered rate, constant and without mitigation."""
    found = find(records, metric, variant, ports=ports, rate_function=CONSTANT, mitigation="off")
    return dict(sorted((int(record.params["offered_pps"]), record.value) for record in found))


def lost(records: Sequence[Record], variant: str, ports: int) -> dict[int, float]:
    """Frames lost a second, wherever, over the offered rate."""
    found: dict[int, float] = {}
    for place in PLACES:
        key: dict[str, Param] = {"ports": ports, "rate_function": CONSTANT, "mitigation": "off"}
        for record in find(records, "lost_pps", variant, place=place, **key):
            rate = int(record.params["offered_pps"])
            found[rate] = found.get(rate, 0.0) + record.value
    return dict(sorted(found.items()))


def loss_free(records: Sequence[Record], variant: str, ports: int) -> int | None:
    """The highest rate up to which all arrives (MLFRR), of those measured."""
    most = None
    for rate, loss in lost(records, variant, ports).items():
        if loss > LOSS_MOST * rate:
            break
        most = rate
    return most


def flatness(records: Sequence[Record], variant: str, ports: int) -> float | None:
    """Goodput at ten times the loss-free rate over the peak, where that was measured."""
    goodput = curve(records, "goodput_pps", variant, ports)
    free = loss_free(records, variant, ports)
    beyond = [rate for rate in goodput if free and rate >= FLAT_TIMES * free]
    return goodput[beyond[0]] / max(goodput.values()) if beyond else None


def flat_goal(records: Sequence[Record]) -> Verdict:
    """No livelock: the curve stays at its peak."""
    found = {_ports(n): flatness(records, v.HYBRID.name, n) for n in PORTS}
    return at_least("goodput at 10 x the loss-free rate / peak, hybrid", FLAT_LEAST, found)


def napi_goal(records: Sequence[Record]) -> Verdict:
    """Against the in-tree driver; one packet a second where that gets none."""
    ours = value(records, "goodput_pps", v.HYBRID.name, **point(1, 60000))
    theirs = value(records, "goodput_pps", v.E1000.name, **point(1, 60000))
    quotient = ratio(ours, None if theirs is None else max(theirs, 1.0))
    return at_least("goodput at 60k, hybrid / e1000", OVER_NAPI_LEAST, {"": quotient}, ".0f")


def matched(records: Sequence[Record], threaded: str, ports: int, rate: int) -> float | None:
    """Hybrid's goodput over threaded NAPI's, with a limit that leaves at least as much CPU."""
    key = point(ports, rate)
    share = value(records, "user_share_pct", threaded, **key)
    if share is None:
        return None
    fair = [
        value(records, "goodput_pps", variant.name, **key)
        for variant in v.HYBRIDS
        if (value(records, "user_share_pct", variant.name, **key) or 0.0) >= share
    ]
    best = max((goodput for goodput in fair if goodput is not None), default=0.0)
    return ratio(best, value(records, "goodput_pps", threaded, **key))


def threaded_goal(records: Sequence[Record], ports: int, least: float, note: str = "") -> Verdict:
    """Dominate threaded NAPI: more packets for the same CPU."""
    found = {
        f"{variant.name} at {rate // 1000}k": matched(records, variant.name, ports, rate)
        for variant in v.THREADS
        for rate in OVERLOAD
    }
    what = "goodput at the user share of threaded NAPI, hybrid / threaded"
    what += f", {_ports(ports)}{note}"
    return at_least(what, least, found)


def limit_goal(records: Sequence[Record]) -> Verdict:
    """What all user processes have, beyond (100 - L) less the source's own cost."""
    found: dict[str, float | None] = {}
    for limit in LIMITS:
        for rate in OVERLOAD:
            name = v.limited(limit).name
            key = point(1, rate)
            hog = value(records, "user_share_pct", name, **key)
            apps = value(records, "apps_share_pct", name, **key)
            source = value(records, "source_pct", name, **key)
            spare = None
            if hog is not None and apps is not None and source is not None:
                spare = hog + apps - (100 - limit - source)
            found[f"{limit} % at {rate // 1000}k"] = spare
    what = "share of user processes - (100 - limit - source), hybrid, points"
    return at_least(what, -LIMIT_POINTS, found, "+.1f")


def median_goal(records: Sequence[Record]) -> Verdict:
    """At low load as fast as interrupts."""
    found = {}
    for rate in LOW:
        key: dict[str, Param] = {**point(1, rate), "quantile": "p50"}
        found[f"{rate // 1000}k"] = ratio(
            value(records, "latency_us", v.HYBRID.name, **key),
            value(records, "latency_us", v.INTERRUPT.name, **key),
        )
    return at_most("median latency, hybrid / interrupt", MEDIAN_MOST, found)


def tail_goal(records: Sequence[Record]) -> Verdict:
    """The 99 % quantile below the loss-free rate against whoever is best there."""
    free = loss_free(records, v.HYBRID.name, 1) or 0
    found = {}
    for rate in curve(records, "goodput_pps", v.HYBRID.name, 1):
        if rate > free:
            break
        key: dict[str, Param] = {**point(1, rate), "quantile": "p99"}
        others = [
            value(records, "latency_us", variant.name, **key)
            for variant in v.ALL
            if variant != v.HYBRID
        ]
        best = min((other for other in others if other is not None), default=None)
        ours = value(records, "latency_us", v.HYBRID.name, **key)
        found[f"{rate // 1000}k"] = ratio(ours, best)
    what = "p99 latency up to the loss-free rate, hybrid / best other"
    return at_most(what, TAIL_MOST, found, ".2f")


def split_goal(records: Sequence[Record]) -> Verdict:
    """Nobody starves: ports share an overload."""
    found = {
        f"{rate // 1000}k": value(records, "port_split", v.HYBRID.name, **point(3, rate))
        for rate in OVERLOAD
    }
    return at_least("goodput of 3 ports, smallest / largest, hybrid", SPLIT_LEAST, found)


def switches_goal(records: Sequence[Record]) -> Verdict:
    """Changes of strategy, at any load and any rate function."""
    found: dict[str, float | None] = {}
    for record in find(records, "switches_per_s"):
        if record.variant.startswith(v.HYBRID.name):
            name = str(record.params["rate_function"])
            found[name] = max(found.get(name) or 0.0, record.value)
    what = "switches per second, hybrid, the most at any load"
    return at_most(what, SWITCHES_MOST, found, ".1f")


def goals(records: Sequence[Record]) -> list[Verdict]:
    """The whole table, in its usual order."""
    return [
        flat_goal(records),
        napi_goal(records),
        *(threaded_goal(records, ports, THREADED_LEAST) for ports in PORTS),
        threaded_goal(records, 1, THREADED_STRETCH, ", stretch"),
        limit_goal(records),
        median_goal(records),
        tail_goal(records),
        split_goal(records),
        switches_goal(records),
    ]

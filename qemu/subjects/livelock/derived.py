# SPDX-License-Identifier: GPL-2.0
"""What follows from the records: quantities that compare curves, as records of their own.

Most are of the governor: what it makes of drivers, compared with other ways to run them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

from lab.report.goals import find, ratio, value
from lab.report.records import Param, Record
from subjects.livelock import variants as v
from subjects.livelock.experiment import (
    CALM_PPS,
    CONSTANT,
    COST_PPS,
    OVERLOAD,
    PORTS,
    STRAY,
    STRAY_PPS,
)

FLAT_TIMES = 10
"""The overload in which the curve is held against its peak, times the loss-free rate."""
LOSS_MOST = 0.001
"""Of what was offered, up to which nothing counts as lost."""
LATE_LEAST_PCT = 0.1
"""Of the frames: a dozen of 12,000. Smaller shares that are late count as equal."""
LATE_PEERS = {
    v.HYBRID.name: tuple(variant for variant in v.ALL if variant != v.HYBRID),
    v.GOVERNOR.name: (
        *(v.E1000, v.E1000_THREADED),
        *(variant for variant in v.IN_TREES if variant != v.GOVERNOR),
        *v.PEERS,
    ),
}
"""The peers whose late frames are compared with those of a variant."""
LIMITS = (20, 40, 60, 80)
"""In per cent. With more than 60 applications are behind, and receiving waits for them."""
UNITS = dict.fromkeys(("governed_share_points", "governed_limit_points"), "points")
"""Of what is no ratio."""
MAIN: dict[str, Param] = {"rate_function": CONSTANT, "mitigation": "off"}
"""The key of the main curves."""

Point = tuple[float, float]
Found = tuple[str, str, float | None, dict[str, Param], int]
"""Metric, variant, value, its parameters, and of how much it was made."""


def point(ports: int, offered_pps: int) -> dict[str, Param]:
    """The key of a point of the main curves."""
    return {"ports": ports, "offered_pps": offered_pps, **MAIN}


def curve(records: Sequence[Record], metric: str, variant: str, ports: int) -> dict[int, float]:
    """A metric over the offered rate; of frames lost the sum over the places."""
    points: dict[int, float] = defaultdict(float)
    for record in find(records, metric, variant, ports=ports, **MAIN):
        points[int(record.params["offered_pps"])] += record.value
    return dict(sorted(points.items()))


def loss_free(records: Sequence[Record], variant: str, ports: int) -> int | None:
    """The highest rate up to which all arrives (MLFRR), of those measured."""
    most = None
    for rate, loss in curve(records, "lost_pps", variant, ports).items():
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


def late_over_best(
    records: Sequence[Record], name: str, rate: int
) -> tuple[float | None, int] | None:
    """A variant's share of frames that are late over its best peer's, and the number of turns.

    None where it, or all of its peers, were not measured.
    """
    found = {r.variant: r for r in find(records, "late_share_pct", None, **point(1, rate))}
    mine, others = found.get(name), [found[p.name] for p in LATE_PEERS[name] if p.name in found]
    if not mine or not others:
        return None
    best = min(others, key=lambda record: record.value)
    shares = [max(record.value, LATE_LEAST_PCT) for record in (mine, best)]
    return ratio(*shares), min(record.n for record in (mine, *others))


def at(points: Sequence[Point], x: float) -> float:
    """y where the line through the points has x; beyond their ends that of the nearest one."""
    ordered = sorted(points)
    for (left, low), (right, high) in pairwise(ordered):
        if left <= x <= right:
            return low if left == right else low + (high - low) * (x - left) / (right - left)
    return ordered[0][1] if x < ordered[0][0] else ordered[-1][1]


def trade(records: Sequence[Record], name: str, key: dict[str, Param]) -> Point | None:
    """User share in per cent and goodput of a variant, None if one of them was not measured."""
    share = value(records, "user_share_pct", name, **key)
    goodput = value(records, "goodput_pps", name, **key)
    return None if share is None or goodput is None else (share, goodput)


def over_threads(
    records: Sequence[Record],
    key: dict[str, Param],
    driver: v.Governed = v.E1000S,
    peers: Sequence[v.Variant] = (),
) -> tuple[float, float] | None:
    """Goodput / that of threaded NAPI at its user share; share - its own at its goodput.

    The least over the ways to run threads, `peers` or else those of the driver; None where
    something was not measured.
    """
    ours = [both for of in driver.governors if (both := trade(records, of.name, key))]
    ratios, points = [], []
    for threads in peers or driver.threads:
        share, goodput = trade(records, threads.name, key) or (0.0, 0.0)
        if not goodput or not ours:
            return None
        ratios.append(at(ours, share) / goodput)
        points.append(at([(pps, left) for left, pps in ours], goodput) - share)
    return min(ratios), min(points)


def receiving(records: Sequence[Record], name: str, key: dict[str, Param]) -> float | None:
    """What receiving takes of the CPU, in per cent."""
    parts = ("user_share_pct", "apps_share_pct", "source_pct")
    taken = [value(records, metric, name, **key) for metric in parts]
    known = [part for part in taken if part is not None]
    return 100 - sum(known) if len(known) == len(parts) else None


def _late(records: Sequence[Record]) -> Iterator[Found]:
    for name in LATE_PEERS:
        free = loss_free(records, name, 1) or 0
        for rate in curve(records, "late_share_pct", name, 1):
            found = late_over_best(records, name, rate) if rate <= free else None
            if found:
                yield ("late_over_best", name, found[0], {"offered_pps": rate}, found[1])


def _of_driver(records: Sequence[Record], driver: v.Governed) -> Iterator[Found]:
    name = driver.governor.name
    for ports in PORTS:
        flat = flatness(records, name, ports)
        yield ("governed_flat_ratio", name, flat, {"ports": ports}, 1)
        for rate in OVERLOAD:
            key = point(ports, rate)
            stock = value(records, "goodput_pps", driver.plain.name, **key)
            goodput = value(records, "goodput_pps", name, **key)
            than = None if stock is None else max(stock, 1.0)
            place: dict[str, Param] = {"ports": ports, "offered_pps": rate}
            yield ("governed_stock_ratio", name, ratio(goodput, than), place, 1)
            both = over_threads(records, key, driver)
            if both:
                yield ("governed_goodput_ratio", name, both[0], place, 1)
                yield ("governed_share_points", name, both[1], place, 1)
            niced = over_threads(records, key, driver, driver.niced) if driver.niced else None
            if niced:
                yield ("governed_niced_ratio", name, niced[0], place, 1)


def _costs(records: Sequence[Record]) -> Iterator[Found]:
    """CPU time for a frame: off over compiled out, and on but not needed over off."""
    for metric, variant, over, rates in (
        ("governed_off_ratio", v.SWITCHED_OFF, v.COMPILED_OUT, COST_PPS),
        ("governed_idle_ratio", v.GOVERNOR, v.PLAIN, (CALM_PPS,)),
    ):
        for rate in rates:
            both = [
                record
                for of in (variant, over)
                for record in find(records, "receiving_ns", of.name, **point(1, rate))
            ]
            if len(both) == 2:
                number = ratio(both[0].value, both[1].value)
                turns = min(record.n for record in both)
                yield (metric, variant.name, number, {"offered_pps": rate}, turns)


def _found(records: Sequence[Record]) -> Iterator[Found]:
    yield from _late(records)
    for driver in (v.OWN, v.E1000S, v.E1000ES, v.VIRTIOS):
        yield from _of_driver(records, driver)
    for variant in v.WAYS:
        for rate in STRAY_PPS:
            alone = value(records, "goodput_pps", variant.name, **point(1, rate // 2))
            stray = {**point(1, rate), "rate_function": STRAY}
            beside = value(records, "goodput_pps", variant.name, **stray)
            at_rate: dict[str, Param] = {"offered_pps": rate}
            yield ("governed_beside_ratio", variant.name, ratio(beside, alone), at_rate, 1)
    for limit in LIMITS:
        name = v.limited(v.GOVERNOR, limit).name
        for rate in OVERLOAD:
            part = receiving(records, name, point(1, rate))
            off = None if part is None else abs(part - limit)
            where: dict[str, Param] = {"limit": limit, "offered_pps": rate}
            yield ("governed_limit_points", name, off, where, 1)
    yield from _costs(records)


def derived(records: Sequence[Record]) -> list[Record]:
    """Records of what could be computed."""
    name = records[0].experiment if records else ""
    return [
        Record(name, metric, variant, params, number, UNITS.get(metric, "ratio"), n, 0.0)
        for metric, variant, number, params, n in _found(records)
        if number is not None
    ]

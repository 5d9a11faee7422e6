# SPDX-License-Identifier: GPL-2.0
"""What the governor makes of drivers, compared with other ways to run them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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

LIMITS = (20, 40, 60)
"""In per cent. With more than 60 applications are behind, and receiving waits for them."""

Point = tuple[float, float]


def point(ports: int, offered_pps: int) -> dict[str, Param]:
    """The key of a point of the main curves."""
    return {
        "ports": ports,
        "offered_pps": offered_pps,
        "rate_function": CONSTANT,
        "mitigation": "off",
    }


def at(points: Sequence[Point], x: float) -> float:
    """y where the line through the points has x; beyond their ends that of the nearest one."""
    ordered = sorted(points)
    for (left, low), (right, high) in pairwise(ordered):
        if left <= x <= right:
            return low if left == right else low + (high - low) * (x - left) / (right - left)
    return ordered[0][1] if x < ordered[0][0] else ordered[-1][1]


def frontier(
    records: Sequence[Record], key: dict[str, Param], driver: v.Governed = v.E1000S
) -> list[Point]:
    """User share in per cent and goodput of the governor, with each of its limits."""
    found = [
        [value(records, metric, of.name, **key) for metric in ("user_share_pct", "goodput_pps")]
        for of in driver.governors
    ]
    return [(share, pps) for share, pps in found if share is not None and pps is not None]


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
    ours = frontier(records, key, driver)
    ratios, points = [], []
    for threads in peers or driver.threads:
        share = value(records, "user_share_pct", threads.name, **key)
        goodput = value(records, "goodput_pps", threads.name, **key)
        if share is None or not goodput or not ours:
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


Found = tuple[str, str, float | None, dict[str, Param], int]
"""Metric, variant, value, its parameters, and of how much it was made."""


def _of_driver(
    records: Sequence[Record], driver: v.Governed, flat: Callable[[str, int], float | None]
) -> Iterator[Found]:
    name = driver.governor.name
    for ports in PORTS:
        yield ("governed_flat_ratio", name, flat(name, ports), {"ports": ports}, 1)
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


def found(records: Sequence[Record], flat: Callable[[str, int], float | None]) -> Iterator[Found]:
    """What follows from the records. flat: goodput in overload / peak of a variant, by cards."""
    for driver in (v.OWN, v.E1000S, v.E1000ES, v.VIRTIOS):
        yield from _of_driver(records, driver, flat)
    for variant in (v.GOVERNOR, v.PLAIN, v.PLAIN_THREADED):
        for rate in STRAY_PPS:
            alone = value(records, "goodput_pps", variant.name, **point(1, rate // 2))
            stray = {**point(1, rate), "rate_function": STRAY}
            beside = value(records, "goodput_pps", variant.name, **stray)
            at_rate: dict[str, Param] = {"offered_pps": rate}
            yield ("governed_beside_ratio", variant.name, ratio(beside, alone), at_rate, 1)
    for limit in LIMITS:
        for rate in OVERLOAD:
            part = receiving(records, v.governed(limit).name, point(1, rate))
            off = None if part is None else abs(part - limit)
            where: dict[str, Param] = {"limit": limit, "offered_pps": rate}
            yield ("governed_limit_points", v.governed(limit).name, off, where, 1)
    yield from _costs(records)

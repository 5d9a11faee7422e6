# SPDX-License-Identifier: GPL-2.0
"""What follows from the records: quantities that compare curves, as records of their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from lab.report.goals import find, ratio, value
from lab.report.records import Param, Record
from lab.subjects.livelock import governed
from lab.subjects.livelock import variants as v
from lab.subjects.livelock.experiment import CONSTANT, PLACES

FLAT_TIMES = 10
"""The overload in which the curve is held against its peak, times the loss-free rate."""
LOSS_MOST = 0.001
"""Of what was offered, up to which nothing counts as lost."""

UNITS = {
    "flat_ratio": "ratio",
    "over_e1000_ratio": "ratio",
    "matched_ratio": "ratio",
    "limit_spare_points": "points",
    "tail_over_best": "ratio",
    **governed.UNITS,
}
"""Metrics and their units."""


def point(ports: int, offered_pps: int) -> dict[str, Param]:
    """The key of a point of the main curves."""
    return {
        "ports": ports,
        "offered_pps": offered_pps,
        "rate_function": CONSTANT,
        "mitigation": "off",
    }


def place(what: str, offered_pps: int) -> str:
    """The name of a row that one parameter does not tell from the others."""
    return f"{what} at {offered_pps // 1000}k"


def curve(records: Sequence[Record], metric: str, variant: str, ports: int) -> dict[int, float]:
    """A metric over the offered rate, constant and without mitigation."""
    found = find(records, metric, variant, ports=ports, rate_function=CONSTANT, mitigation="off")
    return dict(sorted((int(record.params["offered_pps"]), record.value) for record in found))


def lost(records: Sequence[Record], variant: str, ports: int) -> dict[int, float]:
    """Frames lost a second, wherever, over the offered rate."""
    found: dict[int, float] = {}
    for where in PLACES:
        key: dict[str, Param] = {"ports": ports, "rate_function": CONSTANT, "mitigation": "off"}
        for record in find(records, "lost_pps", variant, place=where, **key):
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


def over_e1000(records: Sequence[Record], ports: int, rate: int) -> float | None:
    """The hybrid's goodput over the in-tree driver's; one packet a second where that has none."""
    ours = value(records, "goodput_pps", v.HYBRID.name, **point(ports, rate))
    theirs = value(records, "goodput_pps", v.E1000.name, **point(ports, rate))
    return ratio(ours, None if theirs is None else max(theirs, 1.0))


def shares(records: Sequence[Record], ports: int, rate: int) -> dict[str, float]:
    """What each hybrid leaves to others, in per cent."""
    return {
        variant.name: found
        for variant in v.HYBRIDS
        if (found := value(records, "user_share_pct", variant.name, **point(ports, rate)))
        is not None
    }


def matched(records: Sequence[Record], threaded: str, ports: int, rate: int) -> float | None:
    """The hybrid's goodput over threaded NAPI's, with a limit that leaves as much CPU.

    0 if none of several limits leaves that much; of one limit alone that says nothing.
    """
    key = point(ports, rate)
    share = value(records, "user_share_pct", threaded, **key)
    hybrids = shares(records, ports, rate)
    if share is None:
        return None
    fair = [
        value(records, "goodput_pps", name, **key) or 0.0
        for name, found in hybrids.items()
        if found >= share
    ]
    if not fair and len(hybrids) < 2:
        return None
    best = max(fair, default=0.0)
    return ratio(best, value(records, "goodput_pps", threaded, **key))


def limit_spare(records: Sequence[Record], limit: int, rate: int) -> float | None:
    """What all user processes have, beyond (100 - L) less the source's own cost."""
    name, key = v.limited(limit).name, point(1, rate)
    hog = value(records, "user_share_pct", name, **key)
    apps = value(records, "apps_share_pct", name, **key)
    source = value(records, "source_pct", name, **key)
    if hog is None or apps is None or source is None:
        return None
    return hog + apps - (100 - limit - source)


def tail_over_best(records: Sequence[Record], rate: int) -> float | None:
    """The hybrid's 99 % quantile of the latency over that of the best other variant."""
    key: dict[str, Param] = {**point(1, rate), "quantile": "p99"}
    others = [
        value(records, "latency_us", variant.name, **key)
        for variant in v.ALL
        if variant != v.HYBRID
    ]
    best = min((other for other in others if other is not None), default=None)
    return ratio(value(records, "latency_us", v.HYBRID.name, **key), best)


def _rates(records: Sequence[Record], variant: str, ports: int) -> list[int]:
    return list(curve(records, "goodput_pps", variant, ports))


def _turns(records: Sequence[Record], rate: int) -> int:
    """How often the hybrid was measured at a rate."""
    found = find(records, "goodput_pps", v.HYBRID.name, **point(1, rate))
    return min((record.n for record in found), default=0)


def _found(records: Sequence[Record]) -> Iterator[governed.Found]:
    hybrid = v.HYBRID.name
    for ports in sorted({int(r.params["ports"]) for r in records}):
        yield ("flat_ratio", hybrid, flatness(records, hybrid, ports), {"ports": ports}, 1)
        for rate in _rates(records, hybrid, ports):
            key: dict[str, Param] = {"ports": ports, "offered_pps": rate}
            yield ("over_e1000_ratio", hybrid, over_e1000(records, ports, rate), key, 1)
            for threaded in (variant.name for variant in v.THREADS):
                quotient = matched(records, threaded, ports, rate)
                at = {**key, "at": place(threaded, rate)}
                limits = len(shares(records, ports, rate))
                yield ("matched_ratio", threaded, quotient, at, limits)
    free = loss_free(records, hybrid, 1) or 0
    for rate in _rates(records, hybrid, 1):
        if rate <= free:
            key = {"offered_pps": rate}
            turns = _turns(records, rate)
            yield ("tail_over_best", hybrid, tail_over_best(records, rate), key, turns)
    yield from governed.found(records, partial(flatness, records))
    for limit in v.LIMITS:
        name = v.limited(limit).name
        for rate in _rates(records, name, 1):
            at = {"offered_pps": rate, "at": place(f"{limit} %", rate)}
            yield ("limit_spare_points", name, limit_spare(records, limit, rate), at, 1)


def derived(records: Sequence[Record]) -> list[Record]:
    """Records of what could be computed."""
    return [
        Record(
            experiment=records[0].experiment,
            metric=metric,
            variant=variant,
            params=params,
            value=number,
            unit=UNITS[metric],
            n=n,
            spread=0.0,
        )
        for metric, variant, number, params, n in _found(records)
        if number is not None
    ]

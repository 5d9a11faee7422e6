# SPDX-License-Identifier: GPL-2.0
"""What follows from the records: quantities that compare curves, as records of their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from lab.report.goals import find, ratio
from lab.report.records import Param, Record
from subjects.livelock import governed
from subjects.livelock import variants as v
from subjects.livelock.experiment import CONSTANT, PLACES

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


def curve(
    records: Sequence[Record], metric: str, variant: str, ports: int, **more: Param
) -> dict[int, float]:
    """A metric over the offered rate, constant and without mitigation."""
    key: dict[str, Param] = {"ports": ports, "rate_function": CONSTANT, "mitigation": "off"}
    found = find(records, metric, variant, **key, **more)
    return dict(sorted((int(record.params["offered_pps"]), record.value) for record in found))


def lost(records: Sequence[Record], variant: str, ports: int) -> dict[int, float]:
    """Frames lost a second, wherever, over the offered rate."""
    found: dict[int, float] = {}
    for where in PLACES:
        for rate, pps in curve(records, "lost_pps", variant, ports, place=where).items():
            found[rate] = found.get(rate, 0.0) + pps
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


def late_over_best(
    records: Sequence[Record], name: str, rate: int
) -> tuple[float | None, int] | None:
    """A variant's share of frames that are late over its best peer's, and the number of turns.

    None where it, or all of its peers, were not measured.
    """
    found = {r.variant: r for r in find(records, "late_share_pct", None, **governed.point(1, rate))}
    mine, others = found.get(name), [found[p.name] for p in LATE_PEERS[name] if p.name in found]
    if not mine or not others:
        return None
    best = min(others, key=lambda record: record.value)
    shares = [max(record.value, LATE_LEAST_PCT) for record in (mine, best)]
    return ratio(*shares), min(record.n for record in (mine, *others))


def _late(records: Sequence[Record], name: str) -> Iterator[governed.Found]:
    free = loss_free(records, name, 1) or 0
    for rate in curve(records, "late_share_pct", name, 1):
        found = late_over_best(records, name, rate) if rate <= free else None
        if found:
            yield ("late_over_best", name, found[0], {"offered_pps": rate}, found[1])


def _found(records: Sequence[Record]) -> Iterator[governed.Found]:
    for name in LATE_PEERS:
        yield from _late(records, name)
    yield from governed.found(records, partial(flatness, records))


def _unit(metric: str) -> str:
    return "points" if metric.endswith("_points") else "ratio"


def derived(records: Sequence[Record]) -> list[Record]:
    """Records of what could be computed."""
    name = records[0].experiment if records else ""
    return [
        Record(name, metric, variant, params, number, _unit(metric), n, 0.0)
        for metric, variant, number, params, n in _found(records)
        if number is not None
    ]

# SPDX-License-Identifier: GPL-2.0
"""From the rows of livelock-run to samples, records and raw tables."""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Iterator, Sequence

from lab import LabError
from lab.guest.result import BootResult
from lab.report.measured import Measured, RawTable, tabulate
from lab.report.records import Param, Record, Sample
from lab.report.rows import read_rows
from lab.report.summary import summarise
from subjects.livelock.derived import derived
from subjects.livelock.experiment import METRICS, PLACES, QUANTILES, Curve
from subjects.livelock.output import PointRow

NAME = "livelock"
RAW = ("points", "latencies", "best")
"""Names of the raw tables."""

PLAIN = (
    *("goodput_pps", "user_share_pct", "apps_share_pct", "source_pct"),
    *("switches_per_s", "buffer_full"),
)
"""Those that livelock-run prints."""

KEY = ("variant", "ports", "rate_function", "mitigation", "offered_pps")
"""What identifies a point."""
TURN = "turn"
"""The raw tables' column of the turn, from 1, in which a point was measured."""
BETTER = {"goodput_pps": max, "user_share_pct": max, "latency_us": min}
"""What the table of the best compares, and which value is the best."""


def params(curve: Curve, row: PointRow) -> dict[str, Param]:
    """What identifies a point beside its variant, in the order of KEY."""
    return {
        "ports": curve.ports,
        "rate_function": curve.function,
        "mitigation": curve.mitigation,
        "offered_pps": row.offered_pps,
    }


def _values(row: PointRow) -> Iterator[tuple[str, float, dict[str, Param]]]:
    """Metric, value, and what tells it from others of the metric.

    Without a frame in the window there is no latency, no cost of one, and no split
    between ports.
    """
    for metric in PLAIN:
        yield (metric, getattr(row, metric), {})
    for place in PLACES:
        lost = getattr(row, f"lost_{place}")
        yield ("lost_pps", 1000 * lost / row.duration_ms, {"place": place})
    if row.latencies:
        for quantile in QUANTILES:
            yield ("latency_us", getattr(row, f"latency_{quantile}_us"), {"quantile": quantile})
        yield ("late_share_pct", row.late_pct(), {})
    if row.goodput_pps:
        yield ("receiving_ns", row.receiving_ns(), {})
    if row.ports > 1 and row.port_most_pps:
        yield ("port_split", row.port_least_pps / row.port_most_pps, {})


def _samples(curve: Curve, row: PointRow, run: str) -> Iterator[Sample]:
    for metric, value, more in _values(row):
        at = {**params(curve, row), **more}
        yield Sample(NAME, metric, curve.variant.name, at, value, METRICS[metric], run)


def _tabulate(raw: dict[str, RawTable], curve: Curve, row: PointRow, turn: int) -> None:
    """A point as the tool printed it, and the distribution of its latencies."""
    key = {"variant": curve.variant.name, **params(curve, row), TURN: turn}
    fields = dataclasses.asdict(row)
    del fields["function"], fields["latency_ns"]
    tabulate(raw, "points", {**key, **fields, **key})
    for bound, count in row.distribution():
        tabulate(raw, "latencies", {**key, "from_ns": bound, "frames": count})


def check_row(curve: Curve, row: PointRow) -> None:
    """Frames may be lost, but not without a trace, nor twice.  Raises LabError."""
    where = f"{curve.name}: {row.offered_pps} packets/s"
    if row.missing:
        raise LabError(
            f"{where}: {row.missing} frames missing: "
            "every frame must be received or lost at one place",
            exit_code=1,
        )
    if row.disorder or row.strange:
        raise LabError(
            f"{where}: {row.disorder} frames out of order, {row.strange} strange: must be 0",
            exit_code=1,
        )


def _rows(curve: Curve, lines: Sequence[str]) -> list[PointRow]:
    """One row for each window.  Raises LabError if they are others."""
    rows = read_rows(PointRow, lines)
    rates = tuple(row.offered_pps for row in rows)
    wanted = tuple(rate for rate, _ in curve.windows)
    if rates != wanted:
        raise LabError(f"{curve.name}: rates {rates}: must be {wanted}", exit_code=1)
    for row in rows:
        check_row(curve, row)
    return rows


def _place(record: Record) -> tuple[Param, ...]:
    """Where variants are compared."""
    return tuple(record.params[name] for name in KEY[1:])


def best(records: Sequence[Record]) -> RawTable:
    """The best variant at every point: a hybrid is not measured at each."""
    table = RawTable([*KEY[1:], "metric", "best", "value", "hybrid"])
    groups: dict[tuple[object, ...], list[Record]] = {}
    for record in records:
        median = record.params.get("quantile", "p50") == "p50"
        if record.metric in BETTER and median and "-limit" not in record.variant:
            groups.setdefault((record.metric, *_place(record)), []).append(record)
    for group in groups.values():
        metric = group[0].metric
        choose = BETTER[metric](group, key=lambda record: record.value)
        ours = [record.value for record in group if record.variant == "hybrid"]
        hybrid: Param = ours[0] if ours else ""
        table.rows.append([*_place(choose), metric, choose.variant, choose.value, hybrid])
    return table


def evaluate(finished: Sequence[BootResult]) -> Measured:
    """Everything the boots printed.  Raises LabError (exit code 1) for output that is not right."""
    raw: dict[str, RawTable] = {}
    samples: list[Sample] = []
    for done in finished:
        for program in done.boot.programs:
            measured = program.what
            if not isinstance(measured, Curve):
                continue
            rows = _rows(measured, done.lines(program))
            for row, (_, turn) in zip(rows, measured.windows, strict=True):
                _tabulate(raw, measured, row, turn)
                samples.extend(_samples(measured, row, str(turn)))
    # The median over the turns of each.
    records = summarise(samples, lambda _: statistics.median)
    raw["best"] = best(records)
    return Measured([*records, *derived(records)], samples, raw)

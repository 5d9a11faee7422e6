# SPDX-License-Identifier: GPL-2.0
"""From ipclat's rows to records: one for each statistic of each mechanism."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from lab.guest.result import BootResult
from lab.report.measured import Measured, RawTable, tabulate
from lab.report.records import Param, Record, Sample
from lab.report.rows import read_results
from subjects.ipc.experiment import Cell
from subjects.ipc.goals import NATIVE, REFERENCE

NAME = "ipc"
RAW = ("runs", "histograms")
STATS = ("mean", "low", "high", "p1", "p50", "p99", "p999", "max")
"""Values of the parameter `stat`; low and high are the mean's 95 % interval."""
CYCLES = ("mean", "low", "high", "p1", "p99")
"""Those of the reference's tables in cycles."""
UNITS = {"ns": STATS, "cycles": CYCLES}
"""What is said in each unit."""
PERCENTILES = {"p1": "1", "p50": "50", "p99": "99", "p999": "99.9"}


@dataclass(frozen=True)
class LatencyRow:
    """ipclat: all samples of a mechanism; None where there is nothing to say."""

    TOOL: ClassVar[str] = "ipclat"
    mechanism: str
    missing: str
    samples: int
    repeats: int
    mean_ns: float | None
    low_ns: float | None
    high_ns: float | None
    min_ns: float | None
    max_ns: float | None
    sd_ns: float | None
    percentiles_ns: dict[str, float | None]
    mean_cycles: float | None
    low_cycles: float | None
    high_cycles: float | None
    percentiles_cycles: dict[str, float | None]
    model_mean_ns: float | None
    log_sd: float | None
    distance_normal: float | None
    distance_lognormal: float | None
    buckets_ns: list[tuple[float, float, int]]

    def stat(self, stat: str, unit: str) -> float | None:
        """One of STATS."""
        if stat in PERCENTILES:
            found: dict[str, float | None] = getattr(self, f"percentiles_{unit}")
            return found[PERCENTILES[stat]]
        value: float | None = getattr(self, f"{stat}_{unit}")
        return value


@dataclass(frozen=True)
class Bucket:
    """Samples from `low` to `high` ns."""

    low: float
    high: float
    count: int


def params_of(cell: Cell) -> dict[str, Param]:
    """The parameters that identify a record, apart from its statistic."""
    return {"where": cell.where, "load": cell.load, "policy": cell.policy}


def _records(cell: Cell, row: LatencyRow) -> Iterator[Record]:
    for unit, stat in ((unit, stat) for unit, stats in UNITS.items() for stat in stats):
        value = row.stat(stat, unit)
        # one repeat has no interval
        if value is not None:
            params = {**params_of(cell), "stat": stat}
            # of the samples, so of their mean only
            spread = {"sd": row.sd_ns or 0.0} if (unit, stat) == ("ns", "mean") else {}
            metric = f"latency_{unit}"
            yield Record(NAME, metric, row.mechanism, params, value, unit, row.samples, spread)


def _reference(cell: Cell, row: LatencyRow) -> Iterator[Record]:
    """Whether a mechanism of the reference was measured as the reference did."""
    if row.mechanism in REFERENCE and params_of(cell) == NATIVE:
        there = float(row.samples > 0)
        yield Record(NAME, "reference_measured", row.mechanism, NATIVE, there, "bool", 1, 0.0)


def _fields(row: LatencyRow) -> dict[str, Param]:
    """A line of the raw table; what is None is empty."""
    named = ("mechanism", "missing", "samples", "repeats")
    fields: dict[str, Param] = {name: getattr(row, name) for name in named}
    for unit, stats in UNITS.items():
        fields |= {f"{stat}_{unit}": _cell(row.stat(stat, unit)) for stat in stats}
    models = ("sd_ns", "model_mean_ns", "log_sd", "distance_normal", "distance_lognormal")
    return fields | {name: _cell(getattr(row, name)) for name in models}


def _cell(value: float | None) -> Param:
    return "" if value is None else value


def _read(done: BootResult) -> Iterator[tuple[Cell, LatencyRow]]:
    for program in done.boot.programs:
        assert isinstance(program.what, Cell)
        for row in read_results(LatencyRow, done.lines(program)):
            yield program.what, row


def evaluate(finished: Sequence[BootResult]) -> Measured:
    """Everything that was measured; what could not be here is in the raw table, with why."""
    raw = {"histograms": RawTable([*NATIVE, "mechanism", "from_ns", "to_ns", "count"])}
    records: list[Record] = []
    reference: list[Record] = []
    for cell, row in (pair for done in finished for pair in _read(done)):
        place = params_of(cell)
        tabulate(raw, "runs", {**place, **_fields(row)})
        reference += _reference(cell, row)
        if row.samples:
            records += _records(cell, row)
        key = [*place.values(), row.mechanism]
        raw["histograms"].rows += [[*key, *bucket] for bucket in row.buckets_ns]
    samples = [
        Sample(NAME, one.metric, one.variant, one.params, one.value, one.unit, run="1")
        for one in records
    ]
    return Measured([*records, *reference], samples, raw)

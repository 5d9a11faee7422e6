# SPDX-License-Identifier: GPL-2.0
"""From ipclat's rows to records: one for each statistic of each mechanism."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from lab import LabError
from lab.guest.result import BootResult
from lab.report.measured import Measured, RawTable
from lab.report.records import Param, Record, Sample
from lab.report.rows import read_rows
from lab.subjects.ipc.experiment import Cell
from lab.subjects.ipc.goals import NATIVE, REFERENCE

NAME = "ipc"
RAW = ("runs", "histograms")
STATS = ("mean", "low", "high", "p1", "p50", "p99", "p999", "max")
"""Values of the parameter `stat`; low and high bound the mean under a log-normal model."""


@dataclass(frozen=True)
class LatencyRow:
    """ipclat: all samples of a mechanism."""

    TOOL: ClassVar[str] = "ipclat"
    mechanism: str
    missing: str
    samples: int
    repeats: int
    mean_ns: float
    low_ns: float
    high_ns: float
    p1_ns: float
    p50_ns: float
    p99_ns: float
    p999_ns: float
    max_ns: float
    sd_ns: float
    model_mean_ns: float
    log_sd: float
    distance_normal: float
    distance_lognormal: float
    tsc_ghz: float
    clock_overhead_ns: float
    buckets: str


@dataclass(frozen=True)
class Bucket:
    """Samples from `low` to `high` ns."""

    low: float
    high: float
    count: int


def read_buckets(text: str) -> list[Bucket]:
    """The histogram of a row.  Raises LabError for text that is none."""
    found = []
    try:
        for part in text.split():
            ends, _, count = part.partition(":")
            low, _, high = ends.partition("-")
            found.append(Bucket(float(low), float(high), int(count)))
    except ValueError:
        raise LabError(f"ipclat: buckets {text[:40]!r}: must be LOW-HIGH:COUNT", 1) from None
    return found


def params_of(cell: Cell) -> dict[str, Param]:
    """What a record is told from others by, beside its statistic."""
    return {"policy": cell.policy, "where": cell.where, "load": cell.load}


def _records(cell: Cell, row: LatencyRow) -> Iterator[Record]:
    for stat in STATS:
        yield Record(
            experiment=NAME,
            metric="latency_ns",
            variant=row.mechanism,
            params={**params_of(cell), "stat": stat},
            value=getattr(row, f"{stat}_ns"),
            unit="ns",
            n=row.samples,
            spread={"sd": row.sd_ns},
        )


def _reference(cell: Cell, row: LatencyRow) -> Iterator[Record]:
    """Whether a mechanism of the reference was measured as the reference did."""
    if row.mechanism in REFERENCE and params_of(cell) == NATIVE:
        yield Record(
            experiment=NAME,
            metric="reference_measured",
            variant=row.mechanism,
            params=NATIVE,
            value=float(row.samples > 0),
            unit="bool",
            n=1,
            spread=0.0,
        )


def _sample(record: Record) -> Sample:
    return Sample(
        NAME, record.metric, record.variant, record.params, record.value, record.unit, "1"
    )


def evaluate(finished: Sequence[BootResult]) -> Measured:
    """Everything that was measured; what could not be here is in the raw table, with why."""
    names = [item.name for item in dataclasses.fields(LatencyRow) if item.name != "buckets"]
    where = ["where", "load", "policy"]
    runs = RawTable([*where, *names])
    histograms = RawTable([*where, "mechanism", "from_ns", "to_ns", "count"])
    records: list[Record] = []
    reference: list[Record] = []
    for done in finished:
        for program in done.boot.programs:
            assert isinstance(program.what, Cell)
            cell = program.what
            place: list[Param] = [cell.where, cell.load, cell.policy]
            for row in read_rows(LatencyRow, done.lines(program)):
                runs.rows.append([*place, *(getattr(row, name) for name in names)])
                reference += _reference(cell, row)
                if not row.samples:
                    continue
                records += _records(cell, row)
                for bucket in read_buckets(row.buckets):
                    values: list[Param] = [bucket.low, bucket.high, bucket.count]
                    histograms.rows.append([*place, row.mechanism, *values])
    raw = {"runs": runs, "histograms": histograms}
    samples = [_sample(record) for record in records]
    return Measured([*records, *reference], samples, raw)

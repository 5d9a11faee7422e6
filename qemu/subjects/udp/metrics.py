# SPDX-License-Identifier: GPL-2.0
"""From the rows of udprate and iperf3 to samples and records."""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from lab.guest.result import BootResult
from lab.report.measured import Measured, RawTable, tabulate
from lab.report.records import Param, Sample
from lab.report.rows import read_rows
from lab.report.summary import summarise
from subjects.udp import iperf
from subjects.udp.experiment import METRICS, OURS, QUANTILES, Cell

NAME = "udp"
RAW = ("runs",)


@dataclass(frozen=True)
class RateRow:
    """What is said of every sender."""

    TOOL: ClassVar[str] = iperf.NAME
    workers: int
    requested_mbps: float
    achieved_mbps: float
    rate_error_pct: float
    rate_sd_mbps: float
    cpu_pct: float


@dataclass(frozen=True)
class SentRow(RateRow):
    """udprate says more: gaps between packets of a worker, and how late they were, us."""

    TOOL: ClassVar[str] = "udprate"
    elapsed_s: float
    packets: int
    skipped: int
    lost: int
    received_mbps: float
    gap_us_p1: float
    gap_us_p50: float
    gap_us_p99: float
    gap_us_p999: float
    late_us_p50: float
    late_us_p99: float
    late_us_max: float


def params_of(cell: Cell) -> dict[str, Param]:
    """What tells a record from others; the greatest rate has no rate that was asked for."""
    names = ("workers", "where", "load", "policy")
    params: dict[str, Param] = {name: getattr(cell, name) for name in names}
    return params if cell.most else {"rate_mbps": cell.rate_mbps, **params}


def _samples(cell: Cell, row: RateRow) -> Iterator[Sample]:
    def sample(metric: str, value: float, **more: Param) -> Sample:
        params = {**params_of(cell), **more}
        run = str(cell.repeat)
        return Sample(NAME, metric, cell.variant, params, value, METRICS[metric], run)

    if cell.most:
        yield sample("max_mbps", row.achieved_mbps)
        return
    for metric in ("rate_error_pct", "rate_sd_mbps", "cpu_pct"):
        yield sample(metric, getattr(row, metric))
    if isinstance(row, SentRow):
        if cell.variant in OURS:
            error = 100 * (row.received_mbps / row.requested_mbps - 1)
            yield sample("received_error_pct", error)
        for quantile in QUANTILES:
            yield sample("gap_us", getattr(row, f"gap_us_{quantile}"), quantile=quantile)


def evaluate(finished: Sequence[BootResult]) -> Measured:
    """Everything that was printed.  Raises LabError (exit code 1) for what is not right."""
    raw: dict[str, RawTable] = {}
    names = [item.name for item in dataclasses.fields(SentRow)]
    samples: list[Sample] = []
    for done in finished:
        for program in done.boot.programs:
            assert isinstance(program.what, Cell)
            cell = program.what
            cls = RateRow if cell.variant == iperf.NAME else SentRow
            (row,) = read_rows(cls, done.lines(program))
            samples += _samples(cell, row)
            key = {"where": cell.where, "load": cell.load, "policy": cell.policy}
            fields = {name: getattr(row, name, "") for name in names}
            tabulate(raw, "runs", {**key, "variant": cell.variant, "run": cell.repeat, **fields})
    # The median, as a disturbed one says little.
    return Measured(summarise(samples, lambda _: statistics.median), samples, raw)

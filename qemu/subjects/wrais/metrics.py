# SPDX-License-Identifier: GPL-2.0
"""From the rows of wrais-run to samples, records and raw tables."""

from __future__ import annotations

import dataclasses
import statistics
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lab import LabError
from lab.guest.result import BootResult
from lab.report.goals import find
from lab.report.measured import Measured, RawTable, tabulate
from lab.report.records import Param, Record, Sample
from lab.report.rows import read_rows
from lab.report.summary import Statistic, summarise
from subjects.wrais.applications import APP_MEAN, APPS, PAIRS
from subjects.wrais.experiment import PGBENCH, SQLITE, STARTUPS, Cell
from subjects.wrais.output import QUANTILES, PgbenchRow, ProbeRow, SqliteRow
from subjects.wrais.variants import BFQ, ON, PLAIN, WRAIS, Variant

NAME = "wrais"
TABLES: dict[str, tuple[type[Any], str]] = {
    "probe": (ProbeRow, ""),
    "sqlite": (SqliteRow, "sqlite_commit_ms"),
    "pgbench": (PgbenchRow, "pgbench_ms"),
}
"""The rows of each raw table, and the metric of a database."""
RAW = tuple(TABLES)

UNITS = {
    "startup_s": "s",
    "startup_over_idle": "ratio",
    "stalls_over_300ms": "count",
    "max_stall_ms": "ms",
    "device_mbps": "MB/s",
    "background_mbps": "MB/s",
    "background_window_mbps": "MB/s",
    "fair_share": "ratio",
    "unfinished": "count",
    "sqlite_commit_ms": "ms",
    "pgbench_ms": "ms",
    "switched_off_pct": "%",
    "switched_on_pct": "%",
}
"""Metrics and their units."""
HIGHER = ("device_mbps", "background_mbps", "background_window_mbps", "fair_share")
"""Where more is better, and so the least is the worst."""

IDLE = "idle"
IDLE_VARIANTS = (BFQ.name, WRAIS.name)
"""An idle disk's start-up is that of the faster one: stock BFQ may wait for requests in vain."""


def worst(metric: str) -> Statistic:
    """What of a metric's repeats is its record's value."""
    if metric == "unfinished":
        return sum
    return min if metric in HIGHER else max


def _place(cell: Cell) -> dict[str, Param]:
    """What tells the records of a metric and a variant apart."""
    return {
        "probe": cell.probe,
        "background": cell.background,
        "disk": cell.place.name,
        "depth": cell.depth,
    }


def _sample(cell: Cell, metric: str, value: float, run: str, **more: Param) -> Sample:
    params = {**_place(cell), **more}
    return Sample(NAME, metric, cell.variant.name, params, value, UNITS[metric], run)


def _probe_samples(cell: Cell, row: ProbeRow, run: str) -> Iterator[Sample]:
    """One start.  One that was ended early counts with the time that it had: a lower bound."""
    startup, loaded = cell.probe in STARTUPS, cell.background != IDLE
    found = {
        "startup_s": row.startup_s if startup else None,
        "unfinished": float(not row.finished) if startup else None,
        "stalls_over_300ms": row.stalls_over_300ms,
        "max_stall_ms": row.max_stall_ms,
        "device_mbps": row.device_mbps,
        "background_mbps": row.background_mbps if loaded else None,
        "background_window_mbps": row.background_window_mbps,
        "fair_share": _fair_share(row) if cell.variant in PAIRS else None,
    }
    for metric, value in found.items():
        if value is not None:
            yield _sample(cell, metric, value, run)


def _fair_share(row: ProbeRow) -> float:
    """Of two readers: the throughput of the slower one over that of the other."""
    load = row.background_read_mbps
    less, more = sorted((load, row.device_read_mbps - load))
    return max(less, 0.0) / more


def _shown(value: bool | Param | None) -> Param:
    """A field of a row in a raw table."""
    if value is None:
        return ""
    return int(value) if isinstance(value, bool) else value


def _read(raw: dict[str, RawTable], name: str, cell: Cell, lines: Sequence[str]) -> list[Any]:
    """The rows of a tool, one for each repeat.  Raises LabError if some are missing."""
    rows = read_rows(TABLES[name][0], lines, () if name == "probe" else (ProbeRow.TOOL,))
    if len(rows) != cell.repeats:
        raise LabError(
            f"{cell.variant.name}: {cell.name}: {len(rows)} repeats: must be {cell.repeats}",
            exit_code=1,
        )
    for row in rows:
        fields = {field: _shown(value) for field, value in dataclasses.asdict(row).items()}
        tabulate(raw, name, {"variant": cell.variant.name, **_place(cell), **fields})
    return rows


def _cell_samples(
    raw: dict[str, RawTable], seed: int, cell: Cell, lines: Sequence[str]
) -> Iterator[Sample]:
    """Everything one cell printed: of a database the quantiles of each run."""
    name = "sqlite" if cell.probe in SQLITE else PGBENCH if cell.probe == PGBENCH else "probe"
    for repeat, row in enumerate(_read(raw, name, cell, lines), 1):
        if name == "probe":
            yield from _probe_samples(cell, row, f"{seed}.{row.repeat}")
            continue
        for quantile in QUANTILES:
            value = getattr(row, f"{quantile}_ms")
            yield _sample(cell, TABLES[name][1], value, f"{seed}.{repeat}", quantile=quantile)


def _on(sample: Sample) -> tuple[Param, ...]:
    """What has the same idle start-up."""
    return tuple(sample.params[name] for name in ("probe", "disk", "depth"))


def idle_s(samples: Sequence[Sample]) -> dict[tuple[Param, ...], float]:
    """Median start-up on an idle disk, of the faster variant, by probe, disk and depth."""
    found: dict[tuple[Param, ...], dict[str, list[float]]] = defaultdict(dict)
    for sample in samples:
        idle = sample.params["background"] == IDLE and sample.variant in IDLE_VARIANTS
        if sample.metric == "startup_s" and idle:
            found[_on(sample)].setdefault(sample.variant, []).append(sample.value)
    return {key: min(map(statistics.median, of.values())) for key, of in found.items()}


def over_idle(samples: Sequence[Sample]) -> Iterator[Sample]:
    """Every start-up as a multiple of the idle one, where that was measured."""
    idle: Mapping[tuple[Param, ...], float] = idle_s(samples)
    for sample in samples:
        base = idle.get(_on(sample))
        if sample.metric == "startup_s" and base:
            yield dataclasses.replace(
                sample,
                metric="startup_over_idle",
                value=sample.value / base,
                unit=UNITS["startup_over_idle"],
            )


def switched(
    records: Sequence[Record], metric: str, variant: Variant, over: Variant
) -> Iterator[Record]:
    """What a start costs more than another one [percent]."""
    for base in find(records, "startup_s", over.name):
        for found in find(records, "startup_s", variant.name, **base.params):
            yield dataclasses.replace(
                found,
                metric=metric,
                value=100 * (found.value / base.value - 1),
                unit=UNITS[metric],
                n=min(found.n, base.n),
                spread={},
            )


def apps_mean(records: Sequence[Record]) -> Iterator[Record]:
    """Under each load the mean of the applications' start-ups, where all were measured."""
    found: dict[tuple[Param, ...], list[Record]] = defaultdict(list)
    for record in find(records, "startup_over_idle", probe=tuple(APPS)):
        key = (record.variant, record.params["background"], record.params["depth"])
        found[key].append(record)
    for same in found.values():
        if len(same) == len(APPS):
            yield dataclasses.replace(
                same[0],
                params={**same[0].params, "probe": APP_MEAN},
                value=statistics.mean(record.value for record in same),
                n=min(record.n for record in same),
                spread={},
            )


def evaluate(finished: Sequence[BootResult]) -> Measured:
    """Everything the boots printed.  Raises LabError (exit code 1) for output that is not right."""
    raw: dict[str, RawTable] = {}
    samples: list[Sample] = []
    for done in finished:
        for program in done.boot.programs:
            if isinstance(program.what, Cell):
                seed, lines = done.boot.machine.seed, done.lines(program)
                samples.extend(_cell_samples(raw, seed, program.what, lines))
    samples.extend(list(over_idle(samples)))
    # The worst, together with the median.
    records = summarise(samples, worst, {"median": statistics.median})
    derived = (
        *switched(records, "switched_off_pct", BFQ, PLAIN),
        *switched(records, "switched_on_pct", ON, BFQ),
        *apps_mean(records),
    )
    return Measured([*records, *derived], samples, raw)

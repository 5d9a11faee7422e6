# SPDX-License-Identifier: GPL-2.0
"""From the rows of wrais-run to samples, records and raw tables."""

from __future__ import annotations

import dataclasses
import statistics
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

from lab import LabError
from lab.guest.result import BootResult
from lab.report.goals import find
from lab.report.measured import Measured, RawTable
from lab.report.records import Param, Record, Sample
from lab.report.rows import read_rows
from lab.report.summary import Statistic, summarise
from lab.subjects.wrais.applications import APP_MEAN, APPS, PAIRS
from lab.subjects.wrais.experiment import PGBENCH, SQLITE, STARTUPS, Cell
from lab.subjects.wrais.output import QUANTILES, PgbenchRow, ProbeRow, SqliteRow
from lab.subjects.wrais.variants import BFQ, PLAIN, WRAIS

NAME = "wrais"
Row = TypeVar("Row", ProbeRow, SqliteRow, PgbenchRow)
RAW = ("probe", "sqlite", "pgbench")
"""Names of the raw tables."""

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
}
"""Metrics and their units."""
HIGHER = ("device_mbps", "background_mbps", "background_window_mbps", "fair_share")
"""Where more is better, and so the least is the worst."""

IDLE = "idle"
IDLE_VARIANTS = (BFQ.name, WRAIS.name)
"""An idle disk is what the faster of them has of it: stock BFQ may keep it waiting for nobody."""


def worst(metric: str) -> Statistic:
    """What of a metric's repeats is its record's value."""
    if metric == "unfinished":
        return sum
    return min if metric in HIGHER else max


def _sample(cell: Cell, metric: str, value: float, run: str, **more: Param) -> Sample:
    params: dict[str, Param] = {
        "background": cell.background,
        "disk": cell.place.name,
        "probe": cell.probe,
    }
    return Sample(
        experiment=NAME,
        metric=metric,
        variant=cell.variant.name,
        params={**params, "depth": cell.depth, **more},
        value=value,
        unit=UNITS[metric],
        run=run,
    )


def _probe_samples(cell: Cell, row: ProbeRow, run: str) -> Iterator[Sample]:
    """One start.  One that was ended early counts with the time that it had: a lower bound."""
    if cell.probe in STARTUPS:
        yield _sample(cell, "startup_s", row.startup_s, run)
        yield _sample(cell, "unfinished", 0.0 if row.finished else 1.0, run)
    yield _sample(cell, "stalls_over_300ms", row.stalls_over_300ms, run)
    yield _sample(cell, "max_stall_ms", row.max_stall_ms, run)
    yield _sample(cell, "device_mbps", row.device_mbps, run)
    if cell.background != IDLE:
        yield _sample(cell, "background_mbps", row.background_mbps, run)
    if row.background_window_mbps is not None:
        yield _sample(cell, "background_window_mbps", row.background_window_mbps, run)
    if cell.variant in PAIRS:
        yield _sample(cell, "fair_share", _fair_share(row), run)


def _fair_share(row: ProbeRow) -> float:
    """Of two readers: what the one who has less has of what the other has."""
    load = row.background_read_mbps
    less, more = sorted((load, row.device_read_mbps - load))
    return max(less, 0.0) / more


def _quantiles(
    cell: Cell, metric: str, rows: Sequence[SqliteRow | PgbenchRow], seed: int
) -> Iterator[Sample]:
    """Quantiles of each run of a database."""
    for repeat, row in enumerate(rows, 1):
        for quantile, field in QUANTILES.items():
            value = getattr(row, field)
            yield _sample(cell, metric, value, f"{seed}.{repeat}", quantile=quantile)


def _tabulate(
    raw: dict[str, RawTable],
    name: str,
    cell: Cell,
    rows: Sequence[ProbeRow | SqliteRow | PgbenchRow],
) -> None:
    """Add rows to a raw table, as the tool printed them."""
    names: list[str] = [field.name for field in dataclasses.fields(rows[0])]
    key = ["variant", "probe", "background", "disk", "depth"]
    table = raw.setdefault(name, RawTable([*key, *names]))
    for row in rows:
        given: list[Param] = [cell.variant.name, cell.probe, cell.background]
        given += [cell.place.name, cell.depth]
        values = [getattr(row, field) for field in names]
        shown = [_shown(value) for value in values]
        table.rows.append([*given, *shown])


def _shown(value: bool | Param | None) -> Param:
    """A field of a row in a raw table."""
    if value is None:
        return ""
    return int(value) if isinstance(value, bool) else value


def _all_of(cell: Cell, rows: list[Row]) -> list[Row]:
    """The rows, one for each repeat.  Raises LabError if some are missing."""
    if len(rows) != cell.repeats:
        raise LabError(
            f"{cell.variant.name}: {cell.name}: {len(rows)} repeats: must be {cell.repeats}",
            exit_code=1,
        )
    return rows


def _cell_samples(
    raw: dict[str, RawTable], seed: int, cell: Cell, lines: Sequence[str]
) -> Iterator[Sample]:
    """Everything one cell printed."""
    if cell.probe in SQLITE:
        commits = _all_of(cell, read_rows(SqliteRow, lines, beside=(ProbeRow.TOOL,)))
        _tabulate(raw, "sqlite", cell, commits)
        yield from _quantiles(cell, "sqlite_commit_ms", commits, seed)
        return
    if cell.probe == PGBENCH:
        runs = _all_of(cell, read_rows(PgbenchRow, lines, beside=(ProbeRow.TOOL,)))
        _tabulate(raw, "pgbench", cell, runs)
        yield from _quantiles(cell, "pgbench_ms", runs, seed)
        return
    starts = _all_of(cell, read_rows(ProbeRow, lines))
    _tabulate(raw, "probe", cell, starts)
    for start in starts:
        yield from _probe_samples(cell, start, f"{seed}.{start.repeat}")


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


def switched_off(records: Sequence[Record]) -> Iterator[Record]:
    """What the options cost when they are there and switched off."""
    for plain in find(records, "startup_s", PLAIN.name):
        for off in find(records, "startup_s", BFQ.name, **plain.params):
            yield dataclasses.replace(
                off,
                metric="switched_off_pct",
                value=100 * (off.value / plain.value - 1),
                unit=UNITS["switched_off_pct"],
                n=min(off.n, plain.n),
                spread={},
            )


def apps_mean(records: Sequence[Record]) -> Iterator[Record]:
    """Beside each load the mean of the applications' start-ups, where all were measured."""
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
    # The worst, and the median beside it.
    records = summarise(samples, worst, {"median": statistics.median})
    derived = (*switched_off(records), *apps_mean(records))
    return Measured([*records, *derived], samples, raw)

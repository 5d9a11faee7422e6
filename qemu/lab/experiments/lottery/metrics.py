# SPDX-License-Identifier: GPL-2.0
"""From the tools' rows to samples, records and raw tables."""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Iterable, Iterator, Sequence

from lab import LabError
from lab.experiments.boots import Boot, Finished, Job
from lab.experiments.lottery.output import (
    FairRow,
    FloorRow,
    PipeRow,
    Row,
    ScaleRow,
    ShareRow,
)
from lab.experiments.measured import Measured, RawTable
from lab.experiments.rows import read_rows
from lab.experiments.stats import rank_correlation
from lab.experiments.summary import Statistic, summarise
from lab.records import Param, Sample

NAME = "lottery"
OPERATIONS = ("enqueue", "dequeue", "draw")


def _short(tool: str) -> str:
    """A tool's name without the experiment's: the name of its raw table."""
    return tool.removeprefix(f"{NAME}-")


RAW = tuple(_short(row.TOOL) for row in (ScaleRow, ShareRow, PipeRow, FloorRow, FairRow))
"""Names of the raw tables."""


def _sample(
    metric: str, variant: str, value: float, unit: str, run: str, **params: Param
) -> Sample:
    return Sample(NAME, metric, variant, params, value, unit, run)


def _run_id(boot: Boot, job: Job, inner: int = 1) -> str:
    return f"{boot.seed}.{job.repeat}.{inner}"


def _pool(boot: Boot) -> str:
    """The pool a boot asked for on its command line."""
    for word in boot.append:
        if word.startswith("lottery_pool="):
            return word.partition("=")[2]
    raise LabError(f"{boot.name}: no lottery_pool= among its kernel arguments", exit_code=1)


def _scale(boot: Boot, job: Job, rows: Sequence[ScaleRow]) -> Iterator[Sample]:
    """Mean ns of each operation and their sum.  The kernel must name the pool asked for."""
    pool, run = _pool(boot), _run_id(boot, job)
    for row in rows:
        if row.pool != pool:
            raise LabError(f"{boot.name}: pool {row.pool!r}: must be {pool}", exit_code=1)
        means = {operation: row.mean(operation) for operation in OPERATIONS}
        for operation, mean in means.items():
            yield _sample(f"{operation}_ns", pool, mean, "ns", run, tasks=row.tasks)
        yield _sample("cycle_ns", pool, sum(means.values()), "ns", run, tasks=row.tasks)


def _share(boot: Boot, job: Job, rows: Sequence[ShareRow]) -> Iterator[Sample]:
    """The worst task of a ratio, in standard deviations of its binomial distribution."""
    worst = max(abs(row.sigma_error) for row in rows)
    run = _run_id(boot, job)
    yield _sample("share_error_sigma", _pool(boot), worst, "sigma", run, ratio=rows[0].case)


def _ratio(boot: Boot, job: Job, rows: Sequence[ShareRow]) -> Iterator[Sample]:
    """Wins of the task with most tickets over wins of the one with fewest."""
    most = max(rows, key=lambda row: row.tickets)
    least = min(rows, key=lambda row: row.tickets)
    if least.wins <= 0:
        raise LabError(
            f"{boot.name}: {job.name}: the task with fewest tickets never ran", exit_code=1
        )
    run = _run_id(boot, job)
    yield _sample("ratio_10_1", _pool(boot), most.wins / least.wins, "ratio", run)


def _pipe(boot: Boot, job: Job, rows: Sequence[PipeRow]) -> Iterator[Sample]:
    """Every repeat of the round trips."""
    for row in rows:
        run = _run_id(boot, job, row.repeat)
        yield _sample("pipe_roundtrip_ns", row.policy, row.ns_per_round, "ns", run)


def _floor(boot: Boot, job: Job, rows: Sequence[FloorRow]) -> Iterator[Sample]:
    """What the fair server leaves to SCHED_OTHER."""
    for row in rows:
        yield _sample("fair_floor_pct", _pool(boot), row.fair_pct, "percent", _run_id(boot, job))


def _fair(boot: Boot, job: Job, rows: Sequence[FairRow]) -> Iterator[Sample]:
    """Rank correlation of tickets and completion order: -1 is a perfect staircase."""
    tickets = [float(row.tickets) for row in rows]
    order = [float(row.order) for row in rows]
    value = rank_correlation(tickets, order)
    run = _run_id(boot, job)
    yield _sample("order_correlation", _pool(boot), value, "rho", run, tasks=len(rows))


def _job_samples(raw: dict[str, RawTable], done: Finished, job: Job) -> Iterable[Sample]:
    """Samples of one job by its kind; its rows go to the raw tables."""
    boot, lines = done.boot, done.lines(job)

    def rows_of(cls: type[Row]) -> list[Row]:
        rows = read_rows(cls, lines)
        names: list[str] = [item.name for item in dataclasses.fields(cls)]
        table = raw.setdefault(_short(cls.TOOL), RawTable(["boot", "seed", "run", *names]))
        for row in rows:
            values: list[Param] = [getattr(row, name) for name in names]
            table.rows.append([boot.name, boot.seed, job.repeat, *values])
        return rows

    if job.kind == "scale":
        return _scale(boot, job, rows_of(ScaleRow))
    if job.kind == "share":
        return _share(boot, job, rows_of(ShareRow))
    if job.kind == "ratio":
        return _ratio(boot, job, rows_of(ShareRow))
    if job.kind == "pipe":
        return _pipe(boot, job, rows_of(PipeRow))
    if job.kind == "floor":
        return _floor(boot, job, rows_of(FloorRow))
    return _fair(boot, job, rows_of(FairRow))


def _value_of(metric: str) -> Statistic:
    """The mean, of share errors the worst."""
    return max if metric == "share_error_sigma" else statistics.fmean


def evaluate(finished: Sequence[Finished]) -> Measured:
    """Everything the boots printed.  Raises LabError (exit code 1) for output that is not right."""
    raw: dict[str, RawTable] = {}
    samples: list[Sample] = []
    for done in finished:
        for job in done.boot.jobs:
            samples.extend(_job_samples(raw, done, job))
    return Measured(summarise(samples, _value_of), samples, raw)

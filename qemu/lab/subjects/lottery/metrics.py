# SPDX-License-Identifier: GPL-2.0
"""From the tools' rows to samples, records and raw tables."""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Iterable, Iterator, Sequence

from lab import LabError
from lab.guest.boot import Boot, Program
from lab.guest.result import BootResult
from lab.report.measured import Measured, RawTable
from lab.report.records import Param, Sample
from lab.report.rows import read_rows
from lab.report.stats import rank_correlation
from lab.report.summary import Statistic, summarise
from lab.subjects.lottery.output import (
    FairRow,
    FloorRow,
    PipeRow,
    Row,
    ScaleRow,
    ShareRow,
    SmpRow,
)

NAME = "lottery"
OPERATIONS = ("enqueue", "dequeue", "draw")


def _short(tool: str) -> str:
    """A tool's name without the experiment's: the name of its raw table."""
    return tool.removeprefix(f"{NAME}-")


RAW = tuple(_short(row.TOOL) for row in (ScaleRow, ShareRow, PipeRow, FloorRow, FairRow, SmpRow))
"""Names of the raw tables."""


def _sample(
    metric: str, variant: str, value: float, unit: str, run: str, **params: Param
) -> Sample:
    return Sample(NAME, metric, variant, params, value, unit, run)


def _run_id(boot: Boot, program: Program, inner: int = 1) -> str:
    return f"{boot.machine.seed}.{program.repeat}.{inner}"


def _pool(boot: Boot) -> str:
    """The pool a boot asked for on its command line."""
    for word in boot.machine.append:
        if word.startswith("lottery_pool="):
            return word.partition("=")[2]
    raise LabError(f"{boot.name}: no lottery_pool= among its kernel arguments", exit_code=1)


def _scale(boot: Boot, program: Program, rows: Sequence[ScaleRow]) -> Iterator[Sample]:
    """Mean ns of each operation and their sum.  The kernel must name the pool asked for."""
    pool, run = _pool(boot), _run_id(boot, program)
    for row in rows:
        if row.pool != pool:
            raise LabError(f"{boot.name}: pool {row.pool!r}: must be {pool}", exit_code=1)
        means = {operation: row.mean(operation) for operation in OPERATIONS}
        for operation, mean in means.items():
            yield _sample(f"{operation}_ns", pool, mean, "ns", run, tasks=row.tasks)
        yield _sample("cycle_ns", pool, sum(means.values()), "ns", run, tasks=row.tasks)


def _share(boot: Boot, program: Program, rows: Sequence[ShareRow]) -> Iterator[Sample]:
    """The worst task of a ratio, in standard deviations of its binomial distribution."""
    worst = max(abs(row.sigma_error) for row in rows)
    run = _run_id(boot, program)
    yield _sample("share_error_sigma", _pool(boot), worst, "sigma", run, ratio=rows[0].case)


def _ratio(boot: Boot, program: Program, rows: Sequence[ShareRow]) -> Iterator[Sample]:
    """Wins of the task with most tickets over wins of the one with fewest."""
    most = max(rows, key=lambda row: row.tickets)
    least = min(rows, key=lambda row: row.tickets)
    if least.wins <= 0:
        raise LabError(
            f"{boot.name}: {program.name}: the task with fewest tickets never ran", exit_code=1
        )
    run = _run_id(boot, program)
    yield _sample("ratio_10_1", _pool(boot), most.wins / least.wins, "ratio", run)


def _yield(boot: Boot, program: Program, rows: Sequence[ShareRow]) -> Iterator[Sample]:
    """CPU time of the task that uses its turns over that of the one that yields."""
    value = rows[0].wins / rows[-1].wins
    yield _sample("yield_ratio", _pool(boot), value, "ratio", _run_id(boot, program))


def _draws(boot: Boot, program: Program, rows: Sequence[ShareRow]) -> Iterator[Sample]:
    """By how many draws the worst share is off."""
    worst = max(abs(row.wins - row.expected) for row in rows)
    yield _sample("draw_error", rows[0].draw, worst, "draws", _run_id(boot, program))


def _pipe(boot: Boot, program: Program, rows: Sequence[PipeRow]) -> Iterator[Sample]:
    """Every repeat of the round trips."""
    for row in rows:
        run = _run_id(boot, program, row.repeat)
        yield _sample("pipe_roundtrip_ns", row.policy, row.ns_per_round, "ns", run)


def _floor(boot: Boot, program: Program, rows: Sequence[FloorRow]) -> Iterator[Sample]:
    """What the fair server leaves to SCHED_OTHER."""
    for row in rows:
        yield _sample(
            "fair_floor_pct", _pool(boot), row.fair_pct, "percent", _run_id(boot, program)
        )


def _fair(boot: Boot, program: Program, rows: Sequence[FairRow]) -> Iterator[Sample]:
    """Rank correlation of tickets and completion order: -1 is a perfect staircase."""
    tickets = [float(row.tickets) for row in rows]
    order = [float(row.order) for row in rows]
    value = rank_correlation(tickets, order)
    run = _run_id(boot, program)
    yield _sample("order_correlation", _pool(boot), value, "rho", run, tasks=len(rows))


def _smp(boot: Boot, program: Program, rows: Sequence[SmpRow]) -> Iterator[Sample]:
    """The worst task of each case, in percent of a CPU."""
    run = _run_id(boot, program)
    for case in dict.fromkeys(row.case for row in rows):
        worst = max(abs(row.got_pct - row.due_pct) for row in rows if row.case == case)
        tasks = sum(row.case == case for row in rows)
        yield _sample(
            "smp_share_error_pct", _pool(boot), worst, "percent", run, case=case, tasks=tasks
        )


def _displaced(boot: Boot, program: Program, rows: Sequence[SmpRow]) -> Iterator[Sample]:
    """What the displaced task got of its due, in each round."""
    for row in rows:
        run = _run_id(boot, program, row.task)
        value = 100 * row.got_pct / row.due_pct
        yield _sample("displaced_share_pct", _pool(boot), value, "percent", run)


def _samples(raw: dict[str, RawTable], done: BootResult, program: Program) -> Iterable[Sample]:
    """Samples of one program by what it measures; its rows go to the raw tables."""
    boot, lines = done.boot, done.lines(program)

    def rows_of(cls: type[Row]) -> list[Row]:
        rows = read_rows(cls, lines)
        names: list[str] = [item.name for item in dataclasses.fields(cls)]
        table = raw.setdefault(_short(cls.TOOL), RawTable(["boot", "seed", "run", *names]))
        for row in rows:
            values: list[Param] = [getattr(row, name) for name in names]
            table.rows.append([boot.name, boot.machine.seed, program.repeat, *values])
        return rows

    if program.what == "scale":
        return _scale(boot, program, rows_of(ScaleRow))
    if program.what == "share":
        return _share(boot, program, rows_of(ShareRow))
    if program.what == "ratio":
        return _ratio(boot, program, rows_of(ShareRow))
    if program.what == "yield":
        return _yield(boot, program, rows_of(ShareRow))
    if program.what == "draws":
        return _draws(boot, program, rows_of(ShareRow))
    if program.what == "pipe":
        return _pipe(boot, program, rows_of(PipeRow))
    if program.what == "floor":
        return _floor(boot, program, rows_of(FloorRow))
    if program.what == "smp":
        return _smp(boot, program, rows_of(SmpRow))
    if program.what == "displaced":
        return _displaced(boot, program, rows_of(SmpRow))
    return _fair(boot, program, rows_of(FairRow))


def _value_of(metric: str) -> Statistic:
    """The mean, of share errors the worst."""
    return max if metric == "share_error_sigma" else statistics.fmean


def evaluate(finished: Sequence[BootResult]) -> Measured:
    """Everything the boots printed.  Raises LabError (exit code 1) for output that is not right."""
    raw: dict[str, RawTable] = {}
    samples: list[Sample] = []
    for done in finished:
        for program in done.boot.programs:
            samples.extend(_samples(raw, done, program))
    return Measured(summarise(samples, _value_of), samples, raw)

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
from lab.report.rows import R, read_rows
from lab.report.stats import rank_correlation
from lab.report.summary import Statistic, summarise
from lab.subjects.lottery.law import at_the_end, shares
from lab.subjects.lottery.output import (
    CyclictestRow,
    FairRow,
    FloorRow,
    HackbenchRow,
    InsulateRow,
    MonteCarloRow,
    PipeRow,
    ScaleRow,
    ServerRow,
    ShareRow,
    SmpRow,
    ViewersRow,
    cyclictest_row,
    hackbench_row,
    idle_s,
)

NAME = "lottery"
OPERATIONS = ("enqueue", "dequeue", "draw")


def _short(tool: str) -> str:
    """A tool's name without the experiment's: the name of its raw table."""
    return tool.removeprefix(f"{NAME}-")


TOOLS = (
    ScaleRow,
    ShareRow,
    PipeRow,
    FloorRow,
    FairRow,
    SmpRow,
    MonteCarloRow,
    ViewersRow,
    ServerRow,
)
OTHERS = (HackbenchRow, CyclictestRow)
RAW = tuple(_short(row.TOOL) for row in (*TOOLS, *OTHERS))
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


def _variant(program: Program) -> str:
    """What tells the programs of a tool apart that does not say so itself: TOOL-VARIANT."""
    return program.name.split("-")[1]


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


def _montecarlo(boot: Boot, program: Program, rows: Sequence[MonteCarloRow]) -> Iterator[Sample]:
    """How far apart the errors are at the end, and how far the trials are from their law."""
    run, end = _run_id(boot, program), rows[-1].time_ms
    errors = [row.error for row in rows if row.time_ms == end]
    yield _sample("montecarlo_error_ratio", _pool(boot), max(errors) / min(errors), "ratio", run)
    worst = max(abs(task.made / task.due - 1) for task in at_the_end(rows))
    yield _sample("montecarlo_law_error_pct", _pool(boot), 100 * worst, "percent", run)


def _viewers(boot: Boot, program: Program, rows: Sequence[ViewersRow]) -> Iterator[Sample]:
    """Frames of each phase against the slowest viewer's, and the worst against its tickets."""
    run = _run_id(boot, program)
    for phase, parts in shares(rows).items():
        slowest = min(part.frames for part in parts)
        if slowest <= 0:
            raise LabError(f"{boot.name}: {program.name}: a viewer has no frames", exit_code=1)
        for part in parts:
            name, ratio = f"{part.letter} {phase}", part.frames / slowest
            yield _sample("viewers_ratio", _pool(boot), ratio, "ratio", run, viewer=name)
        frames, tickets = sum(p.frames for p in parts), sum(p.tickets for p in parts)
        worst = max(abs(p.frames * tickets / (p.tickets * frames) - 1) for p in parts)
        yield _sample("viewers_error_pct", _pool(boot), 100 * worst, "percent", run, phase=phase)


def _transfers(boot: Boot, program: Program, rows: Sequence[ServerRow]) -> Iterator[Sample]:
    """Queries of each client against the last one's, and the worst against its tickets.

    Of a server without tickets in the class, that is, with one beside thousands, and of
    one of SCHED_OTHER, whose threads divide alike what the deadline server gives
    them.
    """
    run = _run_id(boot, program)
    queries, tickets = sum(row.queries for row in rows), sum(row.tickets for row in rows)
    if min(row.queries for row in rows) <= 0:
        raise LabError(f"{boot.name}: {program.name}: a client was not served", exit_code=1)
    policy = "lottery" if rows[0].server_tickets else "other"
    for row in rows:
        yield _sample("transfer_ratio", policy, row.ratio, "ratio", run, client=row.client)
    worst = max(abs(row.queries * tickets / (row.tickets * queries) - 1) for row in rows)
    yield _sample("transfer_error_pct", policy, 100 * worst, "percent", run)


def _currencies(boot: Boot, program: Program, rows: Sequence[InsulateRow]) -> Iterator[Sample]:
    """What A gets against B, before and after inflation in B, with currencies or without."""
    variant = "currencies" if rows[0].currencies else "none"
    for phase in ("before", "after"):
        got = {
            name: sum(row.cpu_s for row in rows if row.case == phase and row.currency == name)
            for name in "AB"
        }
        if not got["B"]:
            raise LabError(f"{boot.name}: {program.name}: B has nothing {phase}", exit_code=1)
        ratio, run = got["A"] / got["B"], _run_id(boot, program)
        yield _sample("currency_ratio", variant, ratio, "ratio", run, phase=phase)


def _hackbench(done: BootResult, program: Program, row: HackbenchRow) -> Iterator[Sample]:
    """How long it took and, of several CPUs, what part of that they were not idle.

    In virtual time they take turns, so that the first says what all CPUs had to do,
    with what moving tasks costs.  It would be the same if one of them did it all: what
    that would take on CPUs that run at the same time, the second says.
    """
    run = _run_id(done.boot, program)
    yield _sample("hackbench_ms", row.policy, row.ms, "ms", run, cpus=row.cpus)
    if row.cpus > 1:
        looks = (done.program(f"{program.name}-{when}") for when in ("before", "after"))
        (begin, idle), (end, idler) = (idle_s(look.output) for look in looks)
        busy_pct = 100 * (1 - (idler - idle) / (row.cpus * (end - begin)))
        yield _sample("hackbench_busy_pct", row.policy, busy_pct, "percent", run, cpus=row.cpus)


def _cyclictest(boot: Boot, program: Program, row: CyclictestRow) -> Iterator[Sample]:
    """The longest of a run.

    It is a wakeup that meets a tick and a softirq after it.  At other moments that is
    so rare that a run meets it or does not, whatever runs beside: so each wakeup is
    due at a tick.  On an idle CPU there is no tick to meet.  The peer of lottery hogs
    is therefore the same number of fair ones; idle is shown beside it.

    Beside lottery hogs fair tasks live on what the deadline server gives them, and that
    is above real-time tasks: a wakeup may wait for a kworker's turn (seen in a trace)
    or, with a fair hog there, for the server's 50 ms.  That is "both", which is shown,
    too; beside real-time hogs it is the same.
    """
    yield _sample("cyclictest_max_ns", row.beside, row.max_ns, "ns", _run_id(boot, program))


def _samples(raw: dict[str, RawTable], done: BootResult, program: Program) -> Iterable[Sample]:
    """Samples of one program by what it measures; its rows go to the raw tables."""
    boot, lines = done.boot, done.lines(program)

    def kept(rows: Sequence[R]) -> Sequence[R]:
        cls = type(rows[0])
        names: list[str] = [item.name for item in dataclasses.fields(cls)]
        table = raw.setdefault(_short(cls.TOOL), RawTable(["boot", "seed", "run", *names]))
        for row in rows:
            values: list[Param] = [getattr(row, name) for name in names]
            table.rows.append([boot.name, boot.machine.seed, program.repeat, *values])
        return rows

    def rows_of(cls: type[R]) -> Sequence[R]:
        return kept(read_rows(cls, lines))

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
    if program.what == "montecarlo":
        return _montecarlo(boot, program, rows_of(MonteCarloRow))
    if program.what == "viewers":
        return _viewers(boot, program, rows_of(ViewersRow))
    if program.what == "transfers":
        return _transfers(boot, program, rows_of(ServerRow))
    if program.what == "currencies":
        return _currencies(boot, program, rows_of(InsulateRow))
    if program.what == "hackbench":
        if program.argv[0].startswith("@"):
            return ()  # a look before or after a run
        (run,) = kept([hackbench_row(_variant(program), boot.machine.cpus, lines)])
        return _hackbench(done, program, run)
    if program.what == "cyclictest":
        (latency,) = kept([cyclictest_row(_variant(program), lines)])
        return _cyclictest(boot, program, latency)
    return _fair(boot, program, rows_of(FairRow))


WORST = ("share_error_sigma", "cyclictest_max_ns")
MEDIAN = ("hackbench_ms", "hackbench_busy_pct")


def _value_of(metric: str) -> Statistic:
    """The mean; of share errors and latencies the worst, of hackbench the median."""
    if metric in MEDIAN:
        return statistics.median
    return max if metric in WORST else statistics.fmean


def evaluate(finished: Sequence[BootResult]) -> Measured:
    """Everything the boots printed.  Raises LabError (exit code 1) for output that is not right."""
    raw: dict[str, RawTable] = {}
    samples: list[Sample] = []
    for done in finished:
        for program in done.boot.programs:
            samples.extend(_samples(raw, done, program))
    return Measured(summarise(samples, _value_of), samples, raw)

# SPDX-License-Identifier: GPL-2.0
"""From the tools' rows to samples, records and raw tables."""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from lab import LabError
from lab.guest.boot import Program
from lab.guest.result import BootResult
from lab.report.measured import Measured, RawTable, tabulate
from lab.report.records import Param, Sample
from lab.report.rows import read_rows
from lab.report.stats import rank_correlation
from lab.report.summary import Statistic, summarise
from subjects.lottery import output
from subjects.lottery.law import at_the_end, shares

NAME = "lottery"
OPERATIONS = ("enqueue", "dequeue", "draw")


@dataclasses.dataclass(frozen=True)
class Run:
    """A program that has run."""

    done: BootResult
    program: Program

    @property
    def pool(self) -> str:
        """The pool its boot asked for on its command line."""
        for word in self.done.boot.machine.append:
            if word.startswith("lottery_pool="):
                return word.partition("=")[2]
        raise self.error("no lottery_pool= among its kernel arguments")

    @property
    def variant(self) -> str:
        """What tells the programs of a tool apart that does not say so itself: TOOL-VARIANT."""
        return self.program.name.split("-")[1]

    def error(self, text: str) -> LabError:
        """What is wrong with its output."""
        return LabError(f"{self.done.boot.name}: {text}", exit_code=1)

    def sample(
        self,
        metric: str,
        value: float,
        unit: str,
        *,
        variant: str = "",
        inner: int = 1,
        **params: Param,
    ) -> Sample:
        """A number of it, by its pool if it has no other variant."""
        run = f"{self.done.boot.machine.seed}.{self.program.repeat}.{inner}"
        return Sample(NAME, metric, variant or self.pool, params, value, unit, run)


def _scale(run: Run, rows: Sequence[output.ScaleRow]) -> Iterator[Sample]:
    """Mean ns of each operation and their sum.  The kernel must name the pool asked for."""
    for row in rows:
        if row.pool != run.pool:
            raise run.error(f"pool {row.pool!r}: must be {run.pool}")
        means = {operation: row.mean(operation) for operation in OPERATIONS}
        for operation, mean in {**means, "cycle": sum(means.values())}.items():
            yield run.sample(f"{operation}_ns", mean, "ns", tasks=row.tasks)


def _share(run: Run, rows: Sequence[output.ShareRow]) -> Iterator[Sample]:
    """The worst task of a ratio, in standard deviations of its binomial distribution."""
    worst = max(abs(row.sigma_error) for row in rows)
    yield run.sample("share_error_sigma", worst, "sigma", ratio=rows[0].case)


def _ratio(run: Run, rows: Sequence[output.ShareRow]) -> Iterator[Sample]:
    """Wins of the task with most tickets over wins of the one with fewest."""
    most = max(rows, key=lambda row: row.tickets)
    least = min(rows, key=lambda row: row.tickets)
    if least.wins <= 0:
        raise run.error(f"{run.program.name}: the task with fewest tickets never ran")
    yield run.sample("ratio_10_1", most.wins / least.wins, "ratio")


def _yield(run: Run, rows: Sequence[output.ShareRow]) -> Iterator[Sample]:
    """CPU time of the task that uses its turns over that of the one that yields."""
    yield run.sample("yield_ratio", rows[0].wins / rows[-1].wins, "ratio")


def _draws(run: Run, rows: Sequence[output.ShareRow]) -> Iterator[Sample]:
    """By how many draws the worst share is off."""
    worst = max(abs(row.wins - row.expected) for row in rows)
    yield run.sample("draw_error", worst, "draws", variant=rows[0].draw)


def _pipe(run: Run, rows: Sequence[output.PipeRow]) -> Iterator[Sample]:
    """Every repeat of the round trips."""
    for row in rows:
        mean, policy = row.ns_per_round, row.policy
        yield run.sample("pipe_roundtrip_ns", mean, "ns", variant=policy, inner=row.repeat)


def _floor(run: Run, rows: Sequence[output.FloorRow]) -> Iterator[Sample]:
    """What is left to SCHED_OTHER, and how long it has to wait."""
    for row in rows:
        yield run.sample("fair_floor_pct", row.fair_pct, "percent")
        yield run.sample("fair_wait_ms", row.wait_ms, "ms")


def _fair(run: Run, rows: Sequence[output.FairRow]) -> Iterator[Sample]:
    """Rank correlation of tickets and completion order: -1 is a perfect staircase."""
    tickets, order = ([float(getattr(row, name)) for row in rows] for name in ("tickets", "order"))
    rho = rank_correlation(tickets, order)
    yield run.sample("order_correlation", rho, "rho", tasks=len(rows))


def _smp(run: Run, rows: Sequence[output.SmpRow]) -> Iterator[Sample]:
    """The worst task of each case, in percent of a CPU."""
    for case in dict.fromkeys(row.case for row in rows):
        off = [abs(row.got_pct - row.due_pct) for row in rows if row.case == case]
        yield run.sample("smp_share_error_pct", max(off), "percent", case=case, tasks=len(off))


def _displaced(run: Run, rows: Sequence[output.SmpRow]) -> Iterator[Sample]:
    """What the displaced task got of its due, in each round."""
    for row in rows:
        share = 100 * row.got_pct / row.due_pct
        yield run.sample("displaced_share_pct", share, "percent", inner=row.task)


def _montecarlo(run: Run, rows: Sequence[output.MonteCarloRow]) -> Iterator[Sample]:
    """How far apart the errors are at the end, and how far the trials are from their law."""
    errors = [row.error for row in rows if row.time_ms == rows[-1].time_ms]
    yield run.sample("montecarlo_error_ratio", max(errors) / min(errors), "ratio")
    worst = max(abs(made / due - 1) for made, due in zip(*at_the_end(rows), strict=True))
    yield run.sample("montecarlo_law_error_pct", 100 * worst, "percent")


def _viewers(run: Run, rows: Sequence[output.ViewersRow]) -> Iterator[Sample]:
    """Frames of each phase against the slowest viewer's, and the worst against its tickets."""
    for phase, parts in shares(rows).items():
        slowest = min(part.frames for part in parts)
        if slowest <= 0:
            raise run.error(f"{run.program.name}: a viewer has no frames")
        for part in parts:
            name, ratio = f"{part.letter} {phase}", part.frames / slowest
            yield run.sample("viewers_ratio", ratio, "ratio", viewer=name)
        frames, tickets = sum(p.frames for p in parts), sum(p.tickets for p in parts)
        worst = max(abs(p.frames * tickets / (p.tickets * frames) - 1) for p in parts)
        yield run.sample("viewers_error_pct", 100 * worst, "percent", phase=phase)


def _transfers(run: Run, rows: Sequence[output.ServerRow]) -> Iterator[Sample]:
    """Queries of each client against the last one's, and the worst against its tickets.

    Of a server without tickets in the class, that is, with one beside thousands, and of
    one of SCHED_OTHER, whose threads divide alike what the deadline server gives
    them.
    """
    queries, tickets = sum(row.queries for row in rows), sum(row.tickets for row in rows)
    if min(row.queries for row in rows) <= 0:
        raise run.error(f"{run.program.name}: a client was not served")
    policy = "lottery" if rows[0].server_tickets else "other"
    for row in rows:
        yield run.sample("transfer_ratio", row.ratio, "ratio", variant=policy, client=row.client)
    worst = max(abs(row.queries * tickets / (row.tickets * queries) - 1) for row in rows)
    yield run.sample("transfer_error_pct", 100 * worst, "percent", variant=policy)


def _currencies(run: Run, rows: Sequence[output.InsulateRow]) -> Iterator[Sample]:
    """What A gets against B, before and after inflation in B, with currencies or without."""
    variant = "currencies" if rows[0].currencies else "none"
    for phase in ("before", "after"):
        got = {
            name: sum(row.cpu_s for row in rows if row.case == phase and row.currency == name)
            for name in "AB"
        }
        if not got["B"]:
            raise run.error(f"{run.program.name}: B has nothing {phase}")
        ratio = got["A"] / got["B"]
        yield run.sample("currency_ratio", ratio, "ratio", variant=variant, phase=phase)


def _hackbench(run: Run, rows: Sequence[output.HackbenchRow]) -> Iterator[Sample]:
    """How long it took and, of several CPUs, what part of that they were not idle.

    In virtual time they take turns, so that the first says what all CPUs had to do,
    with what moving tasks costs.  It would be the same if one of them did it all: what
    that would take on CPUs that run at the same time, the second says.
    """
    (row,) = rows
    policy, cpus = row.policy, row.cpus
    yield run.sample("hackbench_ms", row.ms, "ms", variant=policy, cpus=cpus)
    if row.cpus > 1:
        looks = (run.done.program(f"{run.program.name}-{when}") for when in ("before", "after"))
        (begin, idle), (end, idler) = (output.idle_s(look.output) for look in looks)
        busy_pct = 100 * (1 - (idler - idle) / (row.cpus * (end - begin)))
        yield run.sample("hackbench_busy_pct", busy_pct, "percent", variant=policy, cpus=cpus)


def _cyclictest(run: Run, rows: Sequence[output.CyclictestRow]) -> Iterator[Sample]:
    """The longest of a run.

    It is a wakeup that meets a tick and a softirq after it.  At other moments that is
    so rare that a run meets it or does not, whatever runs beside: so each wakeup is
    due at a tick.  On an idle CPU there is no tick to meet.  The peer of lottery hogs
    is therefore the same number of fair ones; idle is shown beside it.

    "both" is with a fair hog as well: fair tasks have turns then, and the deadline server, which
    runs above real-time tasks, has nothing to do.
    """
    (row,) = rows
    yield run.sample("cyclictest_max_ns", row.max_ns, "ns", variant=row.beside)


KINDS: dict[str, tuple[type[Any], Callable[[Run, Any], Iterable[Sample]]]] = {
    "scale": (output.ScaleRow, _scale),
    "share": (output.ShareRow, _share),
    "ratio": (output.ShareRow, _ratio),
    "yield": (output.ShareRow, _yield),
    "draws": (output.ShareRow, _draws),
    "pipe": (output.PipeRow, _pipe),
    "floor": (output.FloorRow, _floor),
    "fair": (output.FairRow, _fair),
    "smp": (output.SmpRow, _smp),
    "displaced": (output.SmpRow, _displaced),
    "montecarlo": (output.MonteCarloRow, _montecarlo),
    "viewers": (output.ViewersRow, _viewers),
    "transfers": (output.ServerRow, _transfers),
    "currencies": (output.InsulateRow, _currencies),
    "hackbench": (output.HackbenchRow, _hackbench),
    "cyclictest": (output.CyclictestRow, _cyclictest),
}
"""The rows of each kind of program, and what is made of them."""

RAW = tuple(sorted({cls.TOOL.removeprefix(f"{NAME}-") for cls, _ in KINDS.values()}))
"""Names of the raw tables."""


def _rows(run: Run, cls: type[Any]) -> Sequence[Any]:
    """What a program printed."""
    lines = run.done.lines(run.program)
    if cls is output.HackbenchRow:
        return [output.hackbench_row(run.variant, run.done.boot.machine.cpus, lines)]
    if cls is output.CyclictestRow:
        return [output.cyclictest_row(run.variant, lines)]
    return read_rows(cls, lines)


def _samples(raw: dict[str, RawTable], run: Run) -> Iterable[Sample]:
    """Samples of one program by what it measures; its rows go to the raw tables."""
    if run.program.argv[0].startswith("@"):
        return ()  # a look before or after a run
    cls, made = KINDS[str(run.program.what)]
    rows = _rows(run, cls)
    boot = run.done.boot
    key = {"boot": boot.name, "seed": boot.machine.seed, "run": run.program.repeat}
    for row in rows:
        tabulate(raw, cls.TOOL.removeprefix(f"{NAME}-"), {**key, **dataclasses.asdict(row)})
    return made(run, rows)


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
            samples.extend(_samples(raw, Run(done, program)))
    return Measured(summarise(samples, _value_of), samples, raw)

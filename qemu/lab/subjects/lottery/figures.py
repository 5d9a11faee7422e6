# SPDX-License-Identifier: GPL-2.0
"""Figures of the reference and of the paper behind it, drawn from records and raw tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

from lab import LabError
from lab.report.goals import find
from lab.report.records import Record, read_csv, read_json
from lab.report.sheet import INK, MUTED, Caption, Sheet
from lab.report.stats import rank_correlation
from lab.subjects.lottery.goals import STAIRCASE
from lab.subjects.lottery.output import MonteCarloRow, ShareRow, ViewersRow
from lab.subjects.lottery.paper import montecarlo, viewers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

R = TypeVar("R")

COLOURS = {"list": "#2b6cb0", "rbtree": "#c0392b", "sums": "#2f855a"}
"""As in the reference: the list is blue, the red-black tree is red. Ours is green."""
LABELS = {"list": "linked list", "rbtree": "red-black tree", "sums": "tree of sums"}
MARKERS = {"list": "o", "rbtree": "s", "sums": "^"}


@dataclass(frozen=True)
class Finisher:
    """One task of the case fair."""

    order: int
    tickets: int


def curve(records: Sequence[Record], metric: str, variant: str) -> dict[int, Record]:
    """Records of a metric by number of tasks, in rising order."""
    found = find(records, metric, variant)
    by_tasks = {int(record.params["tasks"]): record for record in found}
    return dict(sorted(by_tasks.items()))


def bounds(record: Record) -> tuple[float, float]:
    """Least and greatest sample behind a record."""
    if isinstance(record.spread, Mapping):
        return record.spread["min"], record.spread["max"]
    return record.value - record.spread, record.value + record.spread


def _plot_curve(axes: Axes, points: Mapping[int, Record], variant: str) -> None:
    """Means with a band from the least to the greatest run."""
    tasks = list(points)
    low, high = zip(*(bounds(record) for record in points.values()), strict=True)
    axes.fill_between(tasks, low, high, color=COLOURS[variant], alpha=0.15, linewidth=0)
    axes.plot(
        tasks,
        [record.value for record in points.values()],
        color=COLOURS[variant],
        marker=MARKERS[variant],
        label=LABELS[variant],
    )


def _task_axis(axes: Axes, tasks: Sequence[int]) -> None:
    """A logarithmic axis that names the sizes that were measured."""
    axes.set_xscale("log")
    axes.set_xticks(list(tasks), [f"{count:,}" for count in tasks])
    axes.set_xticks([], minor=True)
    axes.set_xlabel("tasks at the start (one long to nine short)")


def _plain_log_axis(axes: Axes) -> None:
    """A logarithmic y axis with plain numbers at 1, 2 and 5 of every decade."""
    from matplotlib.ticker import LogLocator, NullLocator

    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.yaxis.set_minor_locator(NullLocator())


def figure_1(finishers: Sequence[Finisher]) -> Sheet:
    """Tickets against completion order."""
    order = [task.order for task in finishers]
    tickets = [task.tickets for task in finishers]
    rho = rank_correlation([float(value) for value in tickets], [float(value) for value in order])
    caption = Caption(
        "Figure 1: tickets against completion order",
        f"{len(order)} compute-bound tasks released at once on one CPU; first finisher on the left",
        "A noisy descending staircase: tasks with many tickets finish relatively early, those "
        "with the fewest last; some with few tickets finish before others with more, because "
        "the draw is random.",
        f"{'The same staircase' if rho <= STAIRCASE else 'No clear staircase'}: the rank "
        f"correlation of tickets and completion order is {rho:.2f} (-1 is a perfect staircase, "
        "drawn in grey; 0 is none).",
    )
    sheet = Sheet(caption)
    perfect = sorted(tickets, reverse=True)
    sheet.axes.step(
        sorted(order), perfect, where="mid", color=MUTED, alpha=0.6, linewidth=1.2, zorder=1
    )
    sheet.axes.vlines(order, 0, tickets, color=COLOURS["rbtree"], alpha=0.25, linewidth=1)
    sheet.axes.plot(order, tickets, "o", color=COLOURS["rbtree"], markersize=4.5)
    sheet.axes.grid(visible=False, axis="x")
    sheet.axes.set_xlabel("completion order")
    sheet.axes.set_ylabel("tickets")
    sheet.axes.set_xlim(0, max(order) + 1)
    sheet.axes.set_ylim(0, max(tickets) * 1.06)
    return sheet


def _quotients(records: Sequence[Record], metric: str) -> dict[int, float]:
    """rbtree over list by number of tasks, where both were measured."""
    tree, line = curve(records, metric, "rbtree"), curve(records, metric, "list")
    return {count: tree[count].value / line[count].value for count in tree if count in line}


def _runs(records: Sequence[Record], metric: str) -> str:
    """How many runs are behind the points of a curve."""
    counts = sorted({record.n for record in find(records, metric)})
    return f"n = {counts[0]}" if len(counts) == 1 else f"n = {counts[0]} to {counts[-1]}"


def _pools_sheet(records: Sequence[Record], metric: str, caption: Caption, label: str) -> Sheet:
    """A sheet with the curve of each measured pool over the number of tasks."""
    sheet = Sheet(caption)
    sizes: set[int] = set()
    for variant in COLOURS:
        points = curve(records, metric, variant)
        if points:
            sizes.update(points)
            _plot_curve(sheet.axes, points, variant)
    _task_axis(sheet.axes, sorted(sizes))
    sheet.axes.set_ylabel(label)
    sheet.legend()
    return sheet


def figure_2(records: Sequence[Record]) -> Sheet:
    """Mean time of an enqueue against the number of tasks."""
    quotients = _quotients(records, "enqueue_ns")
    most = max(quotients)
    caption = Caption(
        "Figure 2: mean time of an enqueue",
        f"virtual time, 1 ns an instruction; {_runs(records, 'enqueue_ns')} runs a point, "
        "band from least to greatest",
        "The tree does very poorly with many tasks: it rebalances and recomputes every partial "
        "total after each insertion, while the list only links the task.",
        f"Rotations keep the subtree sums, O(log n): at {most:,} tasks the tree's enqueue takes "
        f"{quotients[most]:.2f} x the list's, {'within' if quotients[most] <= 4 else 'beyond'} "
        "the goal of 4 x.",
    )
    sheet = _pools_sheet(records, "enqueue_ns", caption, "ns per enqueue")
    sheet.axes.set_ylim(bottom=0)
    return sheet


def _crossing(quotients: Mapping[int, float]) -> str:
    """Where the tree wins, in words; quotients are rbtree over list."""
    if all(quotient <= 1 for quotient in quotients.values()):
        return "The tree is ahead at every size"
    wins = [count for count in quotients if all(quotients[n] <= 1 for n in quotients if n >= count)]
    if not wins:
        return "The list is ahead up to the largest size"
    return f"The tree is ahead from {min(wins):,} tasks on"


def figure_3(records: Sequence[Record]) -> Sheet:
    """Enqueue, dequeue and draw together against the number of tasks."""
    quotients = _quotients(records, "cycle_ns")
    most = max(quotients)
    caption = Caption(
        "Figure 3: enqueue + dequeue + draw",
        f"sum of the three means, virtual time; {_runs(records, 'cycle_ns')} runs a point; "
        "numbers: list / red-black tree",
        "With few tasks the list is better, with many the tree: its draw is O(log n) and makes "
        "up for its costly enqueue, while the list's cost sky-rockets.",
        f"{_crossing(quotients)}. The list's cycle takes {1 / quotients[most]:.3g} x the tree's at "
        f"{most:,} tasks, {1 / quotients[min(quotients)]:.2f} x at {min(quotients):,}.",
    )
    sheet = _pools_sheet(records, "cycle_ns", caption, "ns per cycle")
    _plain_log_axis(sheet.axes)
    curves = [curve(records, "cycle_ns", variant) for variant in ("list", "rbtree")]
    for count, quotient in quotients.items():
        sheet.axes.annotate(
            f"{1 / quotient:.{1 if quotient < 0.1 else 2}f} x",
            (count, max(points[count].value for points in curves)),
            xytext=(-3, 9),
            textcoords="offset points",
            ha="right" if quotient < 0.5 else "center",
            fontsize=8.5,
            color=INK,
        )
    sheet.axes.margins(y=0.14)
    return sheet


def _first_run(cls: type[R], path: Path) -> list[R]:
    """The rows of the first run in a raw table.  Raises LabError for one that is not right."""
    rows = read_csv(path)
    first = [row for row in rows if (row["boot"], row["run"]) == (rows[0]["boot"], rows[0]["run"])]
    return _typed(cls, path, first)


def _typed(cls: type[R], path: Path, rows: Sequence[Mapping[str, str]]) -> list[R]:
    try:
        return msgspec.convert(rows, list[cls], strict=False)  # type: ignore[valid-type]
    except msgspec.ValidationError as error:
        raise LabError(f"{path}: {error}", exit_code=1) from None


def figure_shares(rows: Sequence[ShareRow]) -> Sheet:
    """Draws won against those that the tickets promise."""
    promised = [100 * row.tickets / row.total for row in rows]
    won = [100 * row.wins / row.lotteries for row in rows]
    worst = max(abs(row.sigma_error) for row in rows)
    caption = Caption(
        "Shares against tickets",
        f"{len(rows)} tasks of {len({row.case for row in rows})} cases, virtual time",
        "Tasks get the CPU in proportion to their tickets on average; it was not measured.",
        f"At most {max(abs(a - b) for a, b in zip(promised, won, strict=True)):.2f} percentage "
        f"points from what the tickets promise (grey), {worst:.1f} standard deviations of a "
        "fair draw.",
    )
    sheet = Sheet(caption)
    sheet.axes.plot([0, 100], [0, 100], color=MUTED, linewidth=1.2)
    sheet.axes.plot(promised, won, "o", color=COLOURS["sums"])
    sheet.axes.set_xlabel("% of the tickets")
    sheet.axes.set_ylabel("% of the draws")
    sheet.axes.set_xlim(0, 100)
    sheet.axes.set_ylim(0, 100)
    return sheet


def draw(results: Path, plots: Path, stem: str) -> list[Path]:
    """Draw what results STEM allow; returns the files.  Raises LabError if a file is not right."""
    records = read_json(results / f"{stem}.json")
    written: list[Path] = []
    tables = {
        name: results / f"{stem}-{name}.csv" for name in ("fair", "share", "montecarlo", "viewers")
    }
    if tables["fair"].exists():
        finishers = _first_run(Finisher, tables["fair"])
        written += figure_1(finishers).save(plots, f"{stem}-figure-1")
    if _quotients(records, "enqueue_ns"):
        written += figure_2(records).save(plots, f"{stem}-figure-2")
    if _quotients(records, "cycle_ns"):
        written += figure_3(records).save(plots, f"{stem}-figure-3")
    if tables["share"].exists():
        shares = _typed(ShareRow, tables["share"], read_csv(tables["share"]))
        written += figure_shares(shares).save(plots, f"{stem}-shares")
    if tables["montecarlo"].exists():
        trials = _first_run(MonteCarloRow, tables["montecarlo"])
        written += montecarlo(trials).save(plots, f"{stem}-montecarlo")
    if tables["viewers"].exists():
        frames = _first_run(ViewersRow, tables["viewers"])
        written += viewers(frames).save(plots, f"{stem}-viewers")
    return written

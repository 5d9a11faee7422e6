# SPDX-License-Identifier: GPL-2.0
"""Figures of the reference, and 6 and 8 of Waldspurger and Weihl (1994)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import TypeVar

import msgspec

from lab import LabError
from lab.report.charts import Look, figures_of, lines, note, plain_numbers, save_all
from lab.report.goals import find
from lab.report.records import Record, read_csv, read_json
from lab.report.sheet import INK, MUTED, Sheet
from lab.report.stats import rank_correlation
from subjects.lottery.goals import STAIRCASE
from subjects.lottery.law import at_the_end, shares
from subjects.lottery.output import FairRow, MonteCarloRow, ShareRow, ViewersRow

R = TypeVar("R")

DRAWN = figures_of(__file__)
LOOKS, FIGURES = DRAWN.looks, DRAWN.figures
COLOURS = ("#2b6cb0", "#c0392b", "#2f855a", "#b7791f", "#6b46c1", "#2c7a7b")
"""Of the first task, the second ..., and again from the start."""


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


def figure_1(finishers: Sequence[FairRow]) -> Sheet:
    """Tickets against completion order."""
    order = [task.order for task in finishers]
    tickets = [task.tickets for task in finishers]
    rho = rank_correlation([float(value) for value in tickets], [float(value) for value in order])
    verdict = "The same staircase" if rho <= STAIRCASE else "No clear staircase"
    axes = (sheet := FIGURES["figure-1"].sheet(tasks=len(order), verdict=verdict, rho=rho)).axes
    colour = LOOKS["rbtree"]["color"]
    perfect: Look = {"where": "mid", "color": MUTED, "alpha": 0.6, "linewidth": 1.2, "zorder": 1}
    axes.step(sorted(order), sorted(tickets, reverse=True), **perfect)
    axes.vlines(order, 0, tickets, color=colour, alpha=0.25, linewidth=1)
    axes.plot(order, tickets, "o", color=colour, markersize=4.5)
    axes.grid(visible=False, axis="x")
    axes.set(xlim=(0, max(order) + 1), ylim=(0, max(tickets) * 1.06))
    return sheet


def _quotients(records: Sequence[Record], metric: str) -> dict[int, float]:
    """rbtree over list by number of tasks, where both were measured."""
    tree, line = curve(records, metric, "rbtree"), curve(records, metric, "list")
    return {count: tree[count].value / line[count].value for count in tree if count in line}


def _pools_sheet(records: Sequence[Record], metric: str, name: str, **words: object) -> Sheet:
    """The curve of each measured pool over the number of tasks, in a band of all runs."""
    runs = sorted({record.n for record in find(records, metric)})
    said = " to ".join(dict.fromkeys(map(str, (runs[0], runs[-1]))))
    sheet = FIGURES[name].sheet(runs=f"n = {said}", **words)
    found = {pool: points for pool in LOOKS if (points := curve(records, metric, pool))}
    for pool, points in found.items():
        low, high = zip(*map(bounds, points.values()), strict=True)
        band: Look = {"color": LOOKS[pool]["color"], "alpha": 0.15, "linewidth": 0}
        sheet.axes.fill_between(list(points), low, high, **band)
    values = {p: {n: record.value for n, record in of.items()} for p, of in found.items()}
    lines(sheet.axes, values, LOOKS)
    sizes = sorted({size for points in found.values() for size in points})
    sheet.axes.set_xticks(sizes, [f"{count:,}" for count in sizes])
    sheet.axes.set_xticks([], minor=True)
    sheet.legend()
    return sheet


def figure_2(records: Sequence[Record]) -> Sheet:
    """Mean time of an enqueue against the number of tasks."""
    quotients = _quotients(records, "enqueue_ns")
    most = max(quotients)
    verdict = "within" if quotients[most] <= 4 else "beyond"
    words = {"most": most, "quotient": quotients[most], "verdict": verdict}
    sheet = _pools_sheet(records, "enqueue_ns", "figure-2", **words)
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
    least, most = min(quotients), max(quotients)
    ends = {"at_least": 1 / quotients[least], "at_most": 1 / quotients[most]}
    words = {"crossing": _crossing(quotients), "least": least, "most": most, **ends}
    sheet = _pools_sheet(records, "cycle_ns", "figure-3", **words)
    plain_numbers(sheet.axes.yaxis)
    curves = [curve(records, "cycle_ns", variant) for variant in ("list", "rbtree")]
    for count, quotient in quotients.items():
        text = f"{1 / quotient:.{1 if quotient < 0.1 else 2}f} x"
        place = (count, max(points[count].value for points in curves))
        side = "right" if quotient < 0.5 else "center"
        note(sheet.axes, text, place, (-3, 9), ha=side, color=INK)
    sheet.axes.margins(y=0.14)
    return sheet


def _rows(cls: type[R], path: Path, every: bool) -> list[R]:
    """The rows of a raw table, or of its first run.  Raises LabError for one that is not right."""
    rows = read_csv(path)
    if not every:
        boot_run = itemgetter("boot", "run")
        rows = [row for row in rows if boot_run(row) == boot_run(rows[0])]
    try:
        return msgspec.convert(rows, list[cls], strict=False)  # type: ignore[valid-type]
    except msgspec.ValidationError as error:
        raise LabError(f"{path}: {error}", exit_code=1) from None


def figure_shares(rows: Sequence[ShareRow]) -> Sheet:
    """Draws won against those that the tickets promise."""
    promised = [100 * row.tickets / row.total for row in rows]
    won = [100 * row.wins / row.lotteries for row in rows]
    sheet = FIGURES["shares"].sheet(
        tasks=len(rows),
        cases=len({row.case for row in rows}),
        points=max(abs(a - b) for a, b in zip(promised, won, strict=True)),
        sigma=max(abs(row.sigma_error) for row in rows),
    )
    sheet.axes.plot([0, 100], [0, 100], color=MUTED, linewidth=1.2)
    sheet.axes.plot(promised, won, "o", color=LOOKS["sums"]["color"])
    return sheet


def _over_time(sheet: Sheet, curves: Mapping[str, Mapping[float, float]]) -> None:
    """Curves of what only rises."""
    looks = {name: {"color": COLOURS[n % len(COLOURS)]} for n, name in enumerate(curves)}
    lines(sheet.axes, curves, looks)
    sheet.axes.set(xlim=(0, None), ylim=(0, None))
    sheet.legend()


def montecarlo(rows: Sequence[MonteCarloRow]) -> Sheet:
    """Cumulative trials of integrations that began one after the other."""
    made, due = at_the_end(rows)
    seconds = rows[-1].time_ms / 1000
    words: dict[str, object] = {
        name: ", ".join(f"{number / 1e6:.1f}" for number in numbers)
        for name, numbers in (("made", made), ("due", due))
    }
    sheet = FIGURES["montecarlo"].sheet(seconds=seconds, ratio=max(made) / min(made), **words)
    look_ms = rows[1].time_ms - rows[0].time_ms
    curves: dict[str, dict[float, float]] = {}
    for row in rows:
        points = curves.setdefault(f"integration {row.task}", {(row.time_ms - look_ms) / 1000: 0.0})
        points[row.time_ms / 1000] = row.trials / 1e6
    at = [seconds] * len(due)
    sheet.axes.plot(at, [number / 1e6 for number in due], "_", color=MUTED, markersize=14)
    _over_time(sheet, curves)
    return sheet


def viewers(rows: Sequence[ViewersRow]) -> Sheet:
    """Cumulative frames of viewers whose tickets change."""
    told = []
    for phase, parts in shares(rows).items():
        slowest = min(part.frames for part in parts)
        tickets = ":".join(str(part.tickets) for part in parts)
        rates = ":".join(f"{part.frames / slowest:.2f}" for part in parts)
        told.append(f"{rates} {phase} ({tickets})")
    sheet = FIGURES["viewers"].sheet(rates=", and ".join(told))
    curves: dict[str, dict[float, float]] = {}
    for row in rows:
        curves.setdefault(f"viewer {row.letter}", {})[row.time_ms / 1000] = row.frames
    change = max(row.time_ms for row in rows if row.phase == rows[0].phase)
    sheet.axes.axvline(change / 1000, color=MUTED, linestyle=":", linewidth=1.2)
    _over_time(sheet, curves)
    return sheet


def draw(results: Path, plots: Path, stem: str) -> list[Path]:
    """Draw what results STEM allow; returns the files.  Raises LabError if a file is not right."""
    records = read_json(results / f"{stem}.json")

    def of(
        table: str, cls: type[R], figure: Callable[[list[R]], Sheet], every: bool = False
    ) -> Sheet | None:
        path = results / f"{stem}-{table}.csv"
        return figure(_rows(cls, path, every)) if path.exists() else None

    sheets = {
        "figure-1": of("fair", FairRow, figure_1),
        "figure-2": figure_2(records) if _quotients(records, "enqueue_ns") else None,
        "figure-3": figure_3(records) if _quotients(records, "cycle_ns") else None,
        "shares": of("share", ShareRow, figure_shares, every=True),
        "montecarlo": of("montecarlo", MonteCarloRow, montecarlo),
        "viewers": of("viewers", ViewersRow, viewers),
    }
    return save_all(sheets, plots, stem)

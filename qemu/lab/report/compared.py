# SPDX-License-Identifier: GPL-2.0
"""A figure of a reference and our records: its cells, and whether its claim holds here."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from lab.report.goals import NOT_MEASURED, Verdict, find
from lab.report.records import Record
from lab.report.references import Figure, Series


class Holds(StrEnum):
    """What came of a claim, in the words of the page."""

    YES = "holds"
    NO = "does not hold here"
    BETTER = "no longer so here"
    MISSING = "not measured"
    SHORT = "not judged"
    UNJUDGED = "see the plot"


@dataclass(frozen=True)
class Cell:
    """One row of one column. theirs is a number, a word or nothing; so is ours without a word.

    Of a quantile there is no deviation: that of the samples is another figure.
    """

    theirs: float | str | None
    ours: float | None = None
    n: int = 0
    low: float | None = None
    high: float | None = None
    deviation: float | None = None


@dataclass(frozen=True)
class Column:
    """A series with what was measured; the cells are those of the table's rows."""

    name: str
    measurable: bool
    cells: dict[str, Cell]

    @property
    def printed(self) -> bool:
        """Anything of it is theirs."""
        return any(cell.theirs is not None for cell in self.cells.values())


@dataclass(frozen=True)
class Table:
    """Columns over the same rows."""

    rows: list[str]
    columns: list[Column]


def _is_quantile(series: Series) -> bool:
    names = (str(series.where.get(key, "")) for key in ("stat", "quantile"))
    return any(re.fullmatch(r"p\d+", name) for name in names)


def _cell(series: Series, row: str, printed: float | str | None, record: Record) -> Cell:
    spread = record.spread if isinstance(record.spread, Mapping) else {"sd": record.spread}
    low, high, deviation = (spread.get(name) for name in ("min", "max", "sd"))

    def of(number: float | None) -> float | None:
        if number is None or not series.error:
            return number
        return float(row) * (1 + number / 100)

    if _is_quantile(series):
        deviation = None
    if series.error and deviation is not None:
        deviation = float(row) * deviation / 100
    return Cell(printed, of(record.value), record.n, of(low), of(high), deviation)


def _cells(series: Series, records: Sequence[Record]) -> dict[str, Cell]:
    printed = series.printed()
    cells = {row: Cell(value) for row, value in printed.items()}
    found = find(records, series.metric, series.variant, **series.where) if series.metric else []
    for record in found:
        row = record.named(series.by)
        # By mechanism only the rows of the document are shown; otherwise all rows are.
        if series.by != "variant" or row in printed:
            cells[row] = _cell(series, row, printed.get(row), record)
    return cells


def _order(row: str) -> tuple[bool, float, str]:
    try:
        return (False, float(row), row)
    except ValueError:
        return (True, 0.0, row)


def table(figure: Figure, records: Sequence[Record]) -> Table:
    """What is printed and what was measured, over the rows of either."""
    columns = [Column(s.name, bool(s.metric), _cells(s, records)) for s in figure.series]
    rows = list(dict.fromkeys(row for column in columns for row in column.cells))
    numbers = all(not _order(row)[0] for row in rows)
    return Table(sorted(rows, key=_order) if numbers else rows, columns)


def _unordered(figure: Figure, found: Table) -> list[str]:
    """Rows of the order that have no number of ours."""
    cells = found.columns[0].cells
    numbers = ((row, cells[row].ours if row in cells else None) for row in figure.order)
    return [row for row, value in numbers if value is None or not math.isfinite(value)]


def lacks(figure: Figure, found: Table, goals: Mapping[str, Verdict]) -> str:
    """What a judgement of the claim lacks; empty if that cannot be told."""
    if figure.order:
        return f"needs {', '.join(_unordered(figure, found))}"
    unjudged = (goals[name] for name in figure.goals if name in goals and goals[name].met is None)
    return "; ".join(dict.fromkeys(goal.why for goal in unjudged if goal.why))


def _unjudged(figure: Figure, found: Table, goals: Mapping[str, Verdict]) -> Holds:
    ours = any(cell.ours is not None for one in found.columns for cell in one.cells.values())
    judged = (goals[name].measured for name in figure.goals if name in goals)
    return Holds.SHORT if ours or any(one != NOT_MEASURED for one in judged) else Holds.MISSING


def holds(figure: Figure, found: Table, goals: Mapping[str, Verdict]) -> Holds:
    """Whether the claim holds here: by goals' verdicts (None: not judged), or by an order."""
    if figure.order:
        if _unordered(figure, found):
            return _unjudged(figure, found, goals)
        cells = found.columns[0].cells
        numbers = [cells[row].ours or 0.0 for row in figure.order]
        return Holds.YES if numbers == sorted(numbers) else Holds.NO
    if not figure.goals:
        measurable = any(series.metric for series in figure.series)
        return Holds.UNJUDGED if measurable or figure.plots else Holds.MISSING
    verdicts = [goals[name].met if name in goals else None for name in figure.goals]
    if None in verdicts:
        return _unjudged(figure, found, goals)
    if figure.refuted:
        return Holds.BETTER if all(verdicts) else Holds.YES
    return Holds.YES if all(verdicts) else Holds.NO

# SPDX-License-Identifier: GPL-2.0
"""Goals: what an experiment must show, what it showed, and the table of both."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from lab.records import Param, Record


@dataclass(frozen=True)
class Goal:
    """One line of the table; `met` is None when the run did not measure it."""

    what: str
    wanted: str
    measured: str
    met: bool | None

    def verdict(self) -> str:
        """yes, no or `-` (not measured)."""
        if self.met is None:
            return "-"
        return "yes" if self.met else "no"


def find(
    records: Sequence[Record], metric: str, variant: str | None = None, **params: Param
) -> list[Record]:
    """Records of a metric whose variant and parameters, where given, are these."""
    return [
        record
        for record in records
        if record.metric == metric
        and variant in (None, record.variant)
        and all(record.params.get(name) == value for name, value in params.items())
    ]


def value(records: Sequence[Record], metric: str, variant: str, **params: Param) -> float | None:
    """The value of the one record asked for, or None if it was not measured."""
    found = find(records, metric, variant, **params)
    return found[0].value if len(found) == 1 else None


def ratio(above: float | None, below: float | None) -> float | None:
    """Quotient of two values, None where one is missing or the divisor is 0."""
    return None if above is None or not below else above / below


Found = Mapping[str, float | None]
"""What was measured, by the name of the row; None where it was not."""


def judge(what: str, wanted: str, found: Found, good: Callable[[float], bool], form: str) -> Goal:
    """A goal of several rows: one that is bad spoils it, all must be there to meet it."""
    there = {name: number for name, number in found.items() if number is not None}
    if not there:
        return Goal(what, wanted, "not measured", None)
    numbers = {
        name: "-" if number is None else f"{number:{form}}" for name, number in found.items()
    }
    shown = ", ".join(f"{name} {text}".strip() for name, text in numbers.items())
    met = all(good(number) for number in there.values())
    return Goal(what, wanted, shown, met if len(there) == len(found) or not met else None)


def at_least(what: str, least: float, found: Found, form: str = ".3f") -> Goal:
    """A goal whose rows must not be less."""
    return judge(what, f">= {least:g}", found, lambda number: number >= least, form)


def at_most(what: str, most: float, found: Found, form: str = ".3f") -> Goal:
    """A goal whose rows must not be greater."""
    return judge(what, f"<= {most:g}", found, lambda number: number <= most, form)


def format_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Aligned columns under a ruled header; no trailing blanks; ends with a newline."""
    table = [list(header), *(list(row) for row in rows)]
    widths = [max(len(row[column]) for row in table) for column in range(len(header))]
    table.insert(1, ["-" * width for width in widths])
    lines = []
    for row in table:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines) + "\n"


def goals_table(goals: Sequence[Goal]) -> str:
    """The table of goals as text."""
    rows = [(goal.what, goal.wanted, goal.measured, goal.verdict()) for goal in goals]
    return format_table(("goal", "wanted", "measured", "met"), rows)

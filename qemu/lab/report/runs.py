# SPDX-License-Identifier: GPL-2.0
"""Two runs of an instrument, figure by figure."""

import math
from collections.abc import Iterator

from lab import LabError
from lab.report.document import Document, Result
from lab.report.goals import format_table

HIDDEN = ("low_", "high_", "model_", "log_", "distance_")
HEADER = ("result", "figure", "old", "new", "new / old", "95 %")


def _differences(old: Document, new: Document) -> Iterator[str]:
    """What was not the same, beside the results."""
    pairs = (old.machine() | old.settings, new.machine() | new.settings)
    for name in dict.fromkeys((*pairs[0], *pairs[1])):
        before, after = (pair.get(name) for pair in pairs)
        if before != after:
            yield f"{name}: {before} -> {after}"


def _quotient(old: Result, new: Result, figure: str) -> str:
    """The interval of the quotient of two means; "~" in front: it may well be 1."""
    before, after = old.interval(figure), new.interval(figure)
    if before is None or after is None or min(*before, *after) <= 0:
        return ""
    centre = math.log(new.figures[figure] / old.figures[figure])
    half = math.hypot(*(math.log(high / low) / 2 for low, high in (before, after)))
    low, high = math.exp(centre - half), math.exp(centre + half)
    return f"{'~ ' if low <= 1 <= high else ''}{low:.3f} .. {high:.3f}"


def _shown(figure: str) -> bool:
    """Not the ends of intervals, nor how well models fit, nor the same in cycles."""
    return not figure.startswith(HIDDEN) and "_cycles" not in figure


def _lines(old: Result, new: Result) -> Iterator[tuple[str, ...]]:
    name = old.name
    for figure in (figure for figure in old.figures if _shown(figure)):
        if figure not in new.figures:
            continue
        before, after = old.figures[figure], new.figures[figure]
        quotient = f"{after / before:.3f}" if before else "-"
        cells = (f"{before:.6g}", f"{after:.6g}", quotient, _quotient(old, new, figure))
        yield (name, figure, *cells)
        name = ""


def compared(old: Document, new: Document) -> str:
    """The table, below what else differs.  Raises LabError for runs of two tools."""
    if old.tool != new.tool:
        raise LabError(f"one run is of {old.tool}, the other of {new.tool}")
    text = "".join(f"{line}\n" for line in _differences(old, new))
    before, after = old.named(), new.named()
    lines: list[tuple[str, ...]] = []
    for name in dict.fromkeys((*before, *after)):
        one, two = before.get(name), after.get(name)
        if one is None or two is None:
            text += f"{name}: only in the {'old' if two is None else 'new'} run\n"
        elif one.missing or two.missing:
            which = "old" if one.missing else "new"
            text += f"{name}: missing in the {which} run: {one.missing or two.missing}\n"
        else:
            lines += _lines(one, two)
    return f"{text}\n{format_table(HEADER, lines)}" if text else format_table(HEADER, lines)

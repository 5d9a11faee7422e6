# SPDX-License-Identifier: GPL-2.0
"""What the page's script draws: a comparison, or points, as plain data."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from lab.report.compared import Column, Table

WIDE = 50
"""Values that far apart are drawn on a logarithmic axis."""


@dataclass(frozen=True)
class Line:
    """A curve or a group of bars; a missing point is None.

    theirs is drawn dashed, or hollow; hue numbers the colour.
    """

    name: str
    theirs: bool
    points: list[Any]
    hue: int


@dataclass(frozen=True)
class Chart:
    """One plot. labels name the bars; a curve's points are x and y."""

    kind: str
    series: list[Line]
    labels: list[str]
    x: str
    y: str
    xscale: str
    yscale: str

    def data(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def _scale(values: Sequence[float]) -> str:
    wide = bool(values) and min(values) > 0 and max(values) / min(values) > WIDE
    return "logarithmic" if wide else "linear"


def point(x: float, y: float) -> dict[str, float]:
    """A point of a curve."""
    return {"x": x, "y": y}


def curves(series: Sequence[Line], kind: str, x: str, y: str) -> Chart:
    """Lines or, with the kind "scatter", points."""
    points = [one for line in series for one in line.points]
    scales = (_scale([one[axis] for one in points]) for axis in ("x", "y"))
    return Chart(kind, list(series), [], x, y, *scales)


def _values(column: Column, theirs: bool) -> dict[str, float]:
    found = ((row, cell.theirs if theirs else cell.ours) for row, cell in column.cells.items())
    return {row: value for row, value in found if isinstance(value, (int, float))}


def comparison(found: Table, row: str, unit: str) -> Chart | None:
    """A comparison's numbers: curves over rows that are numbers, else bars. None: no numbers."""
    pairs = [
        (Line(f"{column.name}, {'theirs' if theirs else 'ours'}", theirs, [], hue), values)
        for hue, column in enumerate(found.columns)
        for theirs in (True, False)
        if (values := _values(column, theirs))
    ]
    if not pairs:
        return None
    if len(found.rows) > 1 and all(name.isdecimal() for name in found.rows):
        for line, values in pairs:
            line.points.extend(
                point(float(name), values[name]) for name in found.rows if name in values
            )
        return curves([line for line, _ in pairs], "line", row, unit)
    for line, values in pairs:
        line.points.extend(values.get(name) for name in found.rows)
    numbers = [value for _, values in pairs for value in values.values()]
    series = [line for line, _ in pairs]
    return Chart("bar", series, found.rows, row, unit, "category", _scale(numbers))

# SPDX-License-Identifier: GPL-2.0
"""Charts: as plain data for the page's script, and drawn, with their words from a figures.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from lab.report.compared import Column, Table
from lab.report.sheet import INK, Sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

WIDE = 50
"""Values that far apart are drawn on a logarithmic axis."""
LEVEL = "#c0392b"
GROUP_WIDTH = 0.84
MARGIN = 0.3
"""Room at the right for the words of a line, in groups."""
READABLE = 16
"""Bars up to which the number of each stands upright."""


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


class Figure(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A drawn figure: the words around it, with {} for what was measured, and its axes."""

    title: str
    subtitle: str
    reference: str
    here: str
    axes: dict[str, Any] = {}

    def sheet(self, **words: object) -> Sheet:
        """The figure without its data."""
        texts = (self.title, self.subtitle, self.reference, self.here)
        sheet = Sheet(*(text.format(**words) for text in texts))
        sheet.axes.set(**self.axes)
        return sheet


Look = dict[str, Any]
"""How a series is drawn: arguments of Axes.plot()."""


class Figures(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A subject's figures.toml."""

    looks: dict[str, Look]
    figures: dict[str, Figure]


def figures_of(module: str) -> Figures:
    """The figures.toml beside a module."""
    data = tomllib.loads(Path(module).with_name("figures.toml").read_text(encoding="utf-8"))
    return msgspec.convert(data, Figures)


def save_all(sheets: Mapping[str, Sheet | None], plots: Path, stem: str) -> list[Path]:
    """Write PLOTS/STEM-NAME.png and .svg of each figure that there is."""
    found = ((name, sheet) for name, sheet in sheets.items() if sheet is not None)
    return [file for name, sheet in found for file in sheet.save(plots, f"{stem}-{name}")]


Curves = Mapping[str, Mapping[int, float]] | Mapping[str, Mapping[float, float]]
"""Values over load or time, by series."""


def lines(axes: Axes, curves: Curves, looks: Mapping[str, Look], **style: Any) -> None:
    """Draw a line for each series."""
    for name, points in curves.items():
        look = {"label": name, **looks[name], **style}
        axes.plot(list(points), list(points.values()), **look)


def marks(axes: Axes, spots: Mapping[str, tuple[float, float]], looks: Mapping[str, Look]) -> None:
    """Draw a mark for each series."""
    found = {name: {x: y} for name, (x, y) in spots.items()}
    lines(axes, found, looks, linestyle="none", markersize=8)


def plain_numbers(axis: Axis, text: Callable[[float], str] = "{:,.0f}".format) -> None:
    """Give a logarithmic axis plain numbers at 1, 2 and 5 of every decade."""
    from matplotlib.ticker import LogLocator, NullLocator

    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(lambda number, _: text(number))


def note(
    axes: Axes, text: str, place: tuple[float, float], off: tuple[float, float], **more: Any
) -> None:
    """Write beside a place, off by so many points."""
    axes.annotate(text, place, xytext=off, textcoords="offset points", fontsize=8.5, **more)


@dataclass(frozen=True)
class Bar:
    """value: the worst repeat; cut: some repeat was ended early, so it is a lower bound."""

    value: float
    median: float
    cut: bool = False

    def text(self, digits: int) -> str:
        """In words."""
        return f"{'> ' if self.cut else ''}{self.value:.{digits}f}"


Bars = Mapping[str, Mapping[str, Bar]]
"""Bars by series, then by group; a group that was not measured has none."""


def bars(axes: Axes, drawn: Bars, groups: Sequence[str], looks: Mapping[str, Look]) -> None:
    """Draw grouped bars, each with its median and number; those that were cut are hatched."""
    from matplotlib.patches import Patch

    width = GROUP_WIDTH / len(drawn)
    top = max(bar.value for found in drawn.values() for bar in found.values())
    few = sum(map(len, drawn.values())) <= READABLE
    digits = 2 if top < 10 else 1 if top < 100 else 0
    for number, (name, found) in enumerate(drawn.items()):
        left = -GROUP_WIDTH / 2 + (number + 0.5) * width
        places = [groups.index(group) + left for group in found]
        values, medians = ([getattr(b, key) for b in found.values()] for key in ("value", "median"))
        hatches = ["///" if bar.cut else "" for bar in found.values()]
        style: Look = {"hatch": hatches, "edgecolor": "white", "linewidth": 0}
        made = axes.bar(places, values, width * 0.92, color=looks[name]["color"], **style)
        starts, ends = ([at + side * width * 0.36 for at in places] for side in (-1, 1))
        axes.hlines(medians, starts, ends, color="white", linewidth=1.4)
        texts = [bar.text(digits) for bar in found.values()]
        size = {"rotation": 0, "fontsize": 8.5} if few else {"rotation": 90, "fontsize": 7}
        axes.bar_label(made, texts, padding=3, color=INK, **size)
    axes.set_xticks(range(len(groups)), groups)
    axes.grid(visible=False, axis="x")
    logarithmic = axes.get_yscale() == "log"
    axes.set(
        xlim=(-0.5, len(groups) - 0.5 + MARGIN), ylim=(logarithmic, top * (1.2 if few else 1.28))
    )
    if logarithmic:
        axes.yaxis.set_major_formatter(lambda number, _: f"{number:,.0f}")
    below: Look = {
        "loc": "upper center",
        "bbox_to_anchor": (0.5, -0.06),
        "ncols": min(len(drawn), 5),
    }
    below |= {"frameon": False, "labelcolor": INK, "fontsize": 8.5, "handlelength": 1}
    axes.legend(handles=[Patch(**looks[name]) for name in drawn], **below)


def level(axes: Axes, height: float, text: str) -> None:
    """Draw a dashed line across, as the reference's for the idle disk."""
    axes.axhline(height, color=LEVEL, linestyle="--", linewidth=1.2, zorder=3)
    style: Look = {"xycoords": ("axes fraction", "data"), "ha": "right", "color": LEVEL}
    note(axes, text, (1, height), (0, 3), **style)

# SPDX-License-Identifier: GPL-2.0
"""The three plots at the top of the page as one picture, stock and ours, for README."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lab.paths import Paths
from lab.report.charts import Chart, Line
from lab.report.references import references
from lab.report.results import Run, run
from lab.report.sheet import INK, MUTED, empty, save
from lab.report.tops import Top, beside, tops

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAME = "three"
SIZE = (12.0, 4.0)
COLOURS = ("#c0392b", "#2b6cb0", "#6c7680")
"""Stock's is the first where there is one; threads, if any, are the last."""
ORDER = ("stock", "privileged", "governor", "threaded NAPI")


def _lines(top: Top) -> list[tuple[str, Line]]:
    """What was measured of a plot, under the names that the picture has for it."""
    series = top.chart.series if top.chart else []
    found = [(top.drawn[line.name], line) for line in series if line.name in top.drawn]
    return sorted(found, key=lambda one: ORDER.index(one[0]) if one[0] in ORDER else 0)


def _bars(axes: "Axes", chart: Chart, lines: Sequence[tuple[str, Line]]) -> None:
    """What was measured of all lines, with room for the legend."""
    width = 0.8 / len(lines)
    shown = [at for at in range(len(chart.labels)) if all(line.points[at] for _, line in lines)]
    for number, (name, line) in enumerate(lines):
        off = (number - (len(lines) - 1) / 2) * width
        places = [place + off for place in range(len(shown))]
        heights = [line.points[at] or 0.0 for at in shown]
        axes.bar(places, heights, width, color=COLOURS[number], label=name)
    labels = [beside(chart.labels[at]).replace(" and ", "\nand ") for at in shown]
    axes.set_xticks(range(len(labels)), labels, fontsize=9)
    axes.margins(y=0.3)
    axes.grid(visible=False, axis="x")


def _curves(axes: "Axes", lines: Sequence[tuple[str, Line]]) -> None:
    for number, (name, line) in enumerate(lines):
        xs, ys = ([one[key] for one in line.points] for key in ("x", "y"))
        axes.plot(xs, ys, "o-", color=COLOURS[number], label=name, markersize=4)


def _scatter(axes: "Axes", lines: Sequence[tuple[str, Line]]) -> None:
    for name, line in lines:
        xs, ys = ([one[key] for one in line.points] for key in ("x", "y"))
        style = ("--", MUTED) if line.theirs else ("o", COLOURS[1])
        axes.plot(xs, ys, style[0], color=style[1], label=name, markersize=5)


def _panel(axes: "Axes", top: Top) -> None:
    axes.set_title(top.title, fontsize=11, fontweight="bold", loc="left")
    lines = _lines(top)
    if top.chart is None or not lines:
        axes.set_axis_off()
        axes.text(0.5, 0.5, "not measured", ha="center", color=MUTED)
        return
    if top.chart.kind == "bar":
        _bars(axes, top.chart, lines)
    elif top.chart.kind == "scatter":
        _scatter(axes, lines)
    else:
        _curves(axes, lines)
        axes.xaxis.set_major_formatter(lambda number, _: f"{number / 1000:g}k")
        axes.yaxis.set_major_formatter(lambda number, _: f"{number / 1000:g}k")
    axes.set_xlabel(top.chart.x)
    axes.set_ylabel(top.chart.y)
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False, labelcolor=INK, fontsize=9)


def _source(runs: Mapping[str, Run], drawn: Sequence[Top]) -> str:
    found = [runs[top.experiment] for top in drawn if _lines(top)]
    commands = ", ".join(dict.fromkeys(one.command for one in found))
    kernels = sorted({name for one in found if one.origin for name in one.origin.kernels})
    return f"{commands}; Linux {', '.join(kernels) or 'unknown'}, virtual time"


def draw(paths: Paths) -> list[Path]:
    """Write PLOTS/three.png and .svg of the fullest results; nothing if there are none."""
    runs = {name: run(paths, name) for name in references().documents}
    found = tops(runs, paths.results)
    if not any(map(_lines, found)):
        return []
    with empty(SIZE, layout="constrained") as figure:
        panels = figure.subplots(1, len(found))
        for axes, top in zip(panels, found, strict=True):
            _panel(axes, top)
        figure.supxlabel(_source(runs, found), fontsize=8.5, color=MUTED)
        return save(figure, paths.plots, NAME)

# SPDX-License-Identifier: GPL-2.0
"""The reference's figures with these measurements, and its table 5 as a chart."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING

from lab.report.charts import figures_of, lines, save_all
from lab.report.goals import find, format_table
from lab.report.records import Param, Record, read_csv, read_json, write_text
from lab.report.sheet import INK, MUTED, Sheet
from subjects.ipc.metrics import CYCLES, STATS, Bucket
from subjects.ipc.reference import CYCLE_TABLES, TABLE, in_cycles

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HISTOGRAM = "#9db8d2"
NORMAL = "#c0392b"
LOGNORMAL = "#2b6cb0"
FIGURES, LOOKS = (drawn := figures_of(__file__)).figures, drawn.looks
OUTERMOST = 0.995
"""What is drawn of a histogram; the fits are those of all samples."""
OUTER = 1000 * (1 - OUTERMOST)
BARS = 60
SHOWN = ("zmq-ipc", "semaphore")
BESIDE = ("zmq-inproc", "zmq-ipc")
PLACES = (("host", "none"), ("host", "hogs"), ("guest", "none"), ("guest", "hogs"))


def distributions(buckets: Sequence[Bucket]) -> tuple[NormalDist, NormalDist]:
    """The normal distribution of samples and that of their logarithms."""
    count = sum(bucket.count for bucket in buckets)
    middles = [((bucket.low + bucket.high) / 2, bucket.count / count) for bucket in buckets]

    def fit(values: Sequence[tuple[float, float]]) -> NormalDist:
        mean = sum(value * part for value, part in values)
        variance = sum(part * (value - mean) ** 2 for value, part in values)
        return NormalDist(mean, math.sqrt(variance) or 1e-9)

    return fit(middles), fit([(math.log(max(value, 0.1)), part) for value, part in middles])


def distance(buckets: Sequence[Bucket], fit: NormalDist, logarithmic: bool) -> float:
    """Kolmogorov's: the greatest difference between the samples and a fit."""
    count = sum(bucket.count for bucket in buckets)
    before, worst = 0, 0.0
    for bucket in buckets:
        before += bucket.count
        end = max(bucket.high, 0.1)
        model = fit.cdf(math.log(end) if logarithmic else end)
        worst = max(worst, abs(before / count - model))
    return worst


def _drawn(buckets: Sequence[Bucket]) -> tuple[float, float]:
    """From where to where: nearly all samples."""
    count, seen = sum(bucket.count for bucket in buckets), 0
    low, high = buckets[0].low, buckets[-1].high
    for bucket in buckets:
        if seen < (1 - OUTERMOST) * count:
            low = bucket.low
        seen += bucket.count
        if seen >= OUTERMOST * count:
            high = bucket.high
            break
    return math.log(max(low, 0.5)), math.log(max(high, 1.0))


def _bars(buckets: Sequence[Bucket]) -> tuple[list[float], list[float]]:
    """Edges in logarithms of ns, and densities between them."""
    count = sum(bucket.count for bucket in buckets)
    low, high = _drawn(buckets)
    width = max((high - low) / BARS, 1e-6)
    heights = [0.0] * BARS
    for bucket in buckets:
        place = math.floor((math.log(max((bucket.low + bucket.high) / 2, 0.1)) - low) / width)
        if 0 <= place < BARS:
            heights[place] += bucket.count / count / width
    return [low + i * width for i in range(BARS + 1)], heights


def figure_1(mechanism: str, buckets: Sequence[Bucket]) -> Sheet:
    """A histogram with both fits."""
    normal, logs = distributions(buckets)
    far = (distance(buckets, normal, False), distance(buckets, logs, True))
    sheet = FIGURES["histogram"].sheet(
        mechanism=mechanism,
        count=sum(bucket.count for bucket in buckets),
        outer=OUTER,
        better="log-normal" if far[1] < far[0] else "normal",
        normal=far[0],
        logs=far[1],
    )
    _draw_histogram(sheet.axes, buckets, (normal, logs))
    return sheet


def figure_2(histograms: Mapping[str, Sequence[Bucket]]) -> Sheet | None:
    """ZeroMQ between threads of a process compared with that between processes."""
    if not all(name in histograms for name in BESIDE):
        return None
    fits = {name: distributions(histograms[name]) for name in BESIDE}
    far = [distance(histograms[name], fits[name][1], True) for name in BESIDE]
    sheet = FIGURES["inproc-ipc"].sheet(outer=OUTER, inproc=far[0], ipc=far[1])
    sheet.axes.set_axis_off()
    for column, name in enumerate(BESIDE):
        panel = sheet.axes.inset_axes((0.53 * column, 0.0, 0.47, 0.94))
        _draw_histogram(panel, histograms[name], fits[name])
        panel.set_title(name, fontsize=10)
    return sheet


def _round_numbers(low: float, high: float) -> list[float]:
    """At least two between the two, where there is room."""
    for steps in ((1, 10), (1, 2, 5), (1, 1.5, 2, 3, 4, 5, 7)):
        decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        found = sorted({step * 10.0**decade for step in steps for decade in decades})
        inside = [number for number in found if low <= number <= high]
        if len(inside) > 2:
            return inside
    return inside


def _draw_histogram(
    axes: Axes, buckets: Sequence[Bucket], fits: tuple[NormalDist, NormalDist]
) -> None:
    """A histogram with both fits."""
    edges, heights = _bars(buckets)
    starts = [math.exp(edge) for edge in edges]
    widths = [two - one for one, two in pairwise(starts)]
    axes.bar(starts[:-1], heights, widths, align="edge", color=HISTOGRAM, label="measured")
    logarithms = [edges[0] + (edges[-1] - edges[0]) * i / 400 for i in range(401)]
    normal, logs = fits
    # a density per factor e, like the bars
    curves = {
        "normal": {math.exp(x): normal.pdf(math.exp(x)) * math.exp(x) for x in logarithms},
        "log-normal": {math.exp(x): logs.pdf(x) for x in logarithms},
    }
    looks = {"normal": {"color": NORMAL}, "log-normal": {"color": LOGNORMAL}}
    lines(axes, curves, looks)
    ends = (starts[0], starts[-1])
    ticks = _round_numbers(*ends)
    axes.set(xscale="log", xlabel="ns")
    axes.set_xticks(ticks, [f"{tick:,.0f}" for tick in ticks], fontsize=8)
    axes.set_xticks([], minor=True)
    axes.set(xlim=ends, yticks=[], ylim=(0, 1.15 * max(heights)))
    axes.legend(loc="upper right", frameon=False, labelcolor=INK)


def _stats(
    records: Sequence[Record], unit: str = "ns", **params: Param
) -> dict[str, dict[str, float]]:
    """Statistics by mechanism of one place."""
    found: dict[str, dict[str, float]] = {}
    for record in find(records, f"latency_{unit}", None, **params):
        found.setdefault(record.variant, {})[str(record.params["stat"])] = record.value
    return found


def _order(names: Sequence[str]) -> list[str]:
    """The reference's order, then the others by name."""
    return [*(n for n in TABLE if n in names), *sorted(n for n in names if n not in TABLE)]


def _containers(here: Mapping[str, Mapping[str, float]]) -> str:
    """What containers cost, in words."""
    parts = []
    for inside, outside in (("zmq-tcp-containers", "zmq-tcp"), ("shm-containers", "spin-shm")):
        if inside in here and outside in here:
            quotient = here[inside]["p50"] / here[outside]["p50"]
            parts.append(f"{inside} takes {quotient:.2f} x {outside}")
    return f"By the median {', '.join(parts)}." if parts else "No containers were measured."


def table_5(records: Sequence[Record]) -> Sheet | None:
    """The mechanisms that the reference does not have."""
    here = _stats(records, where="host", load="none", policy="other")
    if not here:
        return None
    names = list(reversed(_order(list(here))))
    sheet = FIGURES["mechanisms"].sheet(containers=_containers(here))
    axes = sheet.axes
    for place, name in enumerate(names):
        own, line = here[name], TABLE.get(name)
        _range(axes, place + 0.15, own, LOGNORMAL)
        axes.plot([own["p50"]], [place + 0.15], "|", color=INK, markersize=11, zorder=3)
        if line:
            _range(axes, place - 0.15, line, MUTED)
    axes.set_yticks(range(len(names)), names, fontsize=7.5)
    axes.grid(visible=False, axis="y")
    return sheet


def _range(axes: Axes, at: float, line: Mapping[str, float], colour: str) -> None:
    axes.plot([line["p1"], line["p99"]], [at] * 2, color=colour, linewidth=3)
    axes.plot([line["mean"]], [at], "o", color=colour)


def policies(records: Sequence[Record]) -> Sheet | None:
    """What the policies do in the guest, alone and under hogs."""
    found = {
        (policy, load): _stats(records, where="guest", load=load, policy=policy)
        for policy in LOOKS
        for load in ("none", "hogs")
    }
    names = _order(sorted({name for of in found.values() for name in of}))
    if not names:
        return None
    sheet = FIGURES["policies"].sheet()
    axes = sheet.axes
    for column, (policy, look) in enumerate(LOOKS.items()):
        for row, (load, marker) in enumerate((("none", "o"), ("hogs", "s"))):
            for name, own in found[policy, load].items():
                place = names.index(name)
                x = place + (column - 1.5) * 0.2 + (row - 0.5) * 0.08
                label = policy if place == 0 and row == 0 else None
                axes.plot([x, x], [own["p50"], own["p99"]], lw=1, **look)
                axes.plot([x], [own["p50"]], marker, ms=3.5, label=label, **look)
    axes.set_xticks(range(len(names)), names, rotation=40, ha="right", fontsize=7)
    sheet.legend()
    return sheet


def _cell(values: Mapping[str, float], stat: str) -> str:
    """A number; one repeat has no interval."""
    return f"{values[stat]:.1f}" if stat in values else "-"


def cycles_text(records: Sequence[Record]) -> str:
    """The reference's tables 1 to 4, in cycles, each line followed by ours."""
    parts = []
    here = _stats(records, "cycles", where="host", load="none", policy="other")
    for number, names in CYCLE_TABLES.items():
        rows = []
        for name in names:
            theirs = dict(zip(CYCLES, in_cycles(number, name), strict=True))
            rows.append([name, "reference", *(_cell(theirs, stat) for stat in CYCLES)])
            rows.append([name, "here", *(_cell(here.get(name, {}), stat) for stat in CYCLES)])
        table = format_table(("cycles", "", *CYCLES), rows)
        parts.append(f"Table {number}: host, load none, policy other\n\n{table}")
    return "\n".join(parts)


def table_text(records: Sequence[Record]) -> str:
    """The tables of the reference, for each place and policy that was measured."""
    parts = [cycles_text(records)]
    for where, load in PLACES:
        for policy in LOOKS:
            found = _stats(records, where=where, load=load, policy=policy)
            if not found:
                continue
            rows = [
                [name, *(_cell(found[name], stat) for stat in STATS)]
                for name in _order(list(found))
            ]
            table = format_table(("ns", *STATS), rows)
            parts.append(f"{where}, load {load}, policy {policy}\n\n{table}")
    return "\n".join(parts)


def _histograms(path: Path) -> Mapping[str, list[Bucket]]:
    """Of the idle host under SCHED_OTHER."""
    found: dict[str, list[Bucket]] = {}
    for row in read_csv(path):
        if (row["where"], row["load"], row["policy"]) == ("host", "none", "other"):
            bucket = Bucket(float(row["from_ns"]), float(row["to_ns"]), int(row["count"]))
            found.setdefault(row["mechanism"], []).append(bucket)
    return found


def draw(results: Path, plots: Path, stem: str) -> list[Path]:
    """Draw what results STEM allow; returns the files.  Raises LabError if a file is not right."""
    records = read_json(results / f"{stem}.json")
    histograms = _histograms(results / f"{stem}-histograms.csv")
    sheets: dict[str, Sheet | None] = {
        f"histogram-{mechanism}": figure_1(mechanism, histograms[mechanism])
        for mechanism in SHOWN
        if mechanism in histograms
    }
    sheets |= {
        "inproc-ipc": figure_2(histograms),
        "mechanisms": table_5(records),
        "policies": policies(records),
    }
    written = save_all(sheets, plots, stem)
    tables = plots / f"{stem}-tables.txt"
    write_text(tables, table_text(records))
    return [*written, tables]

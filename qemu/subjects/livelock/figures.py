# SPDX-License-Identifier: GPL-2.0
"""The reference's figures 2 to 5 with three cards, and Mogul's curve with one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lab.report.charts import figures_of, lines, marks, note, plain_numbers, save_all
from lab.report.goals import find, value
from lab.report.records import Record, read_csv, read_json
from lab.report.sheet import MUTED, Sheet
from subjects.livelock import variants as v
from subjects.livelock.derived import curve, flatness, loss_free, over_threads, point, trade
from subjects.livelock.experiment import FLOOD_PPS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DRAWN = figures_of(__file__)
LOOKS = {
    name: {"label": v.LABELS[name], "markersize": 4.5, "linewidth": 1.4, **look}
    for name, look in DRAWN.looks.items()
}
STUDENT_PORTS = 3
"""As many cards as the reference had."""
LATENCY_PPS = (20000, 16000, 6000)
"""Rates whose latencies are drawn: the first one that was measured."""
METRICS = {
    "throughput": "goodput_pps",
    "loss": "lost_pps",
    "buffer": "buffer_full",
    "mogul": "goodput_pps",
    "share": "user_share_pct",
}
"""What is drawn over the offered rate."""
ONE_CARD = ("mogul", "share")

Curves = Mapping[str, Mapping[int, float]]
"""Values by offered rate, by variant."""


def _curves(records: Sequence[Record], metric: str, ports: int) -> Curves:
    """The variants of which more than one rate was measured."""
    found = {name: curve(records, metric, name, ports) for name in LOOKS}
    return {name: points for name, points in found.items() if len(points) > 1}


def _thousands(number: float, _: object = None) -> str:
    return f"{number / 1000:g}k" if number >= 1000 else f"{number:g}"


def _legend(axes: Axes) -> None:
    axes.legend(loc="best", frameon=False, fontsize=8.5)


def _said(
    records: Sequence[Record],
    metric: str,
    names: Sequence[v.Variant],
    key: Mapping[str, str | int | float],
    form: str,
) -> list[str]:
    """A metric of some variants, in words."""
    found = ((v.LABELS[of.name], value(records, metric, of.name, **key)) for of in names)
    return [f"{label} {form.format(number)}" for label, number in found if number is not None]


def _what(ports: int) -> str:
    cards = "one card" if ports == 1 else f"{ports} cards"
    return f"{cards}, constant rate, virtual time, 8 ns an instruction"


def _flat_words(records: Sequence[Record], ports: int) -> str:
    free, flat = loss_free(records, v.HYBRID.name, ports), flatness(records, v.HYBRID.name, ports)
    words = f"The hybrid loses nothing up to {free:,} frames/s" if free else "The hybrid loses some"
    return f"{words}, and has {flat:.0%} of its peak at ten times that" if flat else words


def _words(records: Sequence[Record], curves: Curves, metric: str, ports: int) -> dict[str, str]:
    """What captions say of what was measured."""
    named = (v.E1000, v.INTERRUPT, v.POLL, v.THREADED, v.HYBRID)
    said = _said(records, metric, named, point(ports, FLOOD_PPS), "{:,.0f}")
    free = {v.LABELS[name]: loss_free(records, name, ports) for name in curves}
    costs = [record.value for record in find(records, "source_pct", ports=ports)] or [0.0]
    return {
        "what": _what(ports),
        "at": f"at {FLOOD_PPS // 1000}k: " + "; ".join(said) if said else "",
        "flat": _flat_words(records, ports),
        "free": "; ".join(f"{label} {rate:,}" for label, rate in free.items() if rate),
        "source": f"{min(costs):.0f} to {max(costs):.0f}",
    }


def figure(records: Sequence[Record], name: str, ports: int) -> Sheet | None:
    """A curve of every variant over the offered rate."""
    metric = METRICS[name]
    curves = _curves(records, metric, ports)
    if len(curves) < 2:
        return None
    sheet = DRAWN.figures[name].sheet(**_words(records, curves, metric, ports))
    axes = sheet.axes
    rates = sorted({rate for points in curves.values() for rate in points})
    cards = "one card" if ports == 1 else f"{ports} cards together"
    axes.set(xscale="log", xlabel=f"frames offered a second, {cards}")
    plain_numbers(axes.xaxis, _thousands)
    lines(axes, curves, LOOKS)
    axes.set(xlim=(rates[0] / 1.15, rates[-1] * 1.15), ylim=(0, None))
    _legend(axes)
    if metric == "goodput_pps":
        # the line on which nothing is lost, as far as there is room
        top = max(max(points.values()) for points in curves.values())
        room = [rate for rate in rates if rate <= top * 1.1]
        axes.plot(room, room, color=MUTED, linestyle=":", linewidth=1, zorder=1)
        axes.set_ylim(0, top * 1.12)
    if metric == "lost_pps":
        axes.set_yscale("symlog", linthresh=100)
    axes.yaxis.set_major_formatter(_thousands)
    return sheet


def _distribution(
    rows: Sequence[Mapping[str, str]], variant: str, ports: int, rate: int
) -> dict[float, float]:
    """Share of frames by the upper end of their bucket in us, added up."""
    key = {"variant": variant, **point(ports, rate)}
    frames: dict[int, int] = {}
    for row in rows:
        if all(row[name] == str(wanted) for name, wanted in key.items()):
            bound = int(row["from_ns"])
            frames[bound] = frames.get(bound, 0) + int(row["frames"])
    total = sum(frames.values())
    points: dict[float, float] = {}
    seen = 0
    for bound in sorted(frames):
        seen += frames[bound]
        points[(bound + max(1, (1 << bound.bit_length() - 1) // 8)) / 1000] = seen / total
    return points


def figure_latency(
    records: Sequence[Record], rows: Sequence[Mapping[str, str]], ports: int
) -> Sheet | None:
    """Figure 5: the distribution of latencies at one rate."""
    for rate in LATENCY_PPS:
        every = {name: _distribution(rows, name, ports, rate) for name in LOOKS}
        found = {name: points for name, points in every.items() if points}
        if len(found) > 1:
            break
    else:
        return None
    key = {**point(ports, rate), "quantile": "p50"}
    said = _said(records, "latency_us", (v.INTERRUPT, v.HYBRID, v.THREADED), key, "{:.0f} us")
    medians = ", ".join(said) or "not measured"
    sheet = DRAWN.figures["latency"].sheet(what=_what(ports), rate=rate, medians=medians)
    lines(sheet.axes, found, LOOKS, drawstyle="steps-post", marker="")
    sheet.axes.xaxis.set_major_formatter(lambda number, _: f"{number:,.0f}")
    _legend(sheet.axes)
    return sheet


def figure_limit(records: Sequence[Record], ports: int) -> Sheet | None:
    """Goodput against what is left of the CPU, as the limit moves."""
    key = point(ports, FLOOD_PPS)
    limits = {of: spot for of in v.GOVERNOR_LIMITED if (spot := trade(records, of.name, key))}
    if len(limits) < 2:
        return None
    both = over_threads(records, key)
    sheet = DRAWN.figures["limit"].sheet(rate=FLOOD_PPS, over=both[0] if both else 0)
    axes = sheet.axes
    axes.plot(
        *zip(*limits.values(), strict=True), color=LOOKS[v.GOVERNOR.name]["color"], marker="o"
    )
    for number, (variant, place) in enumerate(limits.items()):
        note(axes, f"{variant.limit_pct} %", place, (-26, -12) if number % 2 else (5, 5))
    marks(axes, {name: spot for name in LOOKS if (spot := trade(records, name, key))}, LOOKS)
    axes.set(xlim=(-1, None), ylim=(0, None))
    axes.yaxis.set_major_formatter(_thousands)
    _legend(axes)
    return sheet


def draw(results: Path, plots: Path, stem: str) -> list[Path]:
    """Draw what results STEM allow; returns the files.  Raises LabError if a file is not right."""
    records = read_json(results / f"{stem}.json")
    raw = results / f"{stem}-latencies.csv"
    rows = read_csv(raw) if raw.exists() else []
    student = STUDENT_PORTS if len(_curves(records, "goodput_pps", STUDENT_PORTS)) > 1 else 1
    sheets = {name: figure(records, name, 1 if name in ONE_CARD else student) for name in METRICS}
    sheets |= {
        "latency": figure_latency(records, rows, student),
        "limit": figure_limit(records, 1),
    }
    return save_all(sheets, plots, stem)

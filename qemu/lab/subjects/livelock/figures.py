# SPDX-License-Identifier: GPL-2.0
"""The reference's figures 2 to 5 with three cards, and Mogul's curve with one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lab.report.goals import find, value
from lab.report.records import Record, read_csv, read_json
from lab.report.sheet import MUTED, Caption, Sheet
from lab.subjects.livelock import governed
from lab.subjects.livelock import variants as v
from lab.subjects.livelock.derived import curve, flatness, loss_free, lost
from lab.subjects.livelock.experiment import CONSTANT

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = {
    v.INTERRUPT.name: "#2b6cb0",
    v.POLL.name: "#d9a13b",
    v.NAPI.name: "#63a0d4",
    v.THREADED.name: "#4a5a4e",
    v.HYBRID.name: "#c0392b",
    v.E1000.name: "#8c6bb1",
    v.E1000_THREADED.name: "#7d9181",
    v.GOVERNOR.name: "#e07b39",
}
"""Interrupts in blue, polling in yellow, the hybrid in red, threads in green-greys, the
governor in orange."""
MARKERS = dict(zip(COLOURS, ("o", "s", "^", "D", "o", "v", "P", "X"), strict=True))
STUDENT_PORTS = 3
"""As many cards as the reference had."""
LIMIT_PPS = 60000
LATENCY_PPS = (20000, 16000, 6000)
"""Rates whose latencies are drawn: the first one that was measured."""

Curves = Mapping[str, Mapping[int, float]]
"""Values by offered rate, by variant."""


def _curves(records: Sequence[Record], metric: str, ports: int) -> dict[str, dict[int, float]]:
    """The variants of which more than one rate was measured."""
    found = {name: curve(records, metric, name, ports) for name in COLOURS}
    return {name: points for name, points in found.items() if len(points) > 1}


def _plot(axes: Axes, curves: Curves) -> None:
    for name, points in curves.items():
        axes.plot(
            list(points),
            list(points.values()),
            color=COLOURS[name],
            marker=MARKERS[name],
            markersize=4.5,
            linewidth=2.4 if name == v.HYBRID.name else 1.4,
            zorder=3 if name == v.HYBRID.name else 2,
            label=v.LABELS[name],
        )


def _thousands(number: float, _: object) -> str:
    return f"{number / 1000:g}k" if number >= 1000 else f"{number:g}"


def _rate_axis(axes: Axes, curves: Curves, ports: int) -> None:
    """A logarithmic axis of the offered rates, which need not all be named."""
    from matplotlib.ticker import LogLocator, NullLocator

    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(_thousands)
    cards = "one card" if ports == 1 else f"{ports} cards together"
    axes.set_xlabel(f"frames offered a second, {cards}")
    rates = [rate for points in curves.values() for rate in points]
    axes.set_xlim(min(rates) / 1.15, max(rates) * 1.15)


def _chart(curves: Curves, ports: int, caption: Caption, label: str) -> Sheet:
    """A sheet with a curve of every variant over the offered rate."""
    sheet = Sheet(caption)
    _plot(sheet.axes, curves)
    _rate_axis(sheet.axes, curves, ports)
    sheet.axes.set_ylabel(label)
    sheet.axes.yaxis.set_major_formatter(_thousands)
    sheet.axes.set_ylim(bottom=0)
    sheet.axes.legend(loc="best", frameon=False, fontsize=8.5)
    return sheet


def _what(ports: int) -> str:
    cards = "one card" if ports == 1 else f"{ports} cards"
    return f"{cards}, constant rate, virtual time, 8 ns an instruction"


def _at(records: Sequence[Record], metric: str, ports: int, rate: int) -> str:
    """A metric of the important variants at one rate, in words."""
    names = (v.E1000.name, v.INTERRUPT.name, v.POLL.name, v.THREADED.name, v.HYBRID.name)
    said = []
    for name in names:
        number = value(records, metric, name, **governed.point(ports, rate))
        if number is not None:
            said.append(f"{v.LABELS[name]} {number:,.0f}")
    return f"at {rate // 1000}k: " + "; ".join(said) if said else ""


def _flat_words(records: Sequence[Record], ports: int) -> str:
    free, flat = loss_free(records, v.HYBRID.name, ports), flatness(records, v.HYBRID.name, ports)
    words = f"The hybrid loses nothing up to {free:,} frames/s" if free else "The hybrid loses some"
    return f"{words}, and has {flat:.0%} of its peak at ten times that" if flat else words


def figure_throughput(records: Sequence[Record], ports: int) -> Sheet | None:
    """Figure 2: what came out against what went in."""
    curves = _curves(records, "goodput_pps", ports)
    if len(curves) < 2:
        return None
    caption = Caption(
        "Figure 2: throughput out against in",
        _what(ports),
        "Interrupts and their hybrid keep up to 250 packets/s and collapse near 300; polling "
        "loses from 150 on, but recovers to 745. The hybrid did not help.",
        f"{_flat_words(records, ports)}; {_at(records, 'goodput_pps', ports, 60000)}.",
    )
    sheet = _chart(curves, ports, caption, "frames received a second")
    _in_is_out(sheet.axes, curves)
    return sheet


def _in_is_out(axes: Axes, curves: Curves) -> None:
    """The line on which nothing is lost, as far as there is room."""
    top = max(max(points.values()) for points in curves.values())
    rates = sorted({rate for points in curves.values() for rate in points if rate <= top * 1.1})
    axes.plot(rates, rates, color=MUTED, linestyle=":", linewidth=1, zorder=1)
    axes.set_ylim(0, top * 1.12)


def figure_mogul(records: Sequence[Record], ports: int) -> Sheet | None:
    """Mogul and Ramakrishnan's curve: flat, or livelock."""
    curves = _curves(records, "goodput_pps", ports)
    if len(curves) < 2:
        return None
    caption = Caption(
        "Delivered against offered load (Mogul and Ramakrishnan)",
        _what(ports),
        "Their unmodified kernel livelocked completely near 6,000 packets/s; polling with a "
        "quota and feedback from the queue stayed flat at its peak.",
        f"{_flat_words(records, ports)}; {_at(records, 'goodput_pps', ports, 60000)}.",
    )
    sheet = _chart(curves, ports, caption, "frames received a second")
    _in_is_out(sheet.axes, curves)
    return sheet


def figure_loss(records: Sequence[Record], ports: int) -> Sheet | None:
    """Figure 3: frames lost, wherever."""
    curves = {name: lost(records, name, ports) for name in COLOURS}
    curves = {name: points for name, points in curves.items() if len(points) > 1}
    if len(curves) < 2:
        return None
    free = {name: loss_free(records, name, ports) for name in curves}
    said = "; ".join(f"{v.LABELS[name]} {rate:,}" for name, rate in free.items() if rate)
    caption = Caption(
        "Figure 3: lost frames",
        _what(ports),
        "Hardly any with interrupts and the hybrid up to 300 packets/s, then a jump beyond "
        "polling's, whose losses begin early and level out.",
        f"Nothing is lost up to, frames/s: {said}.",
    )
    sheet = _chart(curves, ports, caption, "frames lost a second")
    sheet.axes.set_yscale("symlog", linthresh=100)
    sheet.axes.yaxis.set_major_formatter(_thousands)
    return sheet


def figure_buffer(records: Sequence[Record], ports: int) -> Sheet | None:
    """Figure 4: how often the ring was full."""
    curves = _curves(records, "buffer_full", ports)
    if len(curves) < 2:
        return None
    caption = Caption(
        "Figure 4: how often the buffer filled",
        f"{_what(ports)}; how often a card had no descriptor left, where it had one before",
        "More often with interrupts than with the hybrid; polling has no buffer. Each time is "
        "two changes of the hybrid's strategy.",
        "An interrupt handler that wins leaves room in the ring while frames die at the socket; "
        f"a full ring loses them for nothing. {_at(records, 'buffer_full', ports, 60000)}.",
    )
    return _chart(curves, ports, caption, "times in a run")


def figure_share(records: Sequence[Record], ports: int) -> Sheet | None:
    """What a process that wants the CPU gets."""
    curves = _curves(records, "user_share_pct", ports)
    if len(curves) < 2:
        return None
    caption = Caption(
        "What is left of the CPU",
        f"{_what(ports)}; share of a process beside the applications",
        "Mogul and Ramakrishnan: a limit on the cycles of packet processing keeps user processes "
        "running. The student replication did not look.",
        f"Per cent {_at(records, 'user_share_pct', ports, 60000)}. The source itself takes "
        f"{_source(records, ports)} %.",
    )
    return _chart(curves, ports, caption, "% of the CPU")


def _source(records: Sequence[Record], ports: int) -> str:
    costs = [record.value for record in find(records, "source_pct", ports=ports)]
    return f"{min(costs):.0f} to {max(costs):.0f}"


def figure_latency(
    records: Sequence[Record], rows: Sequence[Mapping[str, str]], ports: int
) -> Sheet | None:
    """Figure 5: the distribution of latencies at one rate."""
    for rate in LATENCY_PPS:
        found = {name: _distribution(rows, name, ports, rate) for name in COLOURS}
        found = {name: points for name, points in found.items() if points}
        if len(found) > 1:
            return _latency_sheet(records, found, ports, rate)
    return None


def _distribution(
    rows: Sequence[Mapping[str, str]], variant: str, ports: int, rate: int
) -> dict[float, float]:
    """Share of frames by the upper end of their bucket in us, added up."""
    key = {"variant": variant, "ports": str(ports), "offered_pps": str(rate)}
    key |= {"rate_function": CONSTANT, "mitigation": "off"}
    mine = [row for row in rows if all(row[name] == text for name, text in key.items())]
    frames: dict[int, int] = {}
    for row in mine:
        bound = int(row["from_ns"])
        frames[bound] = frames.get(bound, 0) + int(row["frames"])
    total = sum(frames.values())
    points: dict[float, float] = {}
    seen = 0
    for bound in sorted(frames):
        seen += frames[bound]
        points[(bound + max(1, (1 << bound.bit_length() - 1) // 8)) / 1000] = seen / total
    return points


def _latency_sheet(
    records: Sequence[Record], found: Mapping[str, Mapping[float, float]], ports: int, rate: int
) -> Sheet:
    said = []
    for name in (v.INTERRUPT.name, v.HYBRID.name, v.THREADED.name):
        key = {**governed.point(ports, rate), "quantile": "p50"}
        number = value(records, "latency_us", name, **key)
        if number is not None:
            said.append(f"{v.LABELS[name]} {number:.0f} us")
    caption = Caption(
        "Figure 5: latency of what arrived",
        f"{_what(ports)}, {rate:,} frames/s; share of frames that took no longer",
        "Low for most frames with interrupts and the hybrid, with a long tail; with polling "
        "less concentrated near 0, and the tail shorter.",
        f"Median: {', '.join(said) or 'not measured'}.",
    )
    sheet = Sheet(caption)
    for name, points in found.items():
        sheet.axes.step(
            list(points),
            list(points.values()),
            where="post",
            color=COLOURS[name],
            linewidth=2.4 if name == v.HYBRID.name else 1.4,
            label=v.LABELS[name],
        )
    sheet.axes.set_xscale("log")
    sheet.axes.xaxis.set_major_formatter(lambda number, _: f"{number:,.0f}")
    sheet.axes.set_xlabel("us from the wire to the application")
    sheet.axes.set_ylabel("share of frames")
    sheet.axes.set_ylim(0, 1.02)
    sheet.axes.legend(loc="best", frameon=False, fontsize=8.5)
    return sheet


Points = Mapping[str, tuple[float, float]]
"""CPU left to others and frames received, by variant."""


def _trades(records: Sequence[Record], ports: int, rate: int) -> dict[str, tuple[float, float]]:
    """What each variant makes of an overload."""
    points: dict[str, tuple[float, float]] = {}
    for name in (*COLOURS, *(variant.name for variant in v.GOVERNOR_LIMITED)):
        share = value(records, "user_share_pct", name, **governed.point(ports, rate))
        goodput = value(records, "goodput_pps", name, **governed.point(ports, rate))
        if share is not None and goodput is not None:
            points[name] = (share, goodput)
    return points


def figure_limit(records: Sequence[Record], ports: int) -> Sheet | None:
    """Goodput against what is left of the CPU, as the limit moves."""
    points = _trades(records, ports, LIMIT_PPS)
    limits = {
        variant: points[variant.name] for variant in v.GOVERNOR_LIMITED if variant.name in points
    }
    if len(limits) < 2:
        return None
    both = governed.over_threads(records, governed.point(ports, LIMIT_PPS))
    caption = Caption(
        f"Frames against CPU for others at {LIMIT_PPS:,} frames/s",
        "one card, constant rate, virtual time; on the line the limit for receiving moves",
        "Not measured.",
        "Above and to the right is better. At threaded NAPI's share the governor has "
        f"{both[0] if both else 0:.2f} x its frames.",
    )
    sheet = Sheet(caption)
    sheet.axes.plot(*zip(*limits.values(), strict=True), color=COLOURS[v.GOVERNOR.name], marker="o")
    for number, (variant, place) in enumerate(limits.items()):
        sheet.axes.annotate(
            f"{variant.limit_pct} %",
            place,
            xytext=(5, 5) if number % 2 == 0 else (-26, -12),
            textcoords="offset points",
            fontsize=8.5,
        )
    _draw_trades(sheet.axes, points)
    return sheet


def _draw_trades(axes: Axes, points: Points) -> None:
    """A marker for every variant without a limit of its own."""
    for name in COLOURS:
        if name in points:
            axes.plot(
                *points[name],
                color=COLOURS[name],
                marker=MARKERS[name],
                markersize=8,
                linestyle="none",
                label=v.LABELS[name],
            )
    axes.set_xlabel("% of the CPU left to a process that wants it")
    axes.set_ylabel("frames received a second")
    axes.set_xlim(left=-1)
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(_thousands)
    axes.legend(loc="best", frameon=False, fontsize=8.5)


def draw(results: Path, plots: Path, stem: str) -> list[Path]:
    """Draw what results STEM allow; returns the files.  Raises LabError if a file is not right."""
    records = read_json(results / f"{stem}.json")
    raw = results / f"{stem}-latencies.csv"
    rows = read_csv(raw) if raw.exists() else []
    student = STUDENT_PORTS if len(_curves(records, "goodput_pps", STUDENT_PORTS)) > 1 else 1
    sheets = {
        "throughput": figure_throughput(records, student),
        "loss": figure_loss(records, student),
        "buffer": figure_buffer(records, student),
        "latency": figure_latency(records, rows, student),
        "mogul": figure_mogul(records, 1),
        "share": figure_share(records, 1),
        "limit": figure_limit(records, 1),
    }
    written: list[Path] = []
    for name, sheet in sheets.items():
        if sheet is not None:
            written += sheet.save(plots, f"{stem}-{name}")
    return written

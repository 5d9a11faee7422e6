# SPDX-License-Identifier: GPL-2.0
"""Bar plots after the reference's chapters 6.3.2 and 7, with the idle line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lab.guest import places
from lab.report.goals import find, ratio, value
from lab.report.records import Param, Record, read_json
from lab.report.sheet import INK, Caption, Sheet
from lab.subjects.wrais.applications import APP_MEAN, APPS
from lab.subjects.wrais.experiment import BACKGROUNDS, DEPTHS, HARD, LOADED, SQLITE
from lab.subjects.wrais.variants import (
    ABLATIONS,
    BE0,
    BFQ,
    DEADLINE,
    KYBER,
    LABELS,
    MEMBER,
    NONE,
    RT0,
    SIMPLE_RT,
    WRAIS,
)

COLOURS = {
    BFQ.name: "#2b6cb0",
    BE0.name: "#63a0d4",
    RT0.name: "#a9c9e8",
    SIMPLE_RT.name: "#d9a13b",
    WRAIS.name: "#c0392b",
    MEMBER.name: "#e08a7d",
    DEADLINE.name: "#4a5a4e",
    KYBER.name: "#7d9181",
    NONE.name: "#b6c2b8",
}
"""Stock BFQ in blues, ours in red as in the reference, the other schedulers in greys."""
PART_COLOURS = (
    "#8c6bb1",
    "#d9a13b",
    "#2b6cb0",
    "#63a0d4",
    "#4a5a4e",
    "#7d9181",
)
COLOURS.update(zip((variant.name for variant in ABLATIONS), PART_COLOURS, strict=True))
IDLE_COLOUR = "#c0392b"
GROUP_WIDTH = 0.84
MARGIN = 0.3
"""Room at the right for the words of a line, in groups."""
COLUMNS = 5
LOW = "bar: the worst, tick: the median"
READABLE = 16
"""Bars up to which each carries its number."""

COMPARED = (BFQ, BE0, RT0, DEADLINE, KYBER, NONE, SIMPLE_RT, WRAIS)


@dataclass(frozen=True)
class Bar:
    """value: the worst repeat; cut: some repeat was ended early, so it is a lower bound."""

    value: float
    median: float
    cut: bool = False


Bars = Mapping[str, Mapping[str, Bar]]
"""Bars by series, then by group; a group that was not measured has none."""


def _median(record: Record) -> float:
    if isinstance(record.spread, Mapping):
        return record.spread.get("median", record.value)
    return record.value


def _bar(records: Sequence[Record], metric: str, variant: str, **key: Param) -> Bar | None:
    """The one record with this key as a bar."""
    found = find(records, metric, variant, **key)
    if len(found) != 1:
        return None
    cut = bool(value(records, "unfinished", variant, **key))
    return Bar(found[0].value, _median(found[0]), cut)


def _bars(
    records: Sequence[Record],
    metric: str,
    series: Sequence[str],
    groups: Mapping[str, Mapping[str, Param]],
) -> dict[str, dict[str, Bar]]:
    """What was measured of a metric: series are variants, groups are keys by their name."""
    found: dict[str, dict[str, Bar]] = {}
    for variant in series:
        for group, key in groups.items():
            bar = _bar(records, metric, variant, **key)
            if bar is not None:
                found.setdefault(variant, {})[group] = bar
    return found


def _number(bar: Bar, top: float) -> str:
    digits = 2 if top < 10 else 1 if top < 100 else 0
    return f"{'> ' if bar.cut else ''}{bar.value:.{digits}f}"


def _draw_bars(sheet: Sheet, bars: Bars, groups: Sequence[str]) -> None:
    """Grouped bars; what was cut off is hatched."""
    axes = sheet.axes
    width = GROUP_WIDTH / len(bars)
    top = max(bar.value for found in bars.values() for bar in found.values())
    few = sum(len(found) for found in bars.values()) <= READABLE
    for number, (name, found) in enumerate(bars.items()):
        left = -GROUP_WIDTH / 2 + (number + 0.5) * width
        colour = COLOURS[name]
        for place, group in enumerate(groups):
            bar = found.get(group)
            if bar is None:
                continue
            at = place + left
            hatch = "///" if bar.cut else ""
            axes.bar(
                at,
                bar.value,
                width * 0.92,
                color=colour,
                hatch=hatch,
                edgecolor="white",
                linewidth=0,
            )
            half = width * 0.36
            axes.hlines(bar.median, at - half, at + half, color="white", linewidth=1.4)
            axes.annotate(
                _number(bar, top),
                (at, bar.value),
                xytext=(0, 3),
                textcoords="offset points",
                ha="center",
                va="bottom",
                rotation=0 if few else 90,
                fontsize=8.5 if few else 7,
                color=INK,
            )
    axes.set_xticks(range(len(groups)), list(groups))
    axes.grid(visible=False, axis="x")
    axes.set_xlim(-0.5, len(groups) - 0.5 + MARGIN)
    axes.set_ylim(0, top * (1.2 if few else 1.28))


def _line(sheet: Sheet, height: float, text: str) -> None:
    """A dashed line across, as the reference's for the idle disk."""
    sheet.axes.axhline(height, color=IDLE_COLOUR, linestyle="--", linewidth=1.2, zorder=3)
    sheet.axes.annotate(
        text,
        (1, height),
        xycoords=("axes fraction", "data"),
        xytext=(0, 3),
        textcoords="offset points",
        ha="right",
        fontsize=8.5,
        color=IDLE_COLOUR,
    )


def _legend(sheet: Sheet, series: Sequence[str]) -> None:
    """Name the series between the axes and the words below them."""
    from matplotlib.patches import Patch

    sheet.axes.legend(
        handles=[Patch(color=COLOURS[name], label=LABELS[name]) for name in series],
        loc="upper center",
        bbox_to_anchor=(0.5, -0.06),
        ncols=min(len(series), COLUMNS),
        frameon=False,
        labelcolor=INK,
        fontsize=8.5,
        handlelength=1,
    )


def _chart(bars: Bars, groups: Sequence[str], caption: Caption, label: str) -> Sheet:
    """A sheet of grouped bars."""
    sheet = Sheet(caption)
    _draw_bars(sheet, bars, groups)
    sheet.axes.set_ylabel(label)
    _legend(sheet, list(bars))
    return sheet


def _present(groups: Sequence[str], bars: Bars) -> list[str]:
    """The groups that have a bar."""
    return [group for group in groups if any(group in found for found in bars.values())]


def _runs(records: Sequence[Record], metric: str, probe: str, depth: int) -> str:
    """How many starts are behind the bars."""
    counts = sorted({record.n for record in find(records, metric, probe=probe, depth=depth)})
    return f"n = {counts[0]}" if len(counts) == 1 else f"n = {counts[0]} to {counts[-1]}"


def _idle_s(records: Sequence[Record], probe: str, depth: int) -> float | None:
    found = find(records, "startup_s", BFQ.name, background="idle", probe=probe, depth=depth)
    return _median(found[0]) if len(found) == 1 else None


def _multiples(records: Sequence[Record], variant: str, depth: int) -> str:
    """The worst start as a multiple of the idle one, by background, in words."""
    said = []
    for background in LOADED:
        key: dict[str, Param] = {"background": background, "probe": "lprobe", "depth": depth}
        bar = _bar(records, "startup_over_idle", variant, **key)
        if bar is not None:
            said.append(f"{background} {'> ' if bar.cut else ''}{bar.value:.2f}")
    return ", ".join(said)


def figure_before_after(records: Sequence[Record], depth: int) -> Sheet | None:
    """Chapter 6.3.2: stock BFQ against the privilege."""
    groups = {name: _key(name, "lprobe", depth) for name in LOADED}
    bars = _bars(records, "startup_s", (BFQ.name, WRAIS.name), groups)
    if len(bars) < 2:
        return None
    caption = Caption(
        f"Start-up of LProbe before and after, depth {depth}",
        f"seconds, virtual time; {_runs(records, 'startup_s', 'lprobe', depth)}; {LOW}",
        "Mean of 10 on a Nexus 7, idle 6.28 s. Stock BFQ: 9.94 (1r), 11.59 (1w), never (1r1w). "
        "With its changes: 6.67, 6.31, 12.50, that is 1.06, 1.00 and 1.99 x idle.",
        f"x idle, stock BFQ: {_multiples(records, BFQ.name, depth)}. "
        f"Privileged: {_multiples(records, WRAIS.name, depth)}.",
    )
    sheet = _chart(bars, _present(LOADED, bars), caption, "start-up, s")
    _idle_line(sheet, records, "lprobe", depth)
    return sheet


def figure_schedulers(records: Sequence[Record], depth: int) -> Sheet | None:
    """Chapter 7: the schedulers that a user could pick."""
    groups = {name: _key(name, "lprobe", depth) for name in LOADED}
    bars = _bars(records, "startup_s", [variant.name for variant in COMPARED], groups)
    if len(bars) < 4:
        return None
    caption = Caption(
        f"Start-up of LProbe under every scheduler, depth {depth}",
        f"seconds, virtual time; {LOW}; hatched: stopped before its end",
        "1r, 1w, 1r1w in seconds: BFQ with changes 6.67, 6.31, 12.50; CFQ with ionice 8.48, "
        "6.84, 21.08; deadline 12.72, 21.99, never; noop 23.82, never, never.",
        f"Privileged, x idle: {_multiples(records, WRAIS.name, depth)}. RT class without "
        f"raising: {_multiples(records, SIMPLE_RT.name, depth) or 'not measured'}.",
    )
    sheet = _chart(bars, _present(LOADED, bars), caption, "start-up, s")
    _idle_line(sheet, records, "lprobe", depth)
    return sheet


def _key(background: str, probe: str, depth: int) -> dict[str, Param]:
    return {"background": background, "probe": probe, "depth": depth}


def _idle_line(sheet: Sheet, records: Sequence[Record], probe: str, depth: int) -> None:
    idle = _idle_s(records, probe, depth)
    if idle is not None:
        _line(sheet, idle, f"idle {idle:.2f} s")


def figure_stalls(records: Sequence[Record], depth: int) -> Sheet | None:
    """The longest wait within a start."""
    groups = {name: _key(name, "lprobe", depth) for name in LOADED}
    bars = _bars(records, "max_stall_ms", (BFQ.name, SIMPLE_RT.name, WRAIS.name), groups)
    if WRAIS.name not in bars or len(bars) < 2:
        return None
    caption = Caption(
        f"The longest wait of a start, depth {depth}",
        f"milliseconds of one call of LProbe, logarithmic; {LOW}",
        "Single writes that slept for seconds in the journal, the dirty throttle and behind "
        "the flusher; every wait over 300 ms was counted as a stall.",
        "Longest in any start of the privileged: "
        f"{max(bar.value for bar in bars[WRAIS.name].values()):.0f} ms; of stock BFQ: "
        f"{max((bar.value for bar in bars.get(BFQ.name, {}).values()), default=0):.0f} ms.",
    )
    sheet = _chart(bars, _present(LOADED, bars), caption, "longest wait, ms")
    sheet.axes.set_yscale("log")
    sheet.axes.set_ylim(1, None)
    sheet.axes.yaxis.set_major_formatter(lambda number, _: f"{number:,.0f}")
    _line(sheet, 200, "goal 200 ms")
    return sheet


def figure_parts(records: Sequence[Record], depth: int) -> Sheet | None:
    """All parts, and all but one: what each of them is worth."""
    probes = ("lprobe", "fsync", "write70")
    groups = {f"{probe}, 4r4w": _key("4r4w", probe, depth) for probe in probes}
    groups = {"lprobe, 1r1w": _key("1r1w", "lprobe", depth), **groups}
    series = [WRAIS.name, *(variant.name for variant in ABLATIONS)]
    bars = _bars(records, "startup_over_idle", series, groups)
    if len(bars) < 3:
        return None
    gains = {
        name: max((bar.value for bar in found.values()), default=0.0)
        for name, found in bars.items()
        if name != WRAIS.name
    }
    worst = max(gains, key=lambda name: gains[name])
    caption = Caption(
        "Each part switched off in turn",
        f"start-up over idle, depth {depth}; {LOW}",
        "Four changes were measured together (6.3.2); what each of them was worth alone is "
        "not told.",
        f"The part that is missed most is '{worst.removeprefix('wrais-no-')}': "
        f"{gains[worst]:.2f} x idle in its worst row without it.",
    )
    sheet = _chart(bars, _present(list(groups), bars), caption, "start-up over idle")
    _line(sheet, 1, "idle")
    return sheet


def figure_applications(records: Sequence[Record], depth: int) -> Sheet | None:
    """The harder applications."""
    groups = {
        f"{probe}, {background}": _key(background, probe, depth)
        for probe in ("fsync", "write70", "think", "random")
        for background in LOADED
    }
    series = (BFQ.name, SIMPLE_RT.name, WRAIS.name)
    bars = _bars(records, "startup_over_idle", series, groups)
    if WRAIS.name not in bars or len(_present(list(groups), bars)) < 2:
        return None
    caption = Caption(
        "Applications that fsync, write, think and seek",
        f"start-up over the same application's idle one, depth {depth}; {LOW}",
        "A commercial application gained nothing: it works on a database, whose journal waits "
        "were left unsolved (6.4.1).",
        _throughput_words(records, depth),
    )
    sheet = _chart(bars, _present(list(groups), bars), caption, "start-up over idle")
    _line(sheet, 1, "idle")
    return sheet


def figure_starts(records: Sequence[Record], depth: int) -> Sheet | None:
    """Start-ups of real applications' shape."""
    groups = {
        f"{probe.removeprefix('app-')}, {background}": _key(background, probe, depth)
        for background in HARD
        for probe in APPS
    }
    bars = _bars(records, "startup_over_idle", (SIMPLE_RT.name, WRAIS.name), groups)
    if WRAIS.name not in bars:
        return None
    means = find(records, "startup_over_idle", WRAIS.name, probe=APP_MEAN, depth=depth)
    said = ", ".join(f"{record.params['background']} {record.value:.3f}" for record in means)
    caption = Caption(
        "Start-ups of real applications' shape",
        f"start-up over idle, depth {depth}; sync(2) every 2 s; {LOW}",
        "Only LProbe's start-up was measured.",
        f"Mean of the worst, privileged: {said or 'not measured'}.",
    )
    sheet = _chart(bars, _present(list(groups), bars), caption, "start-up over idle")
    _line(sheet, 1, "idle")
    return sheet


def _throughput_words(records: Sequence[Record], depth: int) -> str:
    """What the whole device does meanwhile, against stock BFQ."""
    said = []
    for probe in ("think", "random"):
        key = _key("1r1w", probe, depth)
        quotient = ratio(
            value(records, "device_mbps", WRAIS.name, **key),
            value(records, "device_mbps", BFQ.name, **key),
        )
        if quotient is not None:
            said.append(f"{probe} {quotient:.2f}")
    text = f"The device's throughput under 1r1w against stock BFQ: {', '.join(said)}. "
    return (text if said else "") + "Hatched bars had not ended when they were stopped."


def figure_sqlite(records: Sequence[Record], depth: int) -> Sheet | None:
    """Commits of a real database."""
    groups: dict[str, dict[str, Param]] = {
        f"{journal}, {background}": {**_key(background, probe, depth), "quantile": "p99"}
        for probe, journal in SQLITE.items()
        for background in BACKGROUNDS
    }
    series = (BFQ.name, BE0.name, SIMPLE_RT.name, WRAIS.name)
    bars = _bars(records, "sqlite_commit_ms", series, groups)
    if WRAIS.name not in bars:
        return None
    caption = Caption(
        "Commits of SQLite: 99 % are faster",
        f"milliseconds, depth {depth}; logarithmic; {LOW}",
        "Not measured; an application with a database saw no gain.",
        "With a write-ahead log and with a rollback journal, each commit on the disk when it "
        "ends. The goal is at most 0.3 x stock BFQ's.",
    )
    sheet = _chart(bars, _present(list(groups), bars), caption, "commit, ms")
    sheet.axes.set_yscale("log")
    sheet.axes.set_ylim(1, None)
    sheet.axes.yaxis.set_major_formatter(lambda number, _: f"{number:,.0f}")
    return sheet


def figure_places(records: Sequence[Record]) -> Sheet | None:
    """Other disks, and what lies between a disk and the file system."""
    groups: dict[str, dict[str, Param]] = {
        f"{place.name}, {background}": {
            "background": background,
            "probe": "lprobe",
            "disk": place.name,
        }
        for place in places.OTHERS
        for background in HARD
    }
    series = (BFQ.name, SIMPLE_RT.name, WRAIS.name, MEMBER.name)
    bars = _bars(records, "startup_over_idle", series, groups)
    if WRAIS.name not in bars:
        return None
    caption = Caption(
        "Start-up of LProbe on other disks, by dm-crypt and by loop",
        f"start-up over the idle one in the same place; {LOW}; hatched: stopped before its end",
        "Not measured: one phone with one flash memory.",
        "; ".join(f"{place.name}: {place.label}" for place in places.OTHERS) + ".",
    )
    sheet = _chart(bars, _present(list(groups), bars), caption, "start-up over idle")
    _line(sheet, 1, "idle")
    return sheet


FIGURES = {
    "start-up": figure_before_after,
    "schedulers": figure_schedulers,
    "stalls": figure_stalls,
    "parts": figure_parts,
    "applications": figure_applications,
    "starts": figure_starts,
    "sqlite": figure_sqlite,
}


def draw(results: Path, plots: Path, stem: str) -> list[Path]:
    """Draw what results STEM allow; returns the files.  Raises LabError if a file is not right."""
    records = read_json(results / f"{stem}.json")
    flash = [r for r in records if r.params.get("disk") == places.FLASH.name]
    sheets = {
        f"{name}-depth{depth}": figure(flash, depth)
        for depth in DEPTHS
        for name, figure in FIGURES.items()
    }
    sheets["places"] = figure_places(records)
    written: list[Path] = []
    for name, sheet in sheets.items():
        if sheet is not None:
            written += sheet.save(plots, f"{stem}-{name}")
    return written

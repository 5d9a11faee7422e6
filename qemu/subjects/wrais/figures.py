# SPDX-License-Identifier: GPL-2.0
"""Bar plots after the reference's chapters 6.3.2 and 7, with the idle line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lab.guest import places
from lab.guest.places import DEPTHS
from lab.report.charts import Bar, Bars, bars, figures_of, level, save_all
from lab.report.goals import find, ratio, value
from lab.report.records import Param, Record, read_json
from lab.report.sheet import Sheet
from subjects.wrais import variants as v
from subjects.wrais.applications import APP_MEAN, APPS
from subjects.wrais.experiment import BACKGROUNDS, HARD, LOADED, SQLITE
from subjects.wrais.variants import Variant

DRAWN = figures_of(__file__)
LOOKS = {name: {"label": v.LABELS[name], **look} for name, look in DRAWN.looks.items()}

Groups = Mapping[str, Mapping[str, Param]]
"""What tells the records of a group of bars from others, by the group's name."""


def _groups(text: str, probes: Iterable[str], loads: Iterable[str], **more: Param) -> Groups:
    return {
        text.format(probe=probe.removeprefix("app-"), load=load, journal=SQLITE.get(probe)): {
            "background": load,
            "probe": probe,
            **more,
        }
        for probe in probes
        for load in loads
    }


@dataclass(frozen=True)
class Chart:
    """A figure of bars: drawn if at least so many variants were measured, and the privileged.

    `level` is the height of a line across and what it is.
    """

    metric: str
    variants: Sequence[Variant]
    groups: Groups
    least: int = 1
    level: tuple[float, str] | None = None


LPROBE = _groups("{load}", ("lprobe",), LOADED)
BESIDE = "{probe}, {load}"
HARDER = ("fsync", "write70", "think", "random")
OVER_IDLE = "startup_over_idle"
IDLE = (1.0, "idle")
COMPARED = (v.BFQ, v.BE0, v.RT0, v.DEADLINE, v.KYBER, v.NONE, v.SIMPLE_RT, v.WRAIS)
THREE = (v.BFQ, v.SIMPLE_RT, v.WRAIS)

CHARTS = {
    "start-up": Chart("startup_s", (v.BFQ, v.WRAIS), LPROBE, 2),
    "schedulers": Chart("startup_s", COMPARED, LPROBE, 4),
    "stalls": Chart("max_stall_ms", THREE, LPROBE, 2, (200, "goal 200 ms")),
    "parts": Chart(
        OVER_IDLE,
        (v.WRAIS, *v.ABLATIONS),
        {
            **_groups(BESIDE, ("lprobe",), ("1r1w",)),
            **_groups(BESIDE, ("lprobe", "fsync", "write70"), ("4r4w",)),
        },
        3,
        IDLE,
    ),
    "applications": Chart(OVER_IDLE, THREE, _groups(BESIDE, HARDER, LOADED), 1, IDLE),
    "starts": Chart(
        OVER_IDLE,
        (v.SIMPLE_RT, v.WRAIS),
        {**_groups(BESIDE, APPS, HARD[:1]), **_groups(BESIDE, APPS, HARD[1:])},
        1,
        IDLE,
    ),
    "sqlite": Chart(
        "sqlite_commit_ms",
        (v.BFQ, v.BE0, v.SIMPLE_RT, v.WRAIS),
        _groups("{journal}, {load}", SQLITE, BACKGROUNDS, quantile="p99"),
    ),
}
PLACES = Chart(
    OVER_IDLE,
    (*THREE, v.MEMBER),
    {
        name: key
        for place in places.OTHERS
        for name, key in _groups(
            f"{place.name}, {{load}}", ("lprobe",), HARD, disk=place.name
        ).items()
    },
    1,
    IDLE,
)


def _bar(
    records: Sequence[Record], metric: str, variant: str, key: Mapping[str, Param]
) -> Bar | None:
    """The one record with this key as a bar."""
    found = find(records, metric, variant, **key)
    if len(found) != 1:
        return None
    spread = found[0].spread
    median = spread.get("median", found[0].value) if isinstance(spread, Mapping) else found[0].value
    return Bar(found[0].value, median, bool(value(records, "unfinished", variant, **key)))


def _bars(records: Sequence[Record], chart: Chart, **more: Param) -> Bars:
    """What was measured of a chart."""
    found: dict[str, dict[str, Bar]] = {}
    for variant in chart.variants:
        for group, key in chart.groups.items():
            bar = _bar(records, chart.metric, variant.name, {**key, **more})
            if bar is not None:
                found.setdefault(variant.name, {})[group] = bar
    return found


def _multiples(records: Sequence[Record], variant: Variant, depth: int) -> str:
    """The worst start as a multiple of the idle one, by background, in words."""
    found = _bars(records, Chart(OVER_IDLE, (variant,), LPROBE), depth=depth)
    return ", ".join(f"{load} {bar.text(2)}" for load, bar in found.get(variant.name, {}).items())


def _throughput(records: Sequence[Record], depth: int) -> str:
    """What the whole device does meanwhile, against stock BFQ, in words."""
    said = []
    for probe in ("think", "random"):
        key: dict[str, Param] = {"background": "1r1w", "probe": probe, "depth": depth}
        ours, stock = (value(records, "device_mbps", of.name, **key) for of in (v.WRAIS, v.BFQ))
        quotient = ratio(ours, stock)
        if quotient is not None:
            said.append(f"{probe} {quotient:.2f}")
    text = f"The device's throughput under 1r1w against stock BFQ: {', '.join(said)}. "
    return text if said else ""


def _words(records: Sequence[Record], depth: int, drawn: Bars) -> dict[str, object]:
    """What captions say of what was measured."""
    worst = {name: max(bar.value for bar in of.values()) for name, of in drawn.items()}
    missed = max(worst, key=lambda name: (name != v.WRAIS.name, worst[name]))
    counts = sorted({r.n for r in find(records, "startup_s", probe="lprobe", depth=depth)})
    means = find(records, OVER_IDLE, v.WRAIS.name, probe=APP_MEAN, depth=depth)
    said = ", ".join(f"{record.params['background']} {record.value:.3f}" for record in means)
    return {
        "depth": depth,
        "runs": " to ".join(dict.fromkeys(map(str, (*counts[:1], *counts[-1:])))),
        "stock": _multiples(records, v.BFQ, depth),
        "ours": _multiples(records, v.WRAIS, depth),
        "simple": _multiples(records, v.SIMPLE_RT, depth) or "not measured",
        "longest": worst[v.WRAIS.name],
        "stock_longest": worst.get(v.BFQ.name, 0.0),
        "missed": missed.removeprefix("wrais-no-"),
        "without": worst[missed],
        "throughput": _throughput(records, depth),
        "means": said or "not measured",
        "places": "; ".join(f"{place.name}: {place.label}" for place in places.OTHERS),
    }


def _level(records: Sequence[Record], chart: Chart, depth: int) -> tuple[float, str] | None:
    if chart.metric != "startup_s":
        return chart.level
    idle = _bar(
        records, chart.metric, v.BFQ.name, {"background": "idle", "probe": "lprobe", "depth": depth}
    )
    return (idle.median, f"idle {idle.median:.2f} s") if idle else None


def _sheet(records: Sequence[Record], name: str, chart: Chart, **depth: int) -> Sheet | None:
    drawn = _bars(records, chart, **depth)
    if v.WRAIS.name not in drawn or len(drawn) < chart.least:
        return None
    whole = depth.get("depth", DEPTHS[0])
    sheet = DRAWN.figures[name].sheet(**_words(records, whole, drawn))
    groups = [group for group in chart.groups if any(group in of for of in drawn.values())]
    bars(sheet.axes, drawn, groups, LOOKS)
    line = _level(records, chart, whole)
    if line:
        level(sheet.axes, *line)
    return sheet


def draw(results: Path, plots: Path, stem: str) -> list[Path]:
    """Draw what results STEM allow; returns the files.  Raises LabError if a file is not right."""
    records = read_json(results / f"{stem}.json")
    flash = [r for r in records if r.params.get("disk") == places.FLASH.name]
    sheets = {
        f"{name}-depth{depth}": _sheet(flash, name, chart, depth=depth)
        for depth in DEPTHS
        for name, chart in CHARTS.items()
    }
    sheets["places"] = _sheet(records, "places", PLACES)
    return save_all(sheets, plots, stem)

# SPDX-License-Identifier: GPL-2.0
"""The reference's tables and figures with these measurements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from lab.report.charts import figures_of, lines, save_all
from lab.report.goals import find, format_table
from lab.report.records import Record, read_json, write_text
from lab.report.sheet import Sheet
from subjects.udp.goals import ALONE
from subjects.udp.reference import ACTUAL_MBPS, MAX_MBPS, SD_MBPS

DRAWN = figures_of(__file__)
LOOKS = DRAWN.looks
SENDERS = tuple(name for name in LOOKS if name != "reference")
IDLE = {name: value for name, value in ALONE.items() if name != "workers"}
Points = Mapping[int, float]


def by_param(
    records: Sequence[Record], metric: str, variant: str, param: str, **where: str | int | float
) -> dict[int, float]:
    """Values of a metric by one of its parameters, in rising order."""
    found = find(records, metric, variant, **where)
    return dict(sorted((int(record.params[param]), record.value) for record in found))


def actual(records: Sequence[Record], variant: str) -> dict[int, float]:
    """What one process on the idle host reached, Mbit/s by what was asked for."""
    errors = by_param(records, "rate_error_pct", variant, "rate_mbps", **ALONE)
    return {rate: rate * (1 + error / 100) for rate, error in errors.items()}


def figure_1(most: Points) -> Sheet:
    """Processes against the greatest rate."""
    best = max(most, key=lambda count: most[count])
    sheet = DRAWN.figures["figure-1"].sheet(one=most[min(most)], best=best, most=most[best])
    lines(sheet.axes, {"udprate": most, "reference": MAX_MBPS}, LOOKS)
    sheet.axes.set(xlim=(0, max(MAX_MBPS) + 1), ylim=(50, 10 * max(most.values())))
    sheet.legend()
    return sheet


def _by_rate(sheet: Sheet, curves: Mapping[str, Points]) -> None:
    """Curves over the rates that were asked for."""
    rates = sorted({rate for points in curves.values() for rate in points})
    lines(sheet.axes, curves, LOOKS)
    sheet.axes.set_xscale("log", base=2)
    sheet.axes.set_xticks(rates, [str(rate) for rate in rates])


def _shares(points: Points) -> dict[int, float]:
    return {rate: 100 * reached / rate for rate, reached in points.items()}


def figure_2(curves: Mapping[str, Points]) -> Sheet:
    """What was reached of what was asked for."""
    off = {rate: abs(reached / rate - 1) for rate, reached in curves["udprate"].items()}
    worst = max(off, key=lambda rate: off[rate])
    sheet = DRAWN.figures["figure-2"].sheet(off=100 * off[worst], rate=worst)
    _by_rate(sheet, {name: _shares(points) for name, points in curves.items()})
    lines(sheet.axes, {"reference": _shares(ACTUAL_MBPS)}, LOOKS, linestyle="none")
    sheet.axes.legend(loc="lower left", frameon=False)
    return sheet


def _spreads(points: Points) -> dict[int, float]:
    """What is 0 is drawn at the bottom."""
    return {place: max(value, 1e-4) for place, value in points.items()}


def figure_3(spreads: Mapping[int, Points]) -> Sheet:
    """The standard deviation of the seconds by number of processes; a curve a rate."""
    worst = max(max(points.values()) for points in spreads.values())
    sheet = DRAWN.figures["figure-3"].sheet(worst=worst)
    ours = {f"{rate} Mbit/s": _spreads(points) for rate, points in spreads.items()}
    printed = {f"{rate} Mbit/s": SD_MBPS.get(rate, {}) for rate in spreads}
    looks = {name: {"color": f"C{number}"} for number, name in enumerate(ours)}
    lines(sheet.axes, ours, looks, marker="o")
    lines(sheet.axes, printed, looks, marker="D", linestyle="--", label=None)
    sheet.legend()
    return sheet


def figure_4(spreads: Mapping[str, Points]) -> Sheet:
    """The standard deviation of the seconds by rate."""
    sheet = DRAWN.figures["figure-4"].sheet()
    _by_rate(sheet, {name: _spreads(points) for name, points in spreads.items()})
    printed = {rate: points[1] for rate, points in SD_MBPS.items() if 1 in points}
    style = {"label": "reference, 1 process", "linestyle": "none"}
    lines(sheet.axes, {"reference": printed}, LOOKS, **style)
    sheet.legend()
    return sheet


def _cells(points: Mapping[int, float], columns: Sequence[int], form: str) -> list[str]:
    return [format(points[column], form) if column in points else "-" for column in columns]


def tables_text(records: Sequence[Record]) -> str:
    """The tables of the reference: greatest rate, actual rate, spread by processes, policies."""
    parts = []
    most = by_param(records, "max_mbps", "udprate", "workers", **IDLE)
    if most:
        rows = [[str(n), f"{MAX_MBPS[n]:g}", f"{most[n]:.0f}"] for n in most if n in MAX_MBPS]
        table = format_table(("processes", "reference", "here"), rows)
        parts.append("Greatest rate, Mbit/s\n\n" + table)
    curves = {name: actual(records, name) for name in SENDERS}
    rates = sorted({rate for points in curves.values() for rate in points})
    if rates:
        rows = [["reference", *_cells(ACTUAL_MBPS, rates, "g")]]
        rows += [[name, *_cells(points, rates, ".4f")] for name, points in curves.items()]
        header = ("Mbit/s", *map(str, rates))
        parts.append("Actual against expected rate\n\n" + format_table(header, rows))
        rows = []
        for metric in ("rate_sd_mbps", "cpu_pct"):
            for name in SENDERS:
                found = by_param(records, metric, name, "rate_mbps", **ALONE)
                rows.append([f"{metric} {name}", *_cells(found, rates, ".4g")])
        parts.append("Spread and CPU\n\n" + format_table(header, rows))
    parts += [text for text in (_spread_table(records), _policy_table(records)) if text]
    return "\n".join(parts)


def spread_by_processes(records: Sequence[Record]) -> dict[int, dict[int, float]]:
    """Standard deviation by rate and number of processes, of rates with several."""
    there = find(records, "rate_sd_mbps", "udprate", **IDLE)
    rates = sorted({int(record.params["rate_mbps"]) for record in there})
    found = {r: by_param(there, "rate_sd_mbps", "udprate", "workers", rate_mbps=r) for r in rates}
    return {rate: points for rate, points in found.items() if len(points) > 1}


def _spread_table(records: Sequence[Record]) -> str:
    found = spread_by_processes(records)
    if not found:
        return ""
    counts = sorted({count for points in found.values() for count in points})
    rows = []
    for rate, points in found.items():
        rows.append([str(rate), *_cells(points, counts, ".4g")])
        if rate in SD_MBPS:
            rows.append([f"{rate}, reference", *_cells(SD_MBPS[rate], counts, "g")])
    header = ("Mbit/s", *(f"{count} processes" for count in counts))
    return "Standard deviation, Mbit/s\n\n" + format_table(header, rows)


def _policy_table(records: Sequence[Record]) -> str:
    """What the policies hold, in the guest and on the host, alone and under hogs."""
    rows = []
    for variant in SENDERS:
        for record in find(records, "rate_error_pct", variant):
            params = record.params
            if params["where"] == "host" and params["load"] == "none":
                continue
            same = dict(params)
            late = find(records, "gap_us", variant, **same, quantile="p99")
            spread = find(records, "rate_sd_mbps", variant, **same)
            cpu = find(records, "cpu_pct", variant, **same)
            shown = [f"{one[0].value:.4g}" if one else "-" for one in (spread, late, cpu)]
            place = [str(params[name]) for name in ("where", "load", "policy", "rate_mbps")]
            rows.append([variant, *place, f"{record.value:z.4f}", *shown])
    if not rows:
        return ""
    header = ("", "where", "load", "policy", "Mbit/s", "error %", "sd", "gap p99 us", "CPU %")
    return "Policies\n\n" + format_table(header, rows)


def draw(results: Path, plots: Path, stem: str) -> list[Path]:
    """Draw what results STEM allow; returns the files.  Raises LabError if a file is not right."""
    records = read_json(results / f"{stem}.json")
    sheets: dict[str, Sheet] = {}
    most = by_param(records, "max_mbps", "udprate", "workers", **IDLE)
    if most:
        sheets["figure-1"] = figure_1(most)
    curves = {name: points for name in SENDERS if (points := actual(records, name))}
    if "udprate" in curves:
        sheets["figure-2"] = figure_2(curves)
        sheets["figure-4"] = figure_4(
            {name: by_param(records, "rate_sd_mbps", name, "rate_mbps", **ALONE) for name in curves}
        )
    by_processes = spread_by_processes(records)
    if by_processes:
        sheets["figure-3"] = figure_3(by_processes)
    written = save_all(sheets, plots, stem)
    tables = plots / f"{stem}-tables.txt"
    write_text(tables, tables_text(records))
    return [*written, tables]

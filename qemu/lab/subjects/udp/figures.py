# SPDX-License-Identifier: GPL-2.0
"""The reference's tables and figures with these measurements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from lab.report.goals import find, format_table
from lab.report.records import Record, read_json, write_text
from lab.report.sheet import MUTED, Caption, Sheet
from lab.subjects.udp.experiment import ALONE as ALONE_VARIANT
from lab.subjects.udp.goals import ALONE
from lab.subjects.udp.reference import ACTUAL_MBPS, MAX_MBPS, SD_MBPS

COLOURS = {"udprate": "#2b6cb0", ALONE_VARIANT: "#2f855a", "iperf3": "#d68910", "naive": "#c0392b"}
MARKERS = {"udprate": "o", ALONE_VARIANT: "v", "iperf3": "s", "naive": "^"}
IDLE = {name: value for name, value in ALONE.items() if name != "workers"}


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


def figure_1(most: Mapping[int, float]) -> Sheet:
    """Processes against the greatest rate."""
    best = max(most, key=lambda count: most[count])
    sheet = Sheet(
        Caption(
            "Figure 1: processes against the greatest rate",
            "loopback, packets of 1472 bytes, a receiver beside them",
            "One process reaches 180 Mbit/s with gaps of 30 us or more; more than ten add nothing "
            "to 860.",
            f"Batches need no short gaps: one process reaches {most[min(most)]:,.0f} Mbit/s, "
            f"{best} reach {most[best]:,.0f}; the number of CPUs is the limit.",
        )
    )
    axes = sheet.axes
    axes.plot(list(most), list(most.values()), "o-", color=COLOURS["udprate"], label="udprate")
    axes.plot(list(MAX_MBPS), list(MAX_MBPS.values()), "s-", color=MUTED, label="reference")
    axes.set_yscale("log")
    axes.set_xlabel("processes")
    axes.set_ylabel("Mbit/s")
    axes.set_xlim(0, max(MAX_MBPS) + 1)
    axes.set_ylim(50, 10 * max(most.values()))
    sheet.legend()
    return sheet


def figure_2(curves: Mapping[str, Mapping[int, float]]) -> Sheet:
    """What was reached of what was asked for."""
    ours = curves["udprate"]
    worst = max(ours, key=lambda rate: abs(ours[rate] / rate - 1))
    sheet = Sheet(
        Caption(
            "Figure 2: actual against expected rate",
            "loopback, one process, packets of 1472 bytes; 100 % is what was asked for",
            "The sleep of the computed gap lags: 27 of 32, 52 of 64, 100 of 128, 240 of 256, 800 "
            "of 1024 Mbit/s, with a constant taken off.",
            f"udprate is off by {abs(ours[worst] / worst - 1) * 100:.4f} % at most, at {worst} "
            "Mbit/s; the naive sender has no constant taken off.",
        )
    )
    axes = sheet.axes
    for size, (name, points) in enumerate(curves.items()):
        shares = [100 * reached / rate for rate, reached in points.items()]
        axes.plot(
            list(points),
            shares,
            marker=MARKERS[name],
            # hollow, each larger than the last: several senders reach all that was asked for
            markersize=5 + 3 * size,
            markerfacecolor="none",
            color=COLOURS[name],
            label=name,
        )
    printed = [100 * reached / rate for rate, reached in ACTUAL_MBPS.items()]
    axes.plot(list(ACTUAL_MBPS), printed, "D", color=MUTED, label="reference")
    axes.set_xscale("log", base=2)
    rates = sorted({rate for points in curves.values() for rate in points})
    axes.set_xticks(rates, [str(rate) for rate in rates])
    axes.set_xlabel("Mbit/s asked for")
    axes.set_ylabel("% of it reached")
    axes.set_ylim(0, 119)
    axes.legend(loc="lower left", frameon=False)
    return sheet


def figure_3(spreads: Mapping[int, Mapping[int, float]]) -> Sheet:
    """The standard deviation of the seconds by number of processes; a curve a rate."""
    worst = max(max(points.values()) for points in spreads.values())
    sheet = Sheet(
        Caption(
            "Figure 3: standard deviation of the rate by number of processes",
            "loopback; median of the repeats; what is 0 is drawn at the bottom; dashed: reference",
            "More processes have longer gaps each, and a smaller deviation: 5.7 to 0.4 Mbit/s at "
            "200, 28.6 to 9.23 at 700.",
            f"Deadlines do not need long gaps: it is {worst:.2g} Mbit/s at most, with any number "
            "of processes.",
        )
    )
    axes = sheet.axes
    for rate, points in spreads.items():
        values = [max(value, 1e-4) for value in points.values()]
        (line,) = axes.plot(list(points), values, "o-", label=f"{rate} Mbit/s")
        printed = SD_MBPS.get(rate, {})
        axes.plot(list(printed), list(printed.values()), "D--", color=line.get_color())
    axes.set_yscale("log")
    axes.set_xlabel("processes")
    axes.set_ylabel("Mbit/s")
    axes.set_ylim(5e-5, 1000)
    sheet.legend()
    return sheet


def figure_4(spreads: Mapping[str, Mapping[int, float]]) -> Sheet:
    """The standard deviation of the seconds by rate."""
    sheet = Sheet(
        Caption(
            "Figure 4: standard deviation of the rate from second to second",
            "loopback, one process; median of the repeats; what is 0 is drawn at the bottom",
            "1 to 5.7 Mbit/s at 100 and 200 Mbit/s, more at higher rates, less with more "
            "processes: gaps under 30 us are not deterministic.",
            "Whole batches fit a second, each in the middle of its time, so that every second "
            "carries the same unless the machine stands still at its end.",
        )
    )
    axes = sheet.axes
    for name, points in spreads.items():
        values = [max(value, 1e-4) for value in points.values()]
        axes.plot(list(points), values, marker=MARKERS[name], color=COLOURS[name], label=name)
    for rate, printed in SD_MBPS.items():
        if 1 in printed:
            label = "reference, 1 process" if rate == min(SD_MBPS) else None
            axes.plot([rate], [printed[1]], "D", color=MUTED, label=label)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    rates = sorted({rate for points in spreads.values() for rate in points})
    axes.set_xticks(rates, [str(rate) for rate in rates])
    axes.set_xlabel("Mbit/s asked for")
    axes.set_ylabel("Mbit/s")
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
    curves = {name: actual(records, name) for name in COLOURS}
    rates = sorted({rate for points in curves.values() for rate in points})
    if rates:
        rows = [["reference", *_cells(ACTUAL_MBPS, rates, "g")]]
        rows += [[name, *_cells(points, rates, ".4f")] for name, points in curves.items()]
        header = ("Mbit/s", *map(str, rates))
        parts.append("Actual against expected rate\n\n" + format_table(header, rows))
        rows = []
        for metric in ("rate_sd_mbps", "cpu_pct"):
            for name in COLOURS:
                found = by_param(records, metric, name, "rate_mbps", **ALONE)
                rows.append([f"{metric} {name}", *_cells(found, rates, ".4g")])
        parts.append("Spread and CPU\n\n" + format_table(header, rows))
    parts += [text for text in (_spread_table(records), _policy_table(records)) if text]
    return "\n".join(parts)


def spread_by_processes(records: Sequence[Record]) -> dict[int, dict[int, float]]:
    """Standard deviation by rate and number of processes, of rates with several."""
    found: dict[int, dict[int, float]] = {}
    for record in find(records, "rate_sd_mbps", "udprate", **IDLE):
        by_workers = found.setdefault(int(record.params["rate_mbps"]), {})
        by_workers[int(record.params["workers"])] = record.value
    return {
        rate: dict(sorted(points.items()))
        for rate, points in sorted(found.items())
        if len(points) > 1
    }


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
    """What the policies hold, in the guest and on the host, alone and beside hogs."""
    rows = []
    for variant in COLOURS:
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
    written: list[Path] = []
    most = by_param(records, "max_mbps", "udprate", "workers", **IDLE)
    if most:
        written += figure_1(most).save(plots, f"{stem}-figure-1")
    curves = {name: points for name in COLOURS if (points := actual(records, name))}
    if "udprate" in curves:
        written += figure_2(curves).save(plots, f"{stem}-figure-2")
        spreads = {
            name: by_param(records, "rate_sd_mbps", name, "rate_mbps", **ALONE) for name in curves
        }
        written += figure_4(spreads).save(plots, f"{stem}-figure-4")
    by_processes = spread_by_processes(records)
    if by_processes:
        written += figure_3(by_processes).save(plots, f"{stem}-figure-3")
    tables = plots / f"{stem}-tables.txt"
    write_text(tables, tables_text(records))
    return [*written, tables]

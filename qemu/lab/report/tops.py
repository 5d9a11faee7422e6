# SPDX-License-Identifier: GPL-2.0
"""The three plots at the top of the page, each with its sentence."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from lab.report.charts import Chart, Line, comparison, curves, point
from lab.report.compared import table
from lab.report.goals import Choice, find
from lab.report.references import references
from lab.report.results import Run, numbers

MISSING = "Not measured yet."


@dataclass(frozen=True)
class Top:
    """One of them; image is the drawn plot's name without the experiment's.

    `drawn` names the lines of the chart that the picture of all three has, and what it calls them.
    """

    name: str
    experiment: str
    title: str
    sentence: str
    image: str
    chart: Chart | None
    drawn: Mapping[str, str]


NUMBERS = {"1": "one", "4": "four"}


def beside(load: str) -> str:
    """A background in words: 1r1w is one reader and one writer."""
    found = re.fullmatch(r"(?:(\d+)r)?(?:(\d+)w)?", load)
    if not found:
        return load
    pairs = zip(found.groups(), ("reader", "writer"), strict=True)
    return " and ".join(
        f"{NUMBERS.get(count, count)} {name}{'s' * (count != '1')}"
        for count, name in pairs
        if count
    )


def _pair(
    run: Run, metric: str, variants: tuple[str, str], by: str, **where: Choice
) -> Iterator[dict[float | str, float]]:
    """The values of two variants by a parameter."""
    for variant in variants:
        found = [(one.params[by], one.value) for one in find(run.records, metric, variant, **where)]
        yield {key if isinstance(key, str) else float(key): value for key, value in found}


def _drawn(
    run: Run, figure: str, wanted: Mapping[str, str], x: str, y: str
) -> tuple[Chart | None, dict[str, str]]:
    """Some columns of a figure of the references, without what is printed there."""
    found = next(one for one in references().figures if one.id == figure)
    series = tuple(one for one in found.series if one.name in wanted)
    cells = table(msgspec.structs.replace(found, series=series), run.records)
    return comparison(cells, x, y), {f"{name}, ours": told for name, told in wanted.items()}


def start_up(run: Run) -> Top:
    """A start under load, as a multiple of itself on an idle disk."""
    where: dict[str, Choice] = {"depth": 2, "probe": "lprobe", "disk": "flash"}
    stock, ours = _pair(run, "startup_over_idle", ("bfq", "wrais"), "background", **where)
    both = [load for load in stock if load in ours and load != "idle"]
    sentence = MISSING
    if both:
        worst = max(both, key=lambda load: stock[load])
        most = max(ours[load] for load in both)
        sentence = (
            f"Under load a privileged start takes at most {most:.2f} times the idle one; "
            f"with stock BFQ up to {stock[worst]:.2f} times (under {beside(str(worst))})."
        )
    wanted = {"stock BFQ": "stock", "with the changes": "privileged"}
    drawn = _drawn(run, "wrais-15", wanted, "background", "seconds")
    return Top("start", run.name, "Start-up under load", sentence, "start-up-depth2", *drawn)


def packets(run: Run) -> Top:
    """What arrives of ever more frames."""
    where: dict[str, Choice] = {"ports": 1, "rate_function": "constant", "mitigation": "off"}
    stock, ours = _pair(run, "goodput_pps", ("e1000", "e1000-governor"), "offered_pps", **where)
    both = [rate for rate in stock if rate in ours and not isinstance(rate, str)]
    sentence = MISSING
    if both:
        most = max(both)
        sentence = (
            f"Of {most:,.0f} packets a second the application gets {ours[most]:,.0f} with the "
            f"governor, {stock[most]:,.0f} with the stock driver."
        )
    wanted = {
        "e1000, stock NAPI": "stock",
        "threaded NAPI": "threaded NAPI",
        "e1000 with the governor": "governor",
    }
    drawn = _drawn(run, "livelock-2", wanted, "offered packets/s", "received packets/s")
    return Top("packets", run.name, "Packets under overload", sentence, "throughput", *drawn)


def shares(run: Run, results: Path) -> Top:
    """Draws won against draws that the tickets promise."""
    raw = numbers(results / f"{run.stem}-share.csv", "tickets", "total", "wins", "lotteries")
    dots = [
        point(100 * tickets / total, 100 * wins / lotteries)
        for tickets, total, wins, lotteries in raw
        if total and lotteries
    ]
    errors = [record.value for record in find(run.records, "share_error_sigma")]
    sentence = MISSING
    if dots and errors:
        far = max(abs(one["x"] - one["y"]) for one in dots)
        sentence = (
            f"Each task gets the share of the CPU that its tickets buy: at most {far:.2f} "
            f"percentage points off, {max(errors):.1f} standard deviations of a fair draw."
        )
    line = Line("a task", False, dots, 0)
    promise = Line("what the tickets promise", True, [point(0, 0), point(100, 100)], 1)
    chart = (
        curves([line, promise], "scatter", "% of the tickets", "% of the draws") if dots else None
    )
    drawn = {one.name: one.name for one in (line, promise)}
    title = "Shares against tickets"
    return Top("shares", run.name, title, sentence, "shares", chart, drawn)


def tops(runs: Mapping[str, Run], results: Path) -> list[Top]:
    """All three, in the order of the documents."""
    return [
        shares(runs["lottery"], results),
        start_up(runs["wrais"]),
        packets(runs["livelock"]),
    ]

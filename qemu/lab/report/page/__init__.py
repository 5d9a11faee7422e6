# SPDX-License-Identifier: GPL-2.0
"""The report: one HTML page that needs nothing else, from results and plots."""

import base64
import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from lab.paths import Paths
from lab.report.charts import Chart, comparison
from lab.report.compared import Holds, Table, holds, lacks, table
from lab.report.goals import NOT_MEASURED, Verdict
from lab.report.records import write_text
from lab.report.references import Document, Figure, references
from lab.report.results import Run, run
from lab.report.tops import tops

NAME = "report.html"
HERE = Path(__file__).parent
LIBRARY = Path("/usr/share/javascript/chart.js/chart.min.js")
"""Debian's libjs-chart.js; without it the page has the drawn plots alone."""
KINDS = {
    **{Holds.YES: "yes", Holds.BETTER: "yes", Holds.NO: "no"},
    **{Holds.MISSING: "missing", Holds.UNJUDGED: "note", Holds.SHORT: "note"},
}
TRACE = "trace"
"""The start of a picture's name, if it shows who waits for whom; the experiment's follows."""
TYPES = {".png": "image/png", ".svg": "image/svg+xml"}


@dataclass(frozen=True)
class Shown:
    """A figure of a reference together with ours; drawn: the script has a plot of it.

    kind is good or bad news: that what they could not solve still holds is bad.
    """

    of: Figure
    table: Table
    holds: str
    kind: str
    images: list[str]
    drawn: bool


@dataclass(frozen=True)
class Section:
    """A document and the experiment that repeats it.

    `picture` shows who waits for whom in a run of it: empty if it was not drawn yet, None if
    it cannot be.
    """

    run: Run
    document: Document
    goals: list[dict[str, str]]
    figures: list[Shown]
    picture: str | None


def number(value: float) -> str:
    """Four digits, as a person reads them."""
    if value and abs(value) < 0.001:
        return f"{value:.1e}"
    digits = f"{value:.4g}" if abs(value) < 10_000 else f"{value:,.0f}"
    return f"{float(digits):g}" if "e" in digits else digits


def image(plots: Path, stem: str, name: str) -> str:
    """The smaller of a plot's two files as a data URL; empty without results or a plot."""
    files = [plots / f"{stem}-{name}{suffix}" for suffix in TYPES]
    there = [file for file in files if stem and file.exists()]
    if not there:
        return ""
    file = min(there, key=lambda one: one.stat().st_size)
    return f"data:{TYPES[file.suffix]};base64,{base64.b64encode(file.read_bytes()).decode()}"


def _shown(figure: Figure, found: Run, plots: Path, charts: dict[str, Chart]) -> Shown:
    cells = table(figure, found.records)
    chart = comparison(cells, figure.row, figure.unit)
    if chart:
        charts[figure.id] = chart
    images = [data for name in figure.plots if (data := image(plots, found.stem, name))]
    verdict = holds(figure, cells, found.goals)
    kind = "no" if figure.refuted and verdict is Holds.YES else KINDS[verdict]
    words = str(verdict)
    if verdict is Holds.SHORT and (why := lacks(figure, cells, found.goals)):
        words += f": {why} ({found.whole})"
    return Shown(figure, cells, words, kind, images, chart is not None)


def _goal(verdict: Verdict) -> dict[str, str]:
    return {
        "name": verdict.name,
        "bound": verdict.bound,
        "measured": verdict.measured,
        "word": verdict.outcome,
        "why": verdict.why,
    }


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def policy(style: str, scripts: Sequence[str]) -> str:
    """What the browser may do: run and style what is in the page, and load nothing."""
    allowed = " ".join(map(_digest, scripts))
    return f"default-src 'none'; img-src data:; style-src {_digest(style)}; script-src {allowed}"


def as_json(data: object) -> str:
    """No text in it can end its element."""
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")


def templates(folder: Path) -> Environment:
    """Of pages: an unknown name is an error, and all text is escaped."""
    return Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _section(found: Run, plots: Path, charts: dict[str, Chart], traced: bool) -> Section:
    return Section(
        found,
        references().documents[found.name],
        [_goal(verdict) for verdict in found.verdicts],
        [_shown(figure, found, plots, charts) for figure in references().of(found.name)],
        image(plots, TRACE, found.name) if traced else None,
    )


def _lead(runs: Mapping[str, Run]) -> str:
    """What the page is, of which kernel, when, and on which machine."""
    start = "This page shows what the patch stack Who waits for whom does to Linux 6.12"
    origins = [found.origin for found in runs.values() if found.origin]
    if not origins:
        return f"{start}: nothing of it has been measured yet."
    kernels = sorted({release for one in origins for release in one.kernels})
    days = sorted({one.day for one in origins if one.day})
    when = f" on {' to '.join(dict.fromkeys((days[0], days[-1])))}" if days else ""
    qemus, hosts = ({getattr(one, name): None for one in origins} for name in ("qemu", "host"))
    return (
        f"{start}, measured with kernel {', '.join(kernels)}{when}, in guests of QEMU "
        f"{', '.join(qemus)} and on their host ({'; '.join(hosts)})."
    )


def _context(paths: Paths, library: Path, pictured: Collection[str]) -> dict[str, Any]:
    runs = {name: run(paths, name) for name in references().documents}
    charts: dict[str, Chart] = {}
    first = []
    for top in tops(runs, paths.results):
        if top.chart:
            charts[top.name] = top.chart
        first.append(
            {
                "chart": top.name,
                "drawn": top.chart is not None,
                "title": top.title,
                "sentence": top.sentence,
                "image": image(paths.plots, runs[top.experiment].stem, top.image),
            }
        )
    sections = [
        _section(found, paths.plots, charts, name in pictured) for name, found in runs.items()
    ]
    goals = [goal for section in sections for goal in section.goals]
    words = [goal["word"] for goal in goals]
    absent = sum(goal["measured"] == NOT_MEASURED for goal in goals)
    style = (HERE / "page.css").read_text(encoding="utf-8")
    scripts = [(HERE / "page.js").read_text(encoding="utf-8")]
    if library.exists():
        scripts.insert(0, library.read_text(encoding="utf-8").replace("</", "<\\/"))
    return {
        "lead": _lead(runs),
        "tops": first,
        "sections": sections,
        "met": words.count("met"),
        "missed": words.count("missed"),
        "stretches": words.count("not reached"),
        "unjudged": words.count("-") - absent,
        "absent": absent,
        "charts": as_json({name: asdict(chart) for name, chart in charts.items()}),
        "style": style,
        "scripts": scripts,
        "policy": policy(style, scripts),
    }


def write(paths: Paths, library: Path = LIBRARY, pictured: Collection[str] = ()) -> Path:
    """Write $(O)/report.html; returns it.  Raises LabError if a file of results is not right.

    pictured names the experiments that can be recorded, to draw who waits for whom.
    """
    environment = templates(HERE)
    environment.filters["number"] = number
    text = environment.get_template("page.html.j2").render(_context(paths, library, pictured))
    path = paths.out / NAME
    write_text(path, text + "\n")
    return path

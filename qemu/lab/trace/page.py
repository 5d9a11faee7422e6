# SPDX-License-Identifier: GPL-2.0
"""A timeline as one HTML page that needs nothing else: its lanes can be enlarged."""

from pathlib import Path
from typing import Any

from lab.report import page as report
from lab.report.records import write_text
from lab.trace.timeline import COLOURS, LONGEST, Side, Timeline, used
from lab.trace.waits import What, attributed, longest, sums

HERE = Path(__file__).parent


def _lanes(side: Side, causes: dict[What, int], texts: dict[str, int]) -> list[dict[str, Any]]:
    """The lanes of a run, as page.js has them: each text once, each span as five numbers."""
    found = []
    for lane in side.lanes:
        spans: list[int] = []
        for span in lane.spans:
            spans += (span.begin_ns - side.begin_ns, span.end_ns - side.begin_ns)
            spans.append(causes[span.what])
            for text in (span.whom, " < ".join(span.calls)):
                spans.append(texts.setdefault(text, len(texts)))
        found.append({"name": lane.name, "capacity": lane.capacity, "spans": spans})
    return found


def _data(timeline: Timeline) -> str:
    """What the script draws, as JSON that can stand in HTML."""
    shown = used(timeline)
    texts: dict[str, int] = {}
    causes = {what: number for number, what in enumerate(shown)}
    sides = [_lanes(side, causes, texts) for side in timeline.sides]
    data = {
        "length_ns": timeline.length_ns,
        "causes": [{"name": what.value, "colour": COLOURS[what]} for what in shown],
        "sides": sides,
        "texts": list(texts),
    }
    return report.as_json(data)


def write(timeline: Timeline, folder: Path, stem: str) -> Path:
    """Write STEM.html; returns it.  The same spans always give the same bytes."""
    environment = report.templates(HERE)
    environment.globals |= {"sums": sums, "longest": longest, "attributed": attributed}
    text = environment.get_template("page.html.j2").render(
        timeline=timeline,
        stem=stem,
        css=(report.HERE / "page.css").read_text(encoding="utf-8"),
        script=(HERE / "page.js").read_text(encoding="utf-8"),
        data=_data(timeline),
        used=used(timeline),
        colours=COLOURS,
        count=LONGEST,
    )
    path = folder / f"{stem}.html"
    write_text(path, text + "\n")
    return path

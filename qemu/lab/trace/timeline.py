# SPDX-License-Identifier: GPL-2.0
"""A timeline: what tasks do, and below them what they wait for, stock above ours.

Each lane is a strip of pixels; a column of it shows what its stretch of time held, each
state as high as its part of that.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab.report.sheet import INK, MUTED, empty, save
from lab.trace.waits import Span, What, attributed, longest, sums

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS: dict[What, str] = {
    What.RUNS: "#1e8449",
    What.CPU: "#e0a021",
    What.READ: "#2b6cb0",
    What.WRITE: "#7fb3e0",
    What.TAG: "#f48fb1",
    What.PAGE: "#1b3f73",
    What.JOURNAL: "#6c3483",
    What.CLOSING: "#a569bd",
    What.SHADOW: "#d7bde2",
    What.THROTTLE: "#c0392b",
    What.FRAME: "#9fd6d2",
    What.LOCK: "#5d4037",
    What.TASK: "#a4785a",
    What.UNKNOWN: "#ff00ff",
    What.REST: "#eceff1",
    What.PRIVILEGED: "#22262a",
    What.OTHERS: "#b4bbc1",
    What.DRAW: "#6b7278",
    What.RECEIVES: "#d4623a",
    What.TAKEN: "#117a8b",
    What.DROPPED: "#c0392b",
}
COLUMNS = 1400
ROWS = 24
WIDTH_IN = 11.0
LANE_IN = 0.3
AROUND_IN = 2.05
GAP_IN = 0.35
DPI = 110
LONGEST, DEEP = 10, 8
"""How many waits are told, and of how many functions."""
NS = {"s": 10**9, "ms": 10**6}


@dataclass(frozen=True)
class Lane:
    """A task, or a device that serves up to `capacity` at a time."""

    name: str
    spans: Sequence[Span]
    capacity: int = 1


@dataclass(frozen=True)
class Side:
    """One run: whose, from when on, and what it shows."""

    label: str
    begin_ns: int
    end_ns: int
    lanes: Sequence[Lane]


@dataclass(frozen=True)
class Timeline:
    """Both runs of a subject on one axis of time, in `unit`."""

    title: str
    subtitle: str
    unit: str
    sides: Sequence[Side]

    @property
    def length_ns(self) -> int:
        """Of the axis: the longest run."""
        return max(side.end_ns - side.begin_ns for side in self.sides)


def columns(lane: Lane, begin_ns: int, length_ns: int, count: int) -> list[dict[What, float]]:
    """What each of `count` columns holds: parts of 1, of all that the lane can do."""
    found: list[dict[What, float]] = [{} for _ in range(count)]
    width = length_ns / count
    for span in lane.spans:
        low, high = (span.begin_ns - begin_ns) / width, (span.end_ns - begin_ns) / width
        low, high = max(0.0, low), min(float(count), high)
        for column in range(int(low), min(count, int(high) + 1)):
            part = min(high, column + 1) - max(low, column)
            if part > 0:
                held = found[column]
                held[span.what] = held.get(span.what, 0.0) + part / lane.capacity
    return found


def _picture(held: Sequence[dict[What, float]]) -> Any:
    """The strip of a lane: rows, columns, and red, green, blue."""
    import numpy as np
    from matplotlib.colors import to_rgb

    picture = np.ones((ROWS, len(held), 3))
    for number, parts in enumerate(held):
        bottom = 0.0
        for what in What:
            if what not in parts:
                continue
            top = min(1.0, bottom + parts[what])
            rows = slice(round((1 - top) * ROWS), round((1 - bottom) * ROWS))
            picture[rows, number] = to_rgb(COLOURS[what])
            bottom = top
    return picture


def _draw_side(axes: "Axes", side: Side, timeline: Timeline) -> None:
    length = timeline.length_ns
    end = length / NS[timeline.unit]
    for number, lane in enumerate(side.lanes):
        place = len(side.lanes) - number - 1
        held = columns(lane, side.begin_ns, length, COLUMNS)
        axes.imshow(
            _picture(held),
            extent=(0, end, place + 0.08, place + 0.92),
            aspect="auto",
            interpolation="nearest",
        )
    axes.set_xlim(0, end)
    axes.set_ylim(0, len(side.lanes))
    axes.set_yticks(
        [len(side.lanes) - number - 0.5 for number in range(len(side.lanes))],
        [lane.name for lane in side.lanes],
    )
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    axes.set_title(side.label, loc="left", fontsize=10, color=INK, fontweight="bold")


def used(timeline: Timeline) -> list[What]:
    """What the timeline shows, in the order of the legend."""
    there = {s.what for side in timeline.sides for lane in side.lanes for s in lane.spans}
    return [what for what in What if what in there]


def draw(timeline: Timeline, folder: Path, stem: str) -> list[Path]:
    """Write STEM.png and STEM.svg; the same spans always give the same bytes."""
    from matplotlib.patches import Patch

    heights = [len(side.lanes) for side in timeline.sides]
    inches = AROUND_IN + sum(heights) * LANE_IN + GAP_IN * len(heights)
    with empty((WIDTH_IN, inches), DPI) as figure:
        grid = figure.add_gridspec(
            len(heights),
            height_ratios=heights,
            left=0.13,
            right=0.985,
            top=1 - 0.95 / inches,
            bottom=1.1 / inches,
            hspace=GAP_IN * len(heights) / (sum(heights) * LANE_IN / len(heights)) / 2,
        )
        for number, side in enumerate(timeline.sides):
            axes = figure.add_subplot(grid[number])
            _draw_side(axes, side, timeline)
            if number + 1 < len(heights):
                axes.tick_params(axis="x", labelbottom=False)
            else:
                axes.set_xlabel(timeline.unit)
        figure.text(0.02, 1 - 0.22 / inches, timeline.title, fontsize=13, fontweight="bold")
        figure.text(0.02, 1 - 0.45 / inches, timeline.subtitle, fontsize=9.5, color=MUTED)
        keys = [Patch(color=COLOURS[what], label=what.value) for what in used(timeline)]
        figure.legend(
            handles=keys, loc="lower center", ncols=min(len(keys), 6), frameon=False, fontsize=8.5
        )
        return save(figure, folder, stem)


def _waits(side: Side) -> Iterable[str]:
    """The longest waits of the first lane of a run: when, for what and whom, and from where."""
    lane = side.lanes[0]
    yield f"  {100 * attributed(lane.spans):.2f} % of what {lane.name} waited has a known cause:"
    for span in longest(lane.spans, LONGEST):
        at_ns = span.begin_ns - side.begin_ns
        calls = " < ".join(span.calls[:DEEP])
        whom = f" ({span.whom})" if span.whom else ""
        words = f"    {span.ns / 10**6:9.3f} ms, from {at_ns / 10**9:.3f} s on: {span.what.value}"
        yield f"{words}{whom}{': ' * bool(calls)}{calls}"


def text(timeline: Timeline) -> Iterable[str]:
    """How long each did what, a line a lane; and the longest waits of the first one."""
    for side in timeline.sides:
        yield f"{side.label}: {(side.end_ns - side.begin_ns) / 10**9:.3f} s"
        for lane in side.lanes:
            parts = sorted(sums(lane.spans).items(), key=lambda pair: -pair[1])
            said = ", ".join(f"{what.value} {ns / 10**9:.3f} s" for what, ns in parts)
            yield f"  {lane.name}: {said}"
        yield from _waits(side)

# SPDX-License-Identifier: GPL-2.0
"""Figures 6 and 8 of Waldspurger and Weihl (1994), drawn again from the tools' rows."""

from __future__ import annotations

from collections.abc import Sequence

from lab.report.sheet import MUTED, Caption, Sheet
from lab.subjects.lottery.law import at_the_end, shares
from lab.subjects.lottery.output import MonteCarloRow, ViewersRow

COLOURS = ("#2b6cb0", "#c0392b", "#2f855a", "#b7791f", "#6b46c1", "#2c7a7b")
"""Of the first task, the second ..., and again from the start."""


def _axes(sheet: Sheet, label: str) -> None:
    """Something that only rises, over time."""
    sheet.axes.set_xlabel("seconds")
    sheet.axes.set_ylabel(label)
    sheet.axes.set_xlim(left=0)
    sheet.axes.set_ylim(bottom=0)
    sheet.legend()


def montecarlo(rows: Sequence[MonteCarloRow]) -> Sheet:
    """Cumulative trials of integrations that began one after the other: figure 6."""
    ends = at_the_end(rows)
    made = [end.made for end in ends]
    seconds = rows[-1].time_ms / 1000
    told, due = (
        ", ".join(f"{number / 1e6:.1f}" for number in numbers)
        for numbers in (made, [end.due for end in ends])
    )
    caption = Caption(
        "Monte-Carlo integrations with ticket inflation",
        "figure 6 of Waldspurger and Weihl (1994), again, in virtual time",
        "Three integrations start two minutes apart. Each sets its tickets in proportion to the "
        "square of its relative error: a new one gets most of the CPU at first, the curves of "
        "the older ones bend, and all converge.",
        f"After {seconds:g} s: {told} million trials. Where each has exactly what its tickets "
        f"buy: {due} (grey). The first has {max(made) / min(made):.2f} x the trials of the last.",
    )
    sheet = Sheet(caption)
    look_s = (rows[1].time_ms - rows[0].time_ms) / 1000
    for number, task in enumerate(dict.fromkeys(row.task for row in rows)):
        mine = [row for row in rows if row.task == task]
        times = [row.time_ms / 1000 for row in mine]
        sheet.axes.plot(
            [times[0] - look_s, *times],
            [0.0, *(row.trials / 1e6 for row in mine)],
            color=COLOURS[number % len(COLOURS)],
            label=f"integration {task}",
        )
    at = [seconds] * len(ends)
    sheet.axes.plot(at, [end.due / 1e6 for end in ends], "_", color=MUTED, markersize=14)
    _axes(sheet, "million trials")
    return sheet


def viewers(rows: Sequence[ViewersRow]) -> Sheet:
    """Cumulative frames of viewers whose tickets change: figure 8."""
    told = {}
    for phase, parts in shares(rows).items():
        slowest = min(part.frames for part in parts)
        tickets = ":".join(str(part.tickets) for part in parts)
        rates = ":".join(f"{part.frames / slowest:.2f}" for part in parts)
        told[phase] = f"{rates} {phase} ({tickets})"
    caption = Caption(
        "Frame rates of viewers whose tickets change",
        "figure 8 of Waldspurger and Weihl (1994), again, in virtual time",
        "Three viewers of films have tickets of 3:2:1, later of 3:1:2. Their frame rates were "
        "1.92:1.50:1 and 1.92:1:1.53: the display server, which serves in turn, distorted them.",
        f"Frame rates of {', and '.join(told.values())} the change (dotted line). "
        "Nothing but the CPU is shared.",
    )
    sheet = Sheet(caption)
    for number, viewer in enumerate(dict.fromkeys(row.viewer for row in rows)):
        mine = [row for row in rows if row.viewer == viewer]
        sheet.axes.plot(
            [row.time_ms / 1000 for row in mine],
            [row.frames for row in mine],
            color=COLOURS[number % len(COLOURS)],
            label=f"viewer {mine[0].letter}",
        )
    change = max(row.time_ms for row in rows if row.phase == rows[0].phase)
    sheet.axes.axvline(change / 1000, color=MUTED, linestyle=":", linewidth=1.2)
    _axes(sheet, "frames")
    return sheet

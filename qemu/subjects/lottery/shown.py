# SPDX-License-Identifier: GPL-2.0
"""How the demo tells of the experiment."""

from __future__ import annotations

from lab.experiment import Shown
from lab.report.measured import Measured
from subjects.lottery.goals import GOALS


def _told(measured: Measured) -> str | None:
    table = measured.raw.get("share")
    if table is None:
        return None
    case, tickets, wins = (table.header.index(name) for name in ("case", "tickets", "wins"))
    of = [row for row in table.rows if row[case] == "10:1"]
    most, least = (sum(float(row[wins]) for row in of if row[tickets] == n) for n in (10, 1))
    if not least:
        return None
    return f"A task with 10 tickets got {most / least:.2f} times the CPU of one with 1."


SHOWN = Shown(_told, "shares", GOALS, ("other",))

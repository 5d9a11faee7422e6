# SPDX-License-Identifier: GPL-2.0
"""The goals of the I/O experiment against its records; a record's value is its worst repeat."""

from __future__ import annotations

from collections.abc import Sequence

from lab.guest import slowdisk
from lab.report.goals import Verdict, find, ratio, value
from lab.report.records import Param, Record
from lab.report.verdicts import at_least, at_most, judge
from lab.subjects.wrais.experiment import DEPTHS, LOADED, SQLITE
from lab.subjects.wrais.variants import BFQ, PLAIN, WRAIS

LIGHT = ("1r", "1w", "1r1w")
START_MOST = 1.03
HEAVY_MOST = 1.05
HARD_MOST = {"1r1w": 1.15, "4r4w": 1.25}
"""For the applications that fsync or write a lot, by background."""
STALL_MOST_MS = 200.0
FLOOR_PCT = 5.0
THROUGHPUT_LEAST = 0.90
COMMIT_MOST = 0.3
PLAIN_WITHIN_PCT = 1.0


def _over_idle(
    records: Sequence[Record], probe: str, depth: int, backgrounds: Sequence[str]
) -> dict[str, float | None]:
    return {
        background: value(
            records,
            "startup_over_idle",
            WRAIS.name,
            background=background,
            probe=probe,
            depth=depth,
        )
        for background in backgrounds
    }


def start_goals(records: Sequence[Record]) -> list[Verdict]:
    """The reference's figure: an application that starts beside a busy disk."""
    goals = []
    for depth in DEPTHS:
        for backgrounds, most in ((LIGHT, START_MOST), (("4r4w",), HEAVY_MOST)):
            what = f"startup_over_idle, wrais, lprobe, depth {depth}"
            found = _over_idle(records, "lprobe", depth, backgrounds)
            goals.append(at_most(what, most, found))
    return goals


def stall_goal(records: Sequence[Record]) -> Verdict:
    """The longest wait of any start."""
    found: dict[str, float | None] = {}
    for background in LOADED:
        rows = find(records, "max_stall_ms", WRAIS.name, background=background, probe="lprobe")
        found[background] = max((row.value for row in rows), default=None)
    what = "max_stall_ms, wrais, lprobe, every row"
    return at_most(what, STALL_MOST_MS, found, ".0f")


def hard_goals(records: Sequence[Record]) -> list[Verdict]:
    """Applications that the prototype did not help."""
    goals = []
    for background, most in HARD_MOST.items():
        found = {
            probe: _over_idle(records, probe, DEPTHS[0], (background,))[background]
            for probe in ("fsync", "write70")
        }
        goals.append(at_most(f"startup_over_idle, wrais, {background}", most, found))
    return goals


def floor_goal(records: Sequence[Record]) -> Verdict:
    """What a privileged reader that never stops leaves to the others."""
    key: dict[str, Param] = {"background": "1r1w", "probe": "endless", "depth": DEPTHS[0]}
    left = value(records, "background_mbps", WRAIS.name, **key)
    percent = None if left is None else 100 * left / slowdisk.MBPS
    what = "background_mbps in % of the disk, wrais, endless, 1r1w"
    return at_least(what, FLOOR_PCT, {"": percent}, ".2f")


def throughput_goal(records: Sequence[Record]) -> Verdict:
    """What the privilege of an application that leaves the disk idle costs everybody."""
    found = {}
    for probe in ("think", "random"):
        key: dict[str, Param] = {"background": "1r1w", "probe": probe, "depth": DEPTHS[0]}
        found[probe] = ratio(
            value(records, "device_mbps", WRAIS.name, **key),
            value(records, "device_mbps", BFQ.name, **key),
        )
    return at_least("device_mbps, wrais / bfq, 1r1w", THROUGHPUT_LEAST, found)


def commit_goal(records: Sequence[Record]) -> Verdict:
    """A real database."""
    found = {}
    for probe, journal in SQLITE.items():
        key: dict[str, Param] = {"background": "1r1w", "probe": probe, "quantile": "p99"}
        found[journal] = ratio(
            value(records, "sqlite_commit_ms", WRAIS.name, **key),
            value(records, "sqlite_commit_ms", BFQ.name, **key),
        )
    return at_most("sqlite_commit_ms p99, wrais / bfq, 1r1w", COMMIT_MOST, found)


def plain_goal(records: Sequence[Record]) -> Verdict:
    """What the options cost when they are there and switched off."""
    found: dict[str, float | None] = {}
    for record in find(records, "startup_s", PLAIN.name):
        quotient = ratio(value(records, "startup_s", BFQ.name, **record.params), record.value)
        found[str(record.params["probe"])] = None if quotient is None else 100 * (quotient - 1)
    what = "startup_s, switched off against compiled out, idle, in %"
    return judge(
        what,
        f"within {PLAIN_WITHIN_PCT:g}",
        found,
        lambda number: abs(number) <= PLAIN_WITHIN_PCT,
        "+.2f",
    )


def goals(records: Sequence[Record]) -> list[Verdict]:
    """The whole table, in its usual order."""
    return [
        *start_goals(records),
        stall_goal(records),
        *hard_goals(records),
        floor_goal(records),
        throughput_goal(records),
        commit_goal(records),
        plain_goal(records),
    ]

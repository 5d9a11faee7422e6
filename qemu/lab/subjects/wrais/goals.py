# SPDX-License-Identifier: GPL-2.0
"""The goals of the I/O experiment; a record's value is its worst repeat."""

from __future__ import annotations

from lab.guest import slowdisk
from lab.report.goals import Goal
from lab.subjects.wrais.experiment import DEPTHS, LOADED, SQLITE, SWITCHED_OFF
from lab.subjects.wrais.variants import BFQ, WRAIS

DOCUMENT = "Documentation/block/bfq-wrais.rst"
QUOTED = ("README.md", DOCUMENT)

LIGHT = ("1r", "1w", "1r1w")
HEAVY = ("4r4w",)
HARD = {"1r1w": 1.15, "4r4w": 1.25}
"""For the applications that fsync or write a lot, by background."""


def _start(depth: int, backgrounds: tuple[str, ...], most: float) -> Goal:
    """The reference's figure: an application that starts beside a busy disk."""
    return Goal(
        name=f"start / idle, privileged, depth {depth}, {', '.join(backgrounds)}",
        metric="startup_over_idle",
        variant=WRAIS.name,
        where={"background": backgrounds, "probe": "lprobe", "depth": depth},
        by="background",
        high=most,
        quoted=QUOTED,
    )


GOALS = (
    Goal(
        name="start / idle, stock BFQ, depth 2",
        metric="startup_over_idle",
        variant=BFQ.name,
        where={"background": LOADED, "probe": "lprobe", "depth": DEPTHS[0]},
        by="background",
        judged=False,
        quoted=QUOTED,
    ),
    *(
        _start(depth, backgrounds, most)
        for depth in DEPTHS
        for backgrounds, most in ((LIGHT, 1.03), (HEAVY, 1.05))
    ),
    Goal(
        name="longest stall of a start, privileged, in ms",
        metric="max_stall_ms",
        variant=WRAIS.name,
        where={"background": LOADED, "probe": "lprobe"},
        by="background",
        high=200.0,
        form=".0f",
        worst=True,
        quoted=QUOTED,
    ),
    *(
        Goal(
            name=f"start / idle, privileged, {background}",
            metric="startup_over_idle",
            variant=WRAIS.name,
            where={"background": background, "probe": ("fsync", "write70"), "depth": DEPTHS[0]},
            by="probe",
            high=most,
            quoted=QUOTED,
        )
        for background, most in HARD.items()
    ),
    Goal(
        name="left to others by a privileged reader without end, in % of the disk",
        metric="background_mbps",
        variant=WRAIS.name,
        where={"background": "1r1w", "probe": "endless", "depth": DEPTHS[0]},
        low=5.0,
        scale=100 / slowdisk.MBPS,
        form=".2f",
        quoted=QUOTED,
    ),
    Goal(
        name="what the disk does, privileged / stock, 1r1w",
        metric="device_mbps",
        variant=WRAIS.name,
        where={"background": "1r1w", "probe": ("think", "random"), "depth": DEPTHS[0]},
        by="probe",
        over=BFQ.name,
        low=0.9,
        quoted=QUOTED,
    ),
    Goal(
        name="99 % quantile of SQLite's commits, privileged / stock, 1r1w",
        metric="sqlite_commit_ms",
        variant=WRAIS.name,
        where={"background": "1r1w", "probe": tuple(SQLITE), "quantile": "p99"},
        by="probe",
        over=BFQ.name,
        high=0.3,
        quoted=QUOTED,
    ),
    Goal(
        name="start, switched off against compiled out, idle, in %",
        metric="switched_off_pct",
        where={"probe": SWITCHED_OFF},
        by="probe",
        high=1.0,
        magnitude=True,
        form="+.3f",
        quoted=QUOTED,
    ),
)

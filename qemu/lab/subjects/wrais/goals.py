# SPDX-License-Identifier: GPL-2.0
"""The goals of the I/O experiment; a record's value is its worst repeat."""

from __future__ import annotations

from dataclasses import replace

from lab.guest import places, slowdisk
from lab.guest.places import Place
from lab.report.goals import Goal
from lab.subjects.wrais import applications as a
from lab.subjects.wrais.experiment import DEPTHS, LOADED, PGBENCH, SQLITE, SWITCHED_OFF
from lab.subjects.wrais.variants import BFQ, GROUPED, MEMBER, WRAIS, Variant

QUOTED = ("Documentation/block/bfq-wrais.rst",)

LIGHT = ("1r", "1w", "1r1w")
HEAVY = ("4r4w",)
HARD = {"fsync": 1.10, "write70": 1.15}
"""The applications that fsync or write a lot."""
EQUALS = (WRAIS, MEMBER)
"""By the real-time class, and by a cgroup of little weight."""
FLASH = {"disk": places.FLASH.name}
CARRIED = 1.10
"""What dm-crypt, loop and XFS may take."""


def _start(variant: Variant, depth: int, backgrounds: tuple[str, ...], most: float) -> Goal:
    """The reference's figure: an application that starts beside a busy disk."""
    return Goal(
        name=f"start / idle, {variant.label}, depth {depth}, {', '.join(backgrounds)}",
        metric="startup_over_idle",
        variant=variant.name,
        where={"background": backgrounds, "probe": "lprobe", "depth": depth, **FLASH},
        by="background",
        high=most,
        quoted=QUOTED,
    )


def _start_elsewhere(
    variant: Variant, place: Place, backgrounds: tuple[str, ...], most: float, judged: bool = True
) -> Goal:
    """The same on another disk or file system, or by what brings the requests to it."""
    return Goal(
        name=f"start / idle, {variant.label}, {place.label}, {', '.join(backgrounds)}",
        metric="startup_over_idle",
        variant=variant.name,
        where={"background": backgrounds, "probe": "lprobe", "disk": place.name},
        by="background",
        high=most,
        judged=judged,
        quoted=QUOTED,
    )


ELSEWHERE = (
    *(
        _start_elsewhere(variant, place, backgrounds, most)
        for variant in EQUALS
        for place in places.DISKS
        for backgrounds, most in ((LIGHT, 1.03), (HEAVY, 1.05))
    ),
    *(
        _start_elsewhere(variant, place, LOADED, CARRIED)
        for variant in EQUALS
        for place in (*places.CARRIERS, places.XFS)
    ),
    *(
        _start_elsewhere(variant, place, LOADED, CARRIED, judged=False)
        for variant in EQUALS
        for place in places.REPORTED
    ),
)
"""Other disks than the phone's flash, what lies between it and the file system, and others."""


def _applications(background: str, judged: bool) -> tuple[Goal, ...]:
    """Start-ups of real applications' shape: each, and all together."""
    each = Goal(
        name=f"start / idle, privileged, applications, {background}",
        metric="startup_over_idle",
        variant=WRAIS.name,
        where={"background": background, "probe": tuple(a.APPS), "depth": DEPTHS[0]},
        by="probe",
        high=1.10,
        judged=judged,
        quoted=QUOTED,
    )
    mean = replace(
        each,
        name=f"start / idle, privileged, mean of the applications, {background}",
        where={**each.where, "probe": a.APP_MEAN},
        by="",
        high=1.05,
    )
    return (each, mean)


def _database(metric: str, what: str, probes: tuple[str, ...]) -> Goal:
    """A database beside load, against itself with stock BFQ on an idle disk."""
    return Goal(
        name=f"99 % quantile of {what}, privileged 1r1w / idle",
        metric=metric,
        variant=WRAIS.name,
        where={"background": "1r1w", "probe": probes, "quantile": "p99"},
        by="probe",
        over=BFQ.name,
        over_where={"background": "idle"},
        high=3.0,
        form=".2f",
        quoted=QUOTED,
    )


DATABASES = (
    _database("sqlite_commit_ms", "SQLite's commits", tuple(SQLITE)),
    _database("pgbench_ms", "PostgreSQL's transactions", (PGBENCH,)),
)


def _wait(over: Variant, judged: bool) -> Goal:
    """Who is not privileged: his longest call, against that of one beside the usual load."""
    return Goal(
        name=f"longest wait beside a privileged 1r1w / beside {over.label}",
        metric="max_stall_ms",
        variant=a.BESIDE.name,
        where={"background": "1r1w", "probe": tuple(a.WAITS), "depth": DEPTHS[0]},
        by="probe",
        over=over.name,
        high=2.0,
        judged=judged,
        form=".2f",
        quoted=QUOTED,
    )


APPLICATIONS = (
    *_applications("1r1w", judged=True),
    *_applications("4r4w", judged=False),
    Goal(
        name="two privileged readers, less / more",
        metric="fair_share",
        variant=a.PAIR.name,
        where={"background": a.FAIR_LOAD, "probe": "endless", "depth": DEPTHS[0]},
        low=0.9,
        quoted=QUOTED,
    ),
    Goal(
        name=f"left to others in any {a.WINDOW_S} s by who never ends, in % of the disk",
        metric="background_window_mbps",
        variant=WRAIS.name,
        where={"probe": ("endless", *a.ENDLESS), "depth": DEPTHS[0]},
        by="probe",
        low=5.0,
        scale=100 / slowdisk.MBPS,
        form=".2f",
        quoted=QUOTED,
    ),
    _wait(BFQ, judged=True),
    _wait(a.BESIDE_RT0, judged=False),
    _wait(a.BESIDE_SIMPLE, judged=False),
)

GOALS = (
    Goal(
        name="start / idle, stock BFQ, depth 2",
        metric="startup_over_idle",
        variant=BFQ.name,
        where={"background": LOADED, "probe": "lprobe", "depth": DEPTHS[0], **FLASH},
        by="background",
        judged=False,
        quoted=QUOTED,
    ),
    *(
        _start(WRAIS, depth, backgrounds, most)
        for depth in DEPTHS
        for backgrounds, most in ((LIGHT, 1.03), (HEAVY, 1.05))
    ),
    *(
        _start(variant, DEPTHS[0], backgrounds, most)
        for variant in (GROUPED, MEMBER)
        for backgrounds, most in ((("1r1w",), 1.03), (HEAVY, 1.05))
    ),
    Goal(
        name="longest stall of a start, privileged, in ms",
        metric="max_stall_ms",
        variant=WRAIS.name,
        where={"background": LOADED, "probe": "lprobe", **FLASH},
        by="background",
        high=200.0,
        form=".0f",
        worst=True,
        quoted=QUOTED,
    ),
    *(
        Goal(
            name=f"start / idle, {variant.label}, {probe}",
            metric="startup_over_idle",
            variant=variant.name,
            where={"background": ("1r1w", "4r4w"), "probe": probe, "depth": DEPTHS[0]},
            by="background",
            high=most,
            quoted=QUOTED,
        )
        for variant in EQUALS
        for probe, most in HARD.items()
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
    *(
        Goal(
            name=f"what the disk does, privileged / stock, {probe}, 1r1w",
            metric="device_mbps",
            variant=WRAIS.name,
            where={"background": "1r1w", "probe": probe, "depth": DEPTHS[0]},
            over=BFQ.name,
            low=least,
            quoted=QUOTED,
        )
        for probe, least in (("think", 0.9), ("random", 0.85))
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
    *DATABASES,
    *APPLICATIONS,
    *ELSEWHERE,
)

# SPDX-License-Identifier: GPL-2.0
"""What the I/O experiment runs in the guest: cells of a matrix, boots and programs.

A cell is one variant with one probe under one background on one disk; wrais-run
measures it `repeats` times, each start at another phase of the background.  All
cells of a boot share a mount and its files.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from lab.guest import places, slowdisk
from lab.guest.boot import Boot, Program
from lab.guest.machine import Machine
from lab.guest.places import DEPTHS, FOLDER, Place
from subjects.wrais import applications as a
from subjects.wrais import pgbench
from subjects.wrais import variants as v
from subjects.wrais.variants import Variant

BACKGROUNDS = {"idle": (0, 0), "1r": (1, 0), "1w": (0, 1), "1r1w": (1, 1), "4r4w": (4, 4)}
"""Readers and writers while the probe runs."""
LOADED = tuple(name for name in BACKGROUNDS if name != "idle")

PROBES = {
    **{"lprobe": 8, "fsync": 10, "write70": 9, "think": 18, "random": 24, "endless": 60},
    **a.APPS,
    **a.ENDLESS,
    **a.WAITS,
}
"""Probes of wrais-run, with about their guest seconds on an idle disk."""
SQLITE = {"sqlite-wal": "wal", "sqlite-delete": "delete"}
"""The second application: commits of a real database, and its journal modes."""
PGBENCH = "pgbench"
"""The third: transactions of a server with processes of its own."""
DATABASES = (*SQLITE, PGBENCH)
STARTUPS = ("lprobe", "fsync", "write70", "think", "random", *a.APPS)
"""Probes that end, and so have a start-up time."""

SWITCHED_OFF = ("lprobe", "fsync", "think", "random")
"""Probes that start on an idle disk with everything compiled out as well, and switched on."""

KINDS: dict[str, tuple[str, ...]] = {
    "startup_s": STARTUPS,
    "startup_over_idle": STARTUPS,
    "stalls_over_300ms": tuple(PROBES),
    "max_stall_ms": tuple(PROBES),
    "device_mbps": tuple(PROBES),
    "background_mbps": tuple(PROBES),
    "background_window_mbps": ("endless", *a.ENDLESS),
    "fair_share": ("endless",),
    "unfinished": STARTUPS,
    "sqlite_commit_ms": tuple(SQLITE),
    "pgbench_ms": (PGBENCH,),
    "switched_off_pct": SWITCHED_OFF,
    "switched_on_pct": SWITCHED_OFF,
}
"""Metrics of the experiment and the probes that measure each."""
METRICS = tuple(KINDS)

NR_REQUESTS = 64
"""Depth of the scheduler's own queue; it would follow the disk's otherwise."""
DIRTY_BYTES = 100_000_000
"""vm.dirty_bytes, and half of it in the background: the proportions of a 1 GB phone."""
COMMITS = 300
COMMITS_S = 30
"""Commits of the database in one run, and guest seconds after which it is enough of them."""
COMMIT_MOST_S = 90
"""Guest seconds that the last commit may take, and a server to start and to stop."""

CPU = "max,-erms,-fsrm"
"""Copies in words of 8 bytes: a byte an instruction is a byte a nanosecond."""

LIMIT_S = 40
"""Guest seconds after which a start-up counts as one that never ends."""
PHASE_MS = 500
PHASE_STEP_MS = 370
"""Start of the first repeat after the background is in full swing, and of each next one."""
REPEAT_S = 4
"""About what stands around a probe: sync, caches dropped, the background up and down."""
FILES_S = 30
"""About what it takes to write all files once."""
BUSY = 0.2
"""Guest seconds of CPU that a guest second of such I/O costs, about."""


@dataclass(frozen=True)
class Cell:
    """One row of the experiment: `repeats` starts."""

    variant: Variant
    probe: str
    background: str
    depth: int
    repeats: int
    place: Place = places.FLASH

    @property
    def name(self) -> str:
        """Name of its program; unique within a boot."""
        return f"{self.probe}-{self.background}"

    def argv(self) -> tuple[str, ...]:
        """The command in the guest."""
        readers, writers = BACKGROUNDS[self.background]
        return (
            "wrais-run",
            *("--disk", slowdisk.DEVICE, *self.place.mount(), "--dir", FOLDER),
            *self.variant.options(),
            *self.queue(),
            *("--dirty-bytes", str(DIRTY_BYTES)),
            *("--dirty-background-bytes", str(DIRTY_BYTES // 2)),
            *("-r", str(readers), "-w", str(writers), *a.load(self.probe, writers)),
            *("--repeats", str(self.repeats), "--limit", str(self.limit_s())),
            *("--phase", str(PHASE_MS), "--phase-step", str(PHASE_STEP_MS)),
            *self.application(),
        )

    def queue(self) -> tuple[str, ...]:
        """Depth of the scheduler's queue; without a scheduler there is the disk's alone."""
        has_one = self.variant.sched != v.NONE.sched
        return ("--tune", f"nr_requests={NR_REQUESTS}") if has_one else ()

    def application(self) -> tuple[str, ...]:
        """What is started."""
        if self.probe in KINDS["background_window_mbps"]:
            return ("--probe", self.probe, "--window", str(a.WINDOW_S))
        if self.probe == PGBENCH:
            return ("--", *pgbench.COMMAND)
        if self.probe not in SQLITE:
            return ("--probe", self.probe)
        amount = ("--commits", str(COMMITS), "--seconds", str(COMMITS_S))
        journal = ("--journal", SQLITE[self.probe])
        return ("--", "wrais-sqlite", *journal, *amount, f"{FOLDER}/database")

    def limit_s(self) -> int:
        """Guest seconds after which a probe is ended; none may be ended on an idle disk."""
        if self.probe in DATABASES:
            return COMMITS_S + COMMIT_MOST_S
        return max(LIMIT_S, 2 * PROBES[self.probe])

    def program(self) -> Program:
        """The program that measures it, with the guest seconds of CPU of its longest run."""
        busy_s = BUSY * self.repeats * (self.limit_s() + REPEAT_S) + BUSY * FILES_S
        timeout_s = 30 + round(10 * busy_s)
        return Program(self.name, self.argv(), timeout_s, busy_s=busy_s, what=self)


@dataclass(frozen=True)
class Rows:
    """Every probe under every background, for some variants in one place."""

    variants: tuple[Variant, ...]
    probes: tuple[str, ...]
    backgrounds: tuple[str, ...]
    depth: int
    repeats: int
    place: Place = places.FLASH

    def cells(self) -> Iterator[Cell]:
        for cell in product(self.variants, self.probes, self.backgrounds):
            yield Cell(*cell, self.depth, self.repeats, self.place)


Scope = tuple[Rows, ...]
"""How much is measured."""

IDLE_1R1W = ("idle", "1r1w")
HARD = ("1r1w", "4r4w")


def elsewhere(
    variants: tuple[Variant, ...], backgrounds: tuple[str, ...], repeats: int, *where: Place
) -> Iterator[Rows]:
    """Starts of LProbe in other places."""
    for place in where:
        yield Rows(variants, ("lprobe",), backgrounds, place.depth or DEPTHS[0], repeats, place)


FULL: Scope = (
    Rows((v.BFQ, *v.PEERS, v.WRAIS), ("lprobe",), tuple(BACKGROUNDS), 2, 5),
    Rows((v.BFQ, v.SIMPLE_RT, v.WRAIS), ("lprobe",), tuple(BACKGROUNDS), 8, 5),
    Rows((v.BFQ, v.SIMPLE_RT, v.WRAIS), ("fsync", "write70"), ("idle", *HARD), 2, 5),
    Rows(v.IN_GROUPS, ("lprobe",), LOADED, 2, 5),
    Rows((v.SIMPLE_RT_GROUPED, v.GROUPED, v.MEMBER), ("fsync", "write70"), HARD, 2, 5),
    Rows((v.BFQ, v.SIMPLE_RT, v.WRAIS), ("think", "random"), IDLE_1R1W, 2, 5),
    Rows((v.BFQ, v.SIMPLE_RT, v.WRAIS, v.without("floor")), ("endless",), ("1r1w",), 2, 5),
    Rows((v.BFQ, v.BE0, v.SIMPLE_RT, v.WRAIS), tuple(SQLITE), IDLE_1R1W, 2, 5),
    Rows((v.BFQ, v.SIMPLE_RT, v.WRAIS), (PGBENCH,), IDLE_1R1W, 2, 5, pgbench.PLACE),
    Rows(v.ABLATIONS, ("lprobe", "fsync", "write70"), ("4r4w",), 2, 5),
    Rows(v.ABLATIONS, ("lprobe",), ("1r1w",), 2, 5),
    Rows((v.PLAIN, v.ON), SWITCHED_OFF, ("idle",), 2, 5),
    Rows((v.ON,), ("think", "random"), ("1r1w",), 2, 5),
    Rows((v.BFQ,), tuple(a.APPS), IDLE_1R1W, 2, 5),
    Rows((v.WRAIS, v.SIMPLE_RT), tuple(a.APPS), HARD, 2, 5),
    Rows((v.WRAIS, v.SIMPLE_RT), ("endless-random",), ("1r1w",), 2, 5),
    Rows((v.WRAIS, v.SIMPLE_RT), ("endless-write", "endless-fsync"), ("1r",), 2, 5),
    Rows(a.PAIRS, ("endless",), (a.FAIR_LOAD,), 2, 5),
    Rows((v.BFQ, *a.BESIDE_ANY), tuple(a.WAITS), ("1r1w",), 2, 5),
    *elsewhere((v.BFQ,), IDLE_1R1W, 5, *places.OTHERS),
    *elsewhere((v.SIMPLE_RT, v.WRAIS), ("idle",), 5, *places.OTHERS),
    *elsewhere((v.without("copy_out"),), HARD, 5, *places.CARRIERS),
    *elsewhere((v.SIMPLE_RT, v.WRAIS, v.MEMBER), LOADED, 5, *places.OTHERS),
)

QUICK: Scope = (
    Rows((v.BFQ,), ("lprobe",), tuple(BACKGROUNDS)[:4], 2, 3),
    Rows((v.SIMPLE_RT,), ("lprobe", "fsync", "write70"), ("1r1w",), 2, 3),
    Rows((v.BE0, v.RT0, v.DEADLINE, v.KYBER, v.NONE), ("lprobe",), ("1r1w",), 2, 1),
    Rows(v.ABLATIONS, ("lprobe", "fsync", "write70"), ("4r4w",), 2, 1),
    Rows((v.WRAIS,), ("lprobe",), LOADED, 2, 3),
    Rows((v.BFQ,), ("lprobe",), ("idle",), 8, 1),
    Rows((v.WRAIS,), ("lprobe",), LOADED, 8, 3),
    Rows((v.BFQ,), ("fsync", "write70"), IDLE_1R1W, 2, 1),
    Rows((v.WRAIS,), ("fsync", "write70"), HARD, 2, 3),
    Rows((v.GROUPED, v.MEMBER), ("lprobe",), HARD, 2, 3),
    Rows((v.MEMBER,), ("fsync", "write70"), HARD, 2, 3),
    Rows((v.BFQ, v.WRAIS), ("think", "random"), ("1r1w",), 2, 1),
    Rows((v.BFQ,), ("think", "random"), ("idle",), 2, 1),
    Rows((v.ON,), SWITCHED_OFF, ("idle",), 2, 1),
    Rows((v.ON,), ("think", "random"), ("1r1w",), 2, 1),
    Rows((v.WRAIS, v.without("floor")), ("endless",), ("1r1w",), 2, 1),
    Rows((v.BFQ, v.WRAIS), tuple(SQLITE), ("1r1w",), 2, 2),
    Rows((v.BFQ,), (*SQLITE,), ("idle",), 2, 1),
    Rows((v.BFQ,), (PGBENCH,), ("idle",), 2, 1, pgbench.PLACE),
    Rows((v.WRAIS,), (PGBENCH,), ("1r1w",), 2, 3, pgbench.PLACE),
    Rows((v.BFQ,), tuple(a.APPS), ("idle",), 2, 1),
    Rows((v.WRAIS,), tuple(a.APPS), ("1r1w",), 2, 1),
    Rows((v.WRAIS,), ("endless-random",), ("1r1w",), 2, 1),
    Rows((v.WRAIS,), ("endless-write", "endless-fsync"), ("1r",), 2, 1),
    Rows((a.PAIR,), ("endless",), (a.FAIR_LOAD,), 2, 1),
    Rows((v.BFQ, a.BESIDE), tuple(a.WAITS), ("1r1w",), 2, 1),
    *elsewhere((v.BFQ,), ("idle",), 1, *places.DISKS, *places.CARRIERS, places.XFS),
    *elsewhere((v.WRAIS,), ("idle", *HARD), 1, *places.DISKS),
    *elsewhere((v.WRAIS,), ("1r1w",), 1, *places.CARRIERS, places.XFS),
)
"""Every goal but that of what is compiled out, in fewer starts."""

DEMO: Scope = (Rows((v.BFQ, v.WRAIS), ("lprobe",), ("idle", "1r", "1r1w"), 2, 1),)


def cells(scope: Scope, only: str | None = None) -> list[Cell]:
    """The cells of a scope; with `only`, those that the metric needs, idle reference included."""
    wanted = {*PROBES, *DATABASES} if only is None else set(KINDS[only])
    return [cell for rows in scope for cell in rows.cells() if cell.probe in wanted]


def boot(group: Sequence[Cell], seed: int = 1) -> Boot:
    """A guest for cells of one variant, probe and depth in one place."""
    first = group[0]
    machine = Machine(
        kernel=first.variant.kernel,
        mem_mb=first.place.mem_mb,
        accel="icount",
        append=first.place.words(first.depth),
        root=False,
        modules=first.place.modules,
        seed=seed,
        cpu=CPU,
    )
    programs = (*first.place.programs(), *(cell.program() for cell in group))
    where = f"depth{first.depth}" if first.place == places.FLASH else first.place.name
    name = f"{first.variant.name}-{a.group(first.probe)}-{where}"
    return Boot(name, machine, programs, disk=first.place.disk, defer=True)


def group_of(cell: Cell) -> tuple[str, str, int, str]:
    """Cells for which this is the same share a boot."""
    return (cell.variant.name, a.group(cell.probe), cell.depth, cell.place.name)


def boots(scope: Scope, only: str | None = None) -> list[Boot]:
    """The boots of a scope."""
    groups: dict[tuple[str, str, int, str], list[Cell]] = {}
    for cell in cells(scope, only):
        groups.setdefault(group_of(cell), []).append(cell)
    return [boot(group) for group in groups.values()]

# SPDX-License-Identifier: GPL-2.0
"""Nothing that was synced is lost in a crash, with privileged and other writers mixed."""

import os
import shutil
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from lab.guest.boot import Boot, Program
from lab.guest.console import Kind
from lab.guest.ext4 import Ext4
from lab.guest.machine import Machine
from lab.guest.result import BootResult
from lab.guest.vm import run_boot
from lab.paths import Paths
from lab.suite import kernel_variant, machine_for, scenario, tier
from subjects.wrais import crash, promise
from subjects.wrais.e2fs import E2fs
from subjects.wrais.promise import TAIL, Problem
from subjects.wrais.xfs import Xfs

FS_MB = 63
WRITERS = 6
# A shortened run, of a kernel that checks itself, is for the guest that writes: it looks at few
# layouts and few states of them.
SHORT = bool(os.environ.get("LAB_SHORT"))
# States of a layout if LAB_CRASH_STATES does not ask for more, and of a shortened run.
STATES = 60
STATES_SHORT = 12
# What the guest's kernel replays takes ten times as long, fast commits twenty times.
STATES_XFS = 52
STATES_FAST = 36
STATES_SHORT_BY_KERNEL = 8
SHARE_BY_KERNEL = 20
# What gates a change is one layout of each journal; the others take as long again.
EVERY = tier(os.environ) == "long"
# It is written until there are so many flushes for each point that is looked at, or for many
# of them; two of three have several losses.
FLUSHES = 12
FLUSHES_OF_MANY = 3
FLUSHES_MIN = 60
# Losses that are checked behind a flush, besides that of all.
LOSSES = 3
# Fast commits that are written at least: these fill their area, 15 blocks, about ten times.
FAST_COMMITS = 1 if SHORT else 150
# Many transactions have to be committed in full where writers do what a fast commit lacks.
FAST_MIXED = 1 if SHORT else 40
# First fast commits of a transaction that are torn.
TORN = 4
# States that one guest replays: each is a disk, and has two of the CPU's 200 or so interrupts.
DISKS = 88


@dataclass(frozen=True)
class Layout:
    """A file system, how it is mounted, and what of privileged I/O acts in it."""

    name: str
    fs: E2fs | Xfs
    options: str = "rw"
    acts: tuple[str, ...] = ("copy_outs", "tag_exemptions", "inherits")
    cpus: int = 4
    states: int = STATES
    more: str = ""
    """Options of the writers."""

    @property
    def points(self) -> int:
        """How many flushes are looked at."""
        states = self.states
        if SHORT:
            states = STATES_SHORT if self in LAYOUTS else STATES_SHORT_BY_KERNEL
        if asked_for():
            states = asked_for() // (1 if self in LAYOUTS else SHARE_BY_KERNEL)
        return states // (1 + LOSSES)

    @property
    def flushes(self) -> int:
        """How many flushes are written."""
        return max(FLUSHES_MIN, self.points * (FLUSHES_OF_MANY if asked_for() else FLUSHES))

    @property
    def fast(self) -> bool:
        """It has fast commits."""
        return isinstance(self.fs, E2fs) and "fast_commit" in self.fs.fs.features


LAYOUTS = (
    Layout("ordered", E2fs(Ext4(FS_MB, journal_mb=4)), "data=ordered", cpus=1),
    Layout("journal", E2fs(Ext4(FS_MB, journal_mb=8)), "data=journal"),
    Layout("1k", E2fs(Ext4(FS_MB, block=1024, journal_mb=4)), "data=ordered"),
)
# A task that waits for a fast commit does not wait for the journal's thread: few inherit.
FAST = E2fs(Ext4(FS_MB, journal_mb=8, features=("fast_commit",)), by_kernel=True)
FAST_COMMIT = Layout(
    "fast-commit",
    FAST,
    # A commit because time has passed would begin their area anew before it is full.
    "data=ordered,commit=300",
    ("copy_outs", "tag_exemptions"),
    cpus=1,
    states=STATES_FAST,
)
MIXED = replace(FAST_COMMIT, name="fast-commit-mixed", acts=(), more="--mixed", states=84)
XFS = Layout("xfs", Xfs(FS_MB, log_mb=6), acts=("tag_exemptions",), states=STATES_XFS)


def machine(devices: tuple[str, ...], cpus: int = 1) -> Machine:
    """A machine with some disks."""
    base = machine_for(kernel_variant(os.environ), Machine(cpus=cpus))
    return replace(base, devices=devices)


def logged_disk(image: Path, log: Path) -> tuple[str, ...]:
    """A disk whose writes are written down."""
    nodes = (
        f"driver=file,node-name=crash-file,filename={image}",
        f"driver=file,node-name=crash-log,filename={log}",
        "driver=blklogwrites,node-name=crash,file=crash-file,log=crash-log,log-sector-size=512",
    )
    devices = tuple(word for node in nodes for word in ("-blockdev", node))
    return (*devices, "-device", "virtio-blk-pci,drive=crash")


def named_disk(number: int, image: Path) -> tuple[str, ...]:
    """A disk with the name of its file, eight to a slot."""
    name = image.name
    where = f"addr={16 + number // 8:x}.{number % 8:x},multifunction=on"
    return (
        *("-drive", f"if=none,format=raw,cache=unsafe,id={name},file={image}"),
        *("-device", f"virtio-blk-pci,drive={name},serial={name},{where}"),
    )


def booted(
    paths: Paths, guest: Machine, name: str, program: Program, modules: tuple[str, ...]
) -> BootResult:
    """Boot for one program behind some modules, which must end well."""
    logs = paths.logs / kernel_variant(os.environ) / name
    loads = (Program(f"load-{module}", ("@insmod", module)) for module in modules)
    boot = Boot(name, replace(guest, modules=modules), (*loads, program))
    run = run_boot(paths, boot, logs, lost_s=2 * program.timeout_s)
    assert run.ok, f"{run.console}: {run.problems()}"
    return run


def written(paths: Paths, layout: Layout, where: Path, parts: str = "on") -> crash.Replay:
    """Boot, write, and have the disk as it was before with the log of what was done to it."""
    disk, log = where / "disk", where / "log"
    layout.fs.make(disk)
    os.truncate(disk, layout.fs.size + TAIL)
    image = where / "image"
    shutil.copyfile(disk, image)
    log.touch()
    size = (str(layout.fs.size // 512), str(TAIL // 512))
    acts = layout.acts if parts == "on" else ()
    fast = (FAST_MIXED if layout.more else FAST_COMMITS) if layout.fast else 0
    amount = (str(WRITERS), layout.more, str(layout.flushes), str(fast))
    words = (parts, layout.fs.type, layout.options, *size, *amount, *acts)
    program = scenario("wrais/crash-write", *words)
    guest = machine(logged_disk(disk, log), layout.cpus)
    run = booted(paths, guest, f"crash-{layout.name}", program, layout.fs.modules)
    # Among what is printed are lines "name number", as wrais stat has them.
    pairs = [line.split() for line in run.lines(program)]
    counted = {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdigit()}
    assert {name for name in layout.acts if counted[name]} == set(acts), counted
    there = counted.get("fast_commits", 0)
    assert there >= fast if layout.fast else not there, counted
    return crash.Replay(log, crash.read_log(log), image, layout.fs.border(image))


def asked_for() -> int:
    """How many states of a layout to check, as the user asked; 0: as many as usual."""
    return int(os.environ.get("LAB_CRASH_STATES") or 0)


def points(replay: crash.Replay, layout: Layout) -> list[int]:
    """Flushes behind each of which there are several states, for as many as are wanted."""
    several = [
        point
        for point in crash.flush_points(replay.writes)
        if len(replay.seeds(point, LOSSES)) == LOSSES
    ]
    found = crash.spread(several, layout.points)
    assert len(found) == layout.points, f"only {len(found)} flushes with several losses"
    return found


def losses(replay: crash.Replay) -> tuple[int | None, ...]:
    """The states behind a flush: nothing of what follows, and random parts of it."""
    return (None, *replay.seeds(replay.done, LOSSES))


def place(replay: crash.Replay, seed: int | None) -> str:
    """How to come to a state again."""
    return f"{replay.log}: entry {replay.done} of {len(replay.writes)}, seed {seed}"


LOOKED_AT = LAYOUTS[: None if EVERY and not SHORT else 2 if EVERY else 1]


@pytest.mark.parametrize("layout", LOOKED_AT, ids=lambda one: one.name)
def test_crash(lab_paths: Paths, layout: Layout, tmp_path: Path) -> None:
    """At flushes and with random losses behind them: e2fsck is content, promises are kept."""
    replay = written(lab_paths, layout, tmp_path)
    fs = layout.fs
    assert isinstance(fs, E2fs)

    def look(seed: int | None) -> list[Problem]:
        state = tmp_path / f"state{seed}"
        replay.crashed(state, seed)
        found = fs.recover(state) or promise.problems(fs, state)
        state.unlink()
        return found

    promised = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for point in points(replay, layout):
            replay.forward(point)
            seeds = losses(replay)
            for seed, found in zip(seeds, pool.map(look, seeds), strict=True):
                assert not found, f"{place(replay, seed)}: {(*map(str, found),)}"
            promised = sum(promise.promises(replay.image).values())
    assert promised > WRITERS

    # What the test is worth: promises without the data behind them are seen.
    state = tmp_path / "state"
    fs.make(state)
    with state.open("r+b") as disk, replay.image.open("rb") as full:
        full.seek(-TAIL, os.SEEK_END)
        disk.truncate(fs.size + TAIL)
        disk.seek(-TAIL, os.SEEK_END)
        disk.write(full.read())
    missing = promise.problems(fs, state)
    assert {problem.kind for problem in missing} == {promise.Kind.LOST}


def replayed(paths: Paths, layout: Layout, states: Sequence[Path]) -> int:
    """Let a guest's kernel replay them, each of which it must be able to mount.

    Returns of how many it says that it has ignored a fast commit.
    """
    disks = [word for n, state in enumerate(states) for word in named_disk(n, state)]
    replays = scenario("wrais/crash-replay", layout.fs.type)
    replays = replace(replays, provokes=(Kind.JBD2, Kind.EXT4))
    guest = machine(tuple(disks))
    run = booted(paths, guest, f"crash-{layout.name}-replay", replays, layout.fs.modules)
    assert sorted(run.lines(replays)) == sorted(f"replayed {state.name}" for state in states)
    return run.console.read_text(errors="replace").count("ignored incomplete fast commit")


def hold_by_kernel(
    paths: Paths, layout: Layout, replay: crash.Replay, at: list[int], torn: int | None = None
) -> None:
    """The guest's kernel replays the states at those points, many in one boot; they hold.

    torn: also those in which what is written there next is torn, and all there is.
    """
    states: dict[Path, str] = {}
    ignored = 0
    for point in at:
        replay.forward(point)
        for number, seed in enumerate(losses(replay)):
            state = replay.log.with_name(f"state{point}-{number}")
            replay.crashed(state, seed)
            states[state] = place(replay, seed)
        state = replay.log.with_name(f"state{point}-torn")
        if torn is not None and replay.torn_at(state, torn):
            states[state] = f"{place(replay, None)}, torn at {torn}"
        if len(states) + 2 + LOSSES > DISKS or point == at[-1]:
            ignored += replayed(paths, layout, list(states))
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                looks = pool.map(lambda state: promise.problems(layout.fs, state), states)
                for (state, at_place), found in zip(states.items(), looks, strict=True):
                    assert not found, f"{at_place}: {(*map(str, found),)}"
                    state.unlink()
            states.clear()
    assert sum(promise.promises(replay.image).values()) > WRITERS
    assert ignored or torn is None or SHORT


@pytest.mark.parametrize("parts", ["on", "off"] if EVERY and not SHORT else ["on"])
def test_fast_commit(lab_paths: Paths, parts: str, tmp_path: Path) -> None:
    """Fast commits hold as well. The guest's kernel replays them: e2fsck 1.47 cannot."""
    replay = written(lab_paths, FAST_COMMIT, tmp_path, parts)
    late = FAST.late_blocks(replay.log, replay.writes, replay.image)
    assert not late, f"{replay.log}: entries {late} are tails before their other blocks"
    # Their area is replayed where it is full, and where a transaction's first one is torn.
    start, end = FAST.fast_area(replay.image)
    full = crash.spread(crash.flushed_at(replay.writes, end), 0 if SHORT else 2)
    first = crash.spread(crash.followed_at(replay.writes, start), 1 if SHORT else TORN)
    assert full or SHORT, "fast commits have never filled their area"
    at = sorted({*points(replay, FAST_COMMIT), *full, *first})
    hold_by_kernel(lab_paths, FAST_COMMIT, replay, at, start)


if EVERY:

    def test_fast_commit_mixed(lab_paths: Paths, tmp_path: Path) -> None:
        """They hold beside what they do not support, and name a file that had no name."""
        replay = written(lab_paths, MIXED, tmp_path)
        hold_by_kernel(lab_paths, MIXED, replay, points(replay, MIXED))

    def test_xfs(lab_paths: Paths, tmp_path: Path) -> None:
        """XFS holds as well: mounted, xfs_repair is content, promises are kept."""
        replay = written(lab_paths, XFS, tmp_path)
        hold_by_kernel(lab_paths, XFS, replay, points(replay, XFS))

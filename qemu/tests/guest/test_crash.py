# SPDX-License-Identifier: GPL-2.0
"""Nothing that was synced is lost in a crash, with privileged and other writers mixed."""

import os
import random
import shutil
from dataclasses import dataclass, replace
from itertools import chain, cycle
from pathlib import Path
from string import ascii_lowercase

import pytest

from lab.guest import ext4
from lab.guest.boot import Boot, Program
from lab.guest.console import Kind
from lab.guest.ext4 import Ext4
from lab.guest.machine import Machine
from lab.guest.result import BootResult
from lab.guest.vm import run_boot
from lab.paths import Paths
from lab.subjects.wrais import crash
from lab.suite import kernel_variant, machine_for, scenario

FS_MB = 63
SECONDS = 4
WRITERS = 6
# States of each layout, and of a shortened run; LAB_CRASH_STATES asks for more.
STATES = 68
STATES_SHORT = 10
# Fast commits that a run has at least.
FAST_COMMITS = 10


@dataclass(frozen=True)
class Layout:
    """A file system, how it is mounted, and what of privileged I/O acts in it."""

    name: str
    fs: Ext4
    options: str
    acts: tuple[str, ...] = ("copy_outs", "tag_exemptions", "inherits")


LAYOUTS = (
    Layout("ordered", Ext4(FS_MB, journal_mb=4), "data=ordered"),
    Layout("journal", Ext4(FS_MB, journal_mb=8), "data=journal"),
    Layout("1k", Ext4(FS_MB, block=1024, journal_mb=4), "data=ordered"),
)
# Who waits for a fast commit does not wait for the journal's thread: few inherit.
FAST_COMMIT = Layout(
    "fast-commit",
    Ext4(FS_MB, journal_mb=8, features=("fast_commit",)),
    "data=ordered",
    ("copy_outs", "tag_exemptions"),
)
# States that one guest replays: each is a disk.
DISKS = 17


def machine(devices: tuple[str, ...]) -> Machine:
    """One CPU and some disks."""
    base = machine_for(kernel_variant(os.environ), Machine(cpus=1))
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


def booted(paths: Paths, guest: Machine, name: str, program: Program) -> BootResult:
    """Boot for one program, which must end well."""
    logs = paths.logs / kernel_variant(os.environ) / name
    run = run_boot(paths, Boot(name, guest, (program,)), logs, lost_s=2 * program.timeout_s)
    assert run.ok, f"{run.console}: {run.problems()}"
    return run


def counters(run: BootResult, program: Program) -> dict[str, int]:
    """The lines "name number" that a program printed, as wrais stat does."""
    words = [line.split() for line in run.lines(program)]
    return {pair[0]: int(pair[1]) for pair in words if len(pair) == 2 and pair[1].isdigit()}


def written(paths: Paths, layout: Layout, where: Path, parts: str = "on") -> crash.Replay:
    """Boot, write, and have the disk as it was before with the log of what was done to it."""
    image, log = where / "disk", where / "log"
    ext4.make(layout.fs, image)
    with image.open("r+b") as disk:
        disk.truncate((FS_MB << 20) + crash.TAIL)
    before = where / "before"
    shutil.copyfile(image, before)
    log.touch()
    sectors = (str(FS_MB << 11), str(crash.TAIL // 512))
    amount = (str(WRITERS), str(SECONDS))
    program = scenario("wrais/crash-write", parts, layout.options, *sectors, *amount)
    guest = machine(logged_disk(image, log))
    counted = counters(booted(paths, guest, f"crash-{layout.name}", program), program)
    acted = {name for name in layout.acts if counted[name]}
    assert acted == (set(layout.acts) if parts == "on" else set()), counted
    fast = "fast_commit" in layout.fs.features
    least = 1 if os.environ.get("LAB_SHORT") else FAST_COMMITS
    assert counted["fast_commits"] >= least if fast else not counted["fast_commits"], counted
    return crash.Replay(log, crash.read_log(log), before)


def states_wanted() -> int:
    """How many states of a layout are looked at."""
    usual = STATES_SHORT if os.environ.get("LAB_SHORT") else STATES
    return int(os.environ.get("LAB_CRASH_STATES") or usual)


def flushes(replay: crash.Replay, count: int) -> list[int]:
    """So many points at which all that came before is on the disk."""
    points = crash.spread(crash.flush_points(replay.writes), count)
    assert len(points) == count, f"only {len(points)} flushes"
    return points


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
def test_crash(lab_paths: Paths, layout: Layout, tmp_path: Path) -> None:
    """At flushes and with random losses behind them: e2fsck is content, promises are kept."""
    replay = written(lab_paths, layout, tmp_path)
    lose = random.Random(1)
    state = tmp_path / "state"
    promised = 0
    for point in flushes(replay, states_wanted() // 2):
        replay.forward(point)
        for source in (None, lose):
            replay.crashed(state, source)
            found = crash.recover(state) or crash.problems(state, tmp_path / "file")
            assert not found, f"entry {point} of {len(replay.writes)}: {(*map(str, found),)}"
        promised = sum(crash.promises(state).values())
    assert promised > WRITERS

    # What the test is worth: promises without the data behind them are seen.
    ext4.make(layout.fs, state)
    with state.open("r+b") as disk, replay.image.open("rb") as full:
        full.seek(-crash.TAIL, os.SEEK_END)
        disk.truncate((FS_MB << 20) + crash.TAIL)
        disk.seek(-crash.TAIL, os.SEEK_END)
        disk.write(full.read())
    missing = crash.problems(state, tmp_path / "file")
    assert {problem.kind for problem in missing} == {crash.Kind.LOST}


def replayed(paths: Paths, states: list[Path]) -> list[str]:
    """Let a guest's kernel replay them; what it says of each."""
    drive = "if=none,format=raw,cache=unsafe"
    drives = (("-drive", f"{drive},id={state.name},file={state}") for state in states)
    devices = (("-device", f"virtio-blk-pci,drive={state.name}") for state in states)
    guest = machine(tuple(chain(*drives, *devices)))
    replays = replace(scenario("wrais/crash-replay"), provokes=(Kind.JBD2, Kind.EXT4))
    return booted(paths, guest, "crash-fast-commit-replay", replays).lines(replays)


@pytest.mark.parametrize("parts", ["on", "off"])
def test_fast_commit(lab_paths: Paths, parts: str, tmp_path: Path) -> None:
    """Fast commits hold as well. The guest's kernel replays them: e2fsck 1.47 cannot."""
    replay = written(lab_paths, FAST_COMMIT, tmp_path, parts)
    # The end of the journal is that of the area of fast commits: full ones are replayed, too.
    end = crash.journal_end(replay.image, FAST_COMMIT.fs.block)
    full = crash.spread(crash.flushed_at(replay.writes, end), 2)
    assert full or os.environ.get("LAB_SHORT"), "fast commits have never filled their area"
    points = sorted({*flushes(replay, states_wanted() // 2 - len(full)), *full})
    # Random losses behind every other flush.
    sources = cycle((None, random.Random(1)))
    promised = 0
    for start in range(0, len(points), DISKS):
        some = {point: tmp_path / f"state{point}" for point in points[start : start + DISKS]}
        for point, state in some.items():
            replay.forward(point)
            replay.crashed(state, next(sources))
        said = replayed(lab_paths, list(some.values()))
        assert said == [f"replayed vd{letter}" for letter in ascii_lowercase[1 : len(some) + 1]]
        for point, state in some.items():
            found = crash.problems(state, tmp_path / "file")
            assert not found, f"entry {point} of {len(replay.writes)}: {(*map(str, found),)}"
            promised = sum(crash.promises(state).values())
            state.unlink()
    assert promised > WRITERS

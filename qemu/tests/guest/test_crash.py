# SPDX-License-Identifier: GPL-2.0
"""Nothing that was synced is lost in a crash, with privileged and other writers mixed."""

import os
import random
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from lab import crash, ext4
from lab.ext4 import Ext4
from lab.ktap import Status
from lab.machine import Machine
from lab.paths import Paths
from lab.plan import Plan, PlanEntry
from lab.suites import kernel_variant, machine_for
from lab.vm import run_plan

FS_MB = 63
SECONDS = 4
WRITERS = 6
TIMEOUT_S = 240
# States of each layout, and of a shortened run; LAB_CRASH_STATES asks for more.
STATES = 68
STATES_SHORT = 10


@dataclass(frozen=True)
class Layout:
    """A file system and how it is mounted."""

    name: str
    fs: Ext4
    options: str


LAYOUTS = (
    Layout("ordered", Ext4(FS_MB, journal_mb=4), "data=ordered"),
    Layout("journal", Ext4(FS_MB, journal_mb=8), "data=journal"),
    Layout("1k", Ext4(FS_MB, block=1024, journal_mb=4), "data=ordered"),
)


BREAK = "/proc/sys/kernel/wrais/test_break_copy_out"


def script(options: str, broken: bool) -> str:
    """The guest's part: everything on, a mount, the writers."""
    return (
        f"wrais on && wrais on join flusher && echo {int(broken)} >{BREAK} && "
        "echo bfq >/sys/block/vdb/queue/scheduler && mkdir -p /m && "
        f"busybox mount -t ext4 -o {options} /dev/vdb /m && "
        f"wrais-crash --dir /m --disk /dev/vdb --writers {WRITERS} --seconds {SECONDS} && "
        "cat /proc/wrais && busybox umount /m"
    )


def machine(image: Path, log: Path) -> Machine:
    """A disk whose writes are written down."""
    base = machine_for(kernel_variant(os.environ), Machine(cpus=1))
    nodes = (
        f"driver=file,node-name=crash-file,filename={image}",
        f"driver=file,node-name=crash-log,filename={log}",
        "driver=blklogwrites,node-name=crash,file=crash-file,log=crash-log,log-sector-size=512",
    )
    devices = tuple(word for node in nodes for word in ("-blockdev", node))
    return Machine(
        kernel=base.kernel,
        mem_mb=base.mem_mb,
        # Promises are written behind the file system while it is mounted.
        append=("bdev_allow_write_mounted=1",),
        devices=(*devices, "-device", "virtio-blk-pci,drive=crash"),
    )


def written(paths: Paths, layout: Layout, where: Path, broken: bool = False) -> crash.Replay:
    """Boot, write, and have the disk as it was before with the log of what was done to it.

    broken: with a journal whose copies a replay cannot use.
    """
    image, log = where / "disk", where / "log"
    ext4.make(layout.fs, image)
    with image.open("r+b") as disk:
        disk.truncate((FS_MB << 20) + crash.TAIL)
    before = where / "before"
    shutil.copyfile(image, before)
    log.touch()
    entry = PlanEntry("crash", ("sh", "-c", script(layout.options, broken)), TIMEOUT_S)
    name = f"crash-{layout.name}{'-broken' if broken else ''}"
    logs = paths.logs / kernel_variant(os.environ) / name
    run = run_plan(paths, machine(image, log), Plan((entry,)), 2 * TIMEOUT_S, logs)
    assert run.ok, f"{run.console}: {run.errors} {run.splats}"
    result = run.entry("crash")
    assert result.status is Status.OK
    copies = [line for line in result.output if "copy_outs" in line]
    assert copies and copies[0].split()[-1] != "0", f"{logs}: {copies}"
    return crash.Replay(log, crash.read_log(log), before)


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
def test_crash(lab_paths: Paths, layout: Layout, tmp_path: Path) -> None:
    """At flushes and with random losses behind them: e2fsck is content, promises are kept."""
    replay = written(lab_paths, layout, tmp_path)
    usual = STATES_SHORT if os.environ.get("LAB_SHORT") else STATES
    wanted = int(os.environ.get("LAB_CRASH_STATES") or usual)
    points = crash.spread(crash.flush_points(replay.writes), wanted // 2)
    assert len(points) == wanted // 2, f"only {len(points)} flushes"
    lose = random.Random(1)
    state = tmp_path / "state"
    promised = 0
    for point in points:
        replay.forward(point)
        for source in (None, lose):
            replay.crashed(state, source)
            found = crash.recover(state) or crash.problems(state, tmp_path / "file")
            assert not found, f"{layout.name}, entry {point} of {len(replay.writes)}: {found}"
        promised = sum(crash.promises(state).values())
    assert promised > WRITERS

    # What the test is worth: promises without the data behind them are seen.
    ext4.make(layout.fs, state)
    with state.open("r+b") as disk, replay.image.open("rb") as full:
        full.seek(-crash.TAIL, os.SEEK_END)
        disk.truncate((FS_MB << 20) + crash.TAIL)
        disk.seek(-crash.TAIL, os.SEEK_END)
        disk.write(full.read())
    assert crash.problems(state, tmp_path / "file")


def test_broken_copies_are_caught(lab_paths: Paths, tmp_path: Path) -> None:
    """The test above would notice a mistake in the copies that the journal writes."""
    replay = written(lab_paths, LAYOUTS[0], tmp_path, broken=True)
    state = tmp_path / "state"
    for point in crash.spread(crash.flush_points(replay.writes), STATES // 2):
        replay.forward(point)
        replay.crashed(state, None)
        if crash.recover(state) or crash.problems(state, tmp_path / "file"):
            return
    pytest.fail("every state of a broken journal holds")

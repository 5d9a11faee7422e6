# SPDX-License-Identifier: GPL-2.0
"""A privileged task that writes without end is bounded, in memory and in what it takes."""

from __future__ import annotations

import mmap
from collections.abc import Callable
from functools import partial

from inside import calls, cgroup, wrais
from inside.ktap import Case
from inside.task import released, wait_until
from inside.wrais_disk import MIB, VMSTAT, Disk, limit_dirty, set_vm
from inside.wrais_tasks import Crew, Use, Words, privileged

DISK_MIB = 128
SLOW_MBPS, DISK_MBPS = 1, 15
"""Slower than a guest writes: it has to fall behind."""
DIRTY_BYTES, BRIEF_DIRTY = 16 * MIB, 4 * MIB
"""With the headroom less than a writer keeps, which would wait for its own pages."""
HEADROOM_PCT = 25
SLACK_BYTES = MIB // 2
"""A writer looks at the limits every few pages; the kernel's counters are per CPU."""
NAPS, BRIEF_NAPS = 20, 5
"""The headroom is used up so often while the privileged are watched."""
STOCK_BYTES, UNBOUND_BYTES = 20 * MIB, 48 * MIB
"""What they write where there is no headroom, or no limit to reach."""
STRICT_PCT, STRICT_BYTES = 10, 6 * MIB
"""The part of a domain that a device with a limit of its own may use."""
FSYNC_WINDOW_MS, FSYNCS = 10000, 3
"""The others' floor is reckoned over a window: an fsync ends in two of them."""
LOOK_S = 0.02
MOST_MEMORY = 256 * MIB
DIRTY_RATIO = 80
GROUP_BYTES, GROUP_ALLOCATES = 32 * MIB, 12 * MIB
GROUP_MBPS, GROUP_RATIO = 60, 40
"""The kernel counts what a group has dirty every 2 s: meanwhile all of it may be, without us
as well, and its memory has to be had in 17 attempts to reclaim some. A slow disk is too slow
for that.
"""
_POPULATE_WRITE = 23


class Peak:
    """The most that has been dirty."""

    def __init__(self, dirty: Callable[[], int], most: int = 0) -> None:
        self._dirty = dirty
        self.most = most
        """Beyond that it is over; 0: never."""
        self.found = 0

    def watch(self, crew: Crew, size: int, naps: int = 0) -> None:
        """Until they have written so much, and there were so many naps."""
        came = wait_until(partial(self._has_come, crew, size, naps), longest_s=LOOK_S)
        if not came:
            raise TimeoutError(f"{crew.bytes()} of {size} bytes written, {naps} naps wanted")

    def look(self) -> int:
        """What is dirty now."""
        now = self._dirty()
        self.found = max(self.found, now)
        return now

    def _has_come(self, crew: Crew, size: int, naps: int) -> bool:
        if self.look() > self.most > 0:
            return True
        enough = not naps or wrais.counters()["dirty_naps"] >= naps
        return crew.bytes() >= size and enough

    def judge(self, case: Case, least: int = -1) -> None:
        """It is no more than it may be, and more than the least."""
        case.note(f"at most {self.found} bytes dirty, allowed {self.most}")
        case.expect(self.found <= self.most, f"{self.found} bytes dirty")
        case.expect(self.found > least, f"{self.found} bytes dirty: no headroom")


def dirty_now() -> int:
    """Of one moment: pages go from the one to the other."""
    found = calls.values(VMSTAT)
    return (found["nr_dirty"] + found["nr_writeback"]) * mmap.PAGESIZE


def strict_limit(case: Case) -> None:
    """A device with a limit of its own keeps it under a privileged writer (BDI_CAP_STRICTLIMIT)."""
    peak = Peak(dirty_now, DIRTY_BYTES // 100 * STRICT_PCT + SLACK_BYTES)
    with Disk(DISK_MIB, SLOW_MBPS) as disk:
        limit_dirty(DIRTY_BYTES)
        disk.set("bdi/max_ratio", str(STRICT_PCT))
        disk.set("bdi/strict_limit", "1")
        with Crew(case, (disk,), privileged("write")) as crew:
            peak.watch(crew, STRICT_BYTES)
            crew.stop()
    peak.judge(case)


def stay_below(writers: int, case: Case) -> None:
    """Dirty memory stays below vm.dirty_bytes and the headroom, which all writers use up."""
    limit = BRIEF_DIRTY if Words.brief else DIRTY_BYTES
    peak = Peak(dirty_now, limit + limit // 100 * HEADROOM_PCT + writers * SLACK_BYTES)
    naps = 0
    with Disk(DISK_MIB, SLOW_MBPS) as disk:
        limit_dirty(limit)
        if wrais.on(wrais.MASTER):
            naps = wrais.counters()["dirty_naps"] + (BRIEF_NAPS if Words.brief else NAPS)
        wrais.put("dirty_headroom_pct", HEADROOM_PCT)
        with Crew(case, (disk,), *[privileged("write")] * writers) as crew:
            peak.watch(crew, peak.most if Words.brief else STOCK_BYTES, naps)
            crew.stop()
    peak.judge(case, limit if naps else -1)


def fsync(case: Case) -> None:
    """The others' fsync ends within two of the floor's windows."""
    syncer = 3
    # a privileged fsync would have the commit raised, for all of them
    tasks = (privileged("write"), privileged("write"), privileged("read"), Use("sync"))
    with Disk(DISK_MIB, DISK_MBPS) as disk:
        limit_dirty(BRIEF_DIRTY if Words.brief else DIRTY_BYTES)
        wrais.put("floor_window_ms", FSYNC_WINDOW_MS)
        with Crew(case, (disk,), *tasks) as crew:
            crew.advance(1, 0)
            crew.advance(FSYNCS, syncer)
            crew.expect_longest("fsync", 2 * FSYNC_WINDOW_MS, syncer)
            crew.stop()


def _allocate(size: int, group: str) -> None:
    if group:
        cgroup.move(group, 0)
    memory = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.madvise(_POPULATE_WRITE)


def have_memory(size: int = 0, group: str = "") -> None:
    """A task of the group has it; without a size, half of what is left, up to what is enough."""
    left = calls.values("/proc/meminfo")["MemAvailable"] * 1024 // 2
    released(partial(_allocate, size or min(left, MOST_MEMORY), group))


def leave_memory(case: Case, kills: str, group: str, size: int) -> None:
    """Others can have memory while the privileged of the group write, and none is killed."""
    ratio = GROUP_RATIO if group else DIRTY_RATIO
    before = calls.values(kills)["oom_kill"]
    with Disk(DISK_MIB, GROUP_MBPS if group else DISK_MBPS) as disk:
        set_vm(dirty_ratio=ratio, dirty_background_ratio=ratio // 2)
        wrais.put("dirty_headroom_pct", HEADROOM_PCT)
        with Crew(case, (disk,), *[Use("write", privileged=True, group=group)] * 3) as crew:
            Peak(dirty_now).watch(crew, UNBOUND_BYTES)
            have_memory(size, group)
            crew.advance(1)
            crew.stop()
    case.equal(calls.values(kills)["oom_kill"], before, "killed for memory")


def memory(case: Case) -> None:
    """Of the whole machine, which it can take along."""
    leave_memory(case, VMSTAT, "", 0)


def memory_cgroup(case: Case) -> None:
    """Of a group with a limit."""
    with cgroup.controlled("memory", "io") as there:
        if not there:
            case.skip("no cgroup v2 with memory and I/O controllers")
            return
        with cgroup.made("wrais-safety") as group:
            calls.write(f"{group}/memory.max", str(GROUP_BYTES))
            leave_memory(case, f"{group}/memory.events", group, GROUP_ALLOCATES)

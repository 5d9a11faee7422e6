# SPDX-License-Identifier: GPL-2.0
"""What a privileged task does on a disk, and waits for, is between the users of that disk.

A request is as privileged as the task that waits for it, whichever task brings it to the disk.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial

from inside import calls, cgroup, wrais
from inside.ktap import Case
from inside.task import released
from inside.wrais_disk import MIB, Disk, limit_dirty
from inside.wrais_tasks import Crew, Use, Words, privileged

DISK_MIB = 128
DISK_MBPS, SLOW_MBPS = 30, 1
DIRTY_BYTES = 8 * MIB
FLOOR_WINDOW_MS = 2000
"""The others are owed something soon."""
OTHERS_PERMILLE = 35
"""The others have 5 % of what the device does, in which requests have a price, too."""
LOOP_PERCENT = 1000
"""What a privileged task has, of what a loop device has, at least [percent]: 1,770."""
COMMIT_MAX_MS = 350
LOOK_MAX_MS = 1000
LATE_MBPS, LATE_READERS, LATE_PERCENT = 4, 8, 8
"""What tasks have whose reads are all late, at most [percent]: 4, or 18 if not counted."""
PAIR_PERCENT = 78
"""What a reader has of what it has alone while a task syncs [percent]: 91, or 68 if not."""
OVER_NAPS_MAX = 10
"""A task with more than its share of what is dirty does not nap, to be the first when there is
room: there are none, or 900 if it does.
"""
LOG_PERCENT, LOG_S = 200, 1
"""A page of a log by AIO, of what it takes alone, at most [percent]: 104, in a second."""
METADATA_SYNCS, ENTRY_SYNCS = 20, 100
"""In 5 s: 84 to 237, or 1, or 6, if it waits until the reader thinks; 301, or 37, of new files."""
LOCKED_MAX_MS, LOCKED_PERCENT = 2000, 76
"""289 to 841, or more than 4000; and a reader has of what a writer has, at least [percent]: 84, or
49 to 67 if writeback may take all tags.
"""
TAG_WATCHES = 3
PACKAGE_FILES, PACKAGE_BYTES = 20, 6000
PACKAGES, PACKAGE_PHASE_S = 5, 0.37
PAUSES = ("think_turns", "late_turns")
PACKAGE_PERCENT, PACKAGE_MAX_MS = 120, 400
"""Half of the files take no more of what they take alone [percent]: 102, or 198 to 289 if not."""
GROUP_WATCH_S = 3
TIMES = 20
"""What a privileged task has, of what both others have, at least: 38 to 54."""


@contextmanager
def disks(
    mbps: int = DISK_MBPS, second: int = 0, depth: int = 2, **numbers: int
) -> Iterator[tuple[Disk, ...]]:
    """One or two, few dirty pages, and a floor that is due soon."""
    with ExitStack() as stack:
        found = [stack.enter_context(Disk(DISK_MIB, mbps, depth=depth))]
        limit_dirty(DIRTY_BYTES)
        for name, value in {"floor_window_ms": FLOOR_WINDOW_MS, **numbers}.items():
            wrais.put(name, value)
        if second:
            found.append(stack.enter_context(Disk(DISK_MIB, second, more="-2")))
        yield tuple(found)


def watched(
    case: Case, there: tuple[Disk, ...], *tasks: Use, seconds: float = 0
) -> tuple[list[int], Crew]:
    """What each does for a while, or for so long, and all of them, which have ended."""
    with Crew(case, there, *tasks) as crew:
        done = crew.watch(seconds)
        crew.stop()
        return done, crew


def slow_disk(case: Case) -> None:
    """Privileged writers on a slow disk that has more than its share wait as others do."""
    tasks = (privileged("write"), privileged("write"), Use("write", disk=1))
    with disks(SLOW_MBPS, second=DISK_MBPS) as there:
        before = wrais.counters()["dirty_naps"]
        watched(case, there, *tasks)
        naps = wrais.counters()["dirty_naps"] - before
    case.expect_bound(naps <= OVER_NAPS_MAX, f"{naps} naps")


def loop(case: Case) -> None:
    """A task whose I/O is waited for on another disk does not help a loop device here."""
    with disks(second=DISK_MBPS) as there, there[0].loop(direct=True) as path:
        syncer = Use("sync", privileged=True, disk=1)
        done, _ = watched(case, there, syncer, privileged("read"), Use("read", path=path))
    case.expect_bound(100 * done[1] > LOOP_PERCENT * done[2], f"privileged, and by loop: {done}")


def commit(case: Case) -> None:
    """A commit that is waited for gets on under privileged readers.

    One of them always has a request, and so has another kernel thread, whose queue BFQ would
    like to merge with that of the journal.
    """
    with disks() as there, there[0].loop(direct=True) as path:
        readers = [privileged("read")] * 3
        tasks = (privileged("sync"), Use("read", path=path), *readers)
        _, crew = watched(case, there, *tasks)
    crew.expect_longest("fsync", COMMIT_MAX_MS)


def late_read(case: Case) -> None:
    """A task that is not privileged reads a page within a second, also before the floor is due.

    The two privileged readers may wait for it: for the same page, or for a lock. Tasks that always
    wait for such a read have a fiftieth of the device together.
    """
    with disks(floor_pct=0) as there:
        _, crew = watched(case, there, Use("look"), *[privileged("read")] * 2)
    crew.expect_longest("read", LOOK_MAX_MS)
    with disks(LATE_MBPS, floor_pct=0) as there:
        done, _ = watched(case, there, privileged("read"), *[Use("read")] * LATE_READERS)
    shares = f"{sum(done[1:])} of {sum(done)} bytes by late reads"
    case.expect_bound(100 * sum(done[1:]) <= LATE_PERCENT * sum(done), shares)


def unprivileged(case: Case) -> None:
    """Where no task is privileged nothing is done for any of them."""
    with disks() as there:
        before = wrais.counters()
        watched(case, there, Use("write"), Use("sync"), Use("read"))
        grown = [name for name, count in wrais.counters().items() if count > before[name]]
    case.equal(grown, [], "what is counted")


def writer(case: Case) -> None:
    """The others have 5 % under a privileged writer."""
    with disks() as there:
        done, _ = watched(case, there, privileged("write"), privileged("read"), Use("read"))
    others = 1000 * done[2] >= OTHERS_PERMILLE * sum(done)
    case.expect_bound(others, f"the others have {done[2]} of {sum(done)}")


def pair(case: Case) -> None:
    """The device is not kept idle for a task that waits for the journal while another reads."""
    with disks() as there:
        alone, _ = watched(case, there, privileged("read"))
        done, _ = watched(case, there, privileged("read"), privileged("sync"))
    kept = 100 * done[0] > PAIR_PERCENT * alone[0]
    case.expect_bound(kept, f"the reader has {done[0]}, and alone {alone[0]}")


def log(case: Case) -> None:
    """A log by AIO with O_DSYNC is as privileged as its task, where a kernel thread ends a write.

    That changes the file's extents, and syncs.
    """
    with disks(floor_pct=0) as there:
        alone, _ = watched(case, there, privileged("log"), seconds=LOG_S)
        beside = (privileged("log"), Use("read"), Use("write"))
        done, _ = watched(case, there, *beside, seconds=LOG_S)
    kept = LOG_PERCENT * done[0] >= 100 * alone[0]
    case.expect_bound(kept, f"the log has {done[0]}, and alone {alone[0]}")


def expect_first(case: Case, done: list[int]) -> None:
    """The first has more than both others, which are not privileged; else half as much."""
    case.expect_bound(done[0] > done[1] + done[2], f"the first and others: {done}")


def worker(case: Case) -> None:
    """What a kernel thread reads of a loop device for a privileged task goes first."""
    with disks() as there, there[0].loop(direct=False) as path:
        first = Use("read", privileged=True, path=path, image=there[0].image)
        done, _ = watched(case, there, first, Use("read"), Use("read"))
    expect_first(case, done)


def request(case: Case) -> None:
    """A task that is not privileged gives single requests (AIO) the real-time class."""
    with disks() as there:
        done, _ = watched(case, there, Use("request"), Use("read"), Use("read"))
    expect_first(case, done)


def expect_syncs(case: Case, *more: Use, role: str = "sync", least: int = METADATA_SYNCS) -> None:
    """A privileged task that syncs gets on under a reader and the flusher, which writes metadata.

    It wants to change them, and waits for the lock of the buffer until they are written. To look
    up a name it only reads a block of a directory that is written.
    """
    with disks(floor_pct=0) as there:
        flusher = Use("write_back", path=there[0].device)
        tasks = (privileged(role), privileged("read"), flusher, *more)
        with Crew(case, there, *tasks) as crew:
            crew.watch()
            rounds = crew.slots[0].rounds
            crew.stop()
    case.expect_bound(rounds >= least, f"{rounds} times")


def locked(of_file: bool, case: Case) -> None:
    """The flusher waits for a tag with a folio locked that such a task wants.

    It is that of a buffer which the task looks up, or a page of its file. There is one tag for
    writeback, and that of data has it; the other ones are for a reader.
    """
    with disks(floor_pct=0, depth=1) as there:
        path = f"{there[0].folder}/task.1" if of_file else there[0].device
        role = "rewrite" if of_file else "touch"
        tasks = (privileged(role), privileged("read"), Use("write_back", path=path), Use("write"))
        done, crew = watched(case, there, *tasks)
    crew.expect_longest("round", LOCKED_MAX_MS)
    kept = 100 * done[1] >= LOCKED_PERCENT * done[3]
    case.expect_bound(kept, f"the reader has {done[1]}, and the writer {done[3]}")


def handle(case: Case) -> None:
    """A task that is not privileged waits for such a lock with a handle.

    The commit that the fsync waits for does not begin before that has ended.
    """
    expect_syncs(case, Use("allocate"))


def tag(case: Case) -> None:
    """Writeback has the tags that there are for it, and the flusher waits for one.

    It has a handle open: a commit waits for that, and the writers, which are privileged, for
    the commit. Readers want the disk all the time. It took some seconds until all of that came
    together, and then half a minute.
    """
    others, readers, writers = (
        [Use("sync")] * 2,
        [privileged("read")] * 3,
        [privileged("write")] * 3,
    )
    with disks(floor_pct=0) as there, Crew(case, there, *others, *readers, *writers) as crew:
        for _ in range(1 if Words.brief else TAG_WATCHES):
            done = crew.watch()[-len(writers) :]
            case.expect_bound(min(done) >= MIB, f"writers: {done} bytes")
        crew.stop()


def _unpack(folder: str) -> list[int]:
    """How long a package manager takes for each file [us], in order of that."""
    wrais.take_class(wrais.RT)
    names, took = os.open(folder, os.O_RDONLY), []
    for i in range(PACKAGE_FILES):
        begin, path = time.monotonic_ns(), f"{folder}/file.{i}"
        with open(f"{path}.new", "wb", buffering=0) as file:
            file.write(bytes(PACKAGE_BYTES))
            os.fsync(file.fileno())
        os.rename(f"{path}.new", path)
        os.fsync(names)
        took.append((time.monotonic_ns() - begin) // 1000)
    return sorted(took)


def package(case: Case) -> None:
    """Small files, each of which is synced, renamed and its name synced, beside others.

    It waits for the journal's thread, which may preempt it as soon as it wakes up. Until the wait
    is counted, the requests of the thread go last, and the task seems to pause. So it does where a
    late read comes between two of its waits.
    """
    with disks(floor_pct=0) as there:
        there[0].set("queue/nr_requests", "64")
        unpack = partial(released, partial(_unpack, there[0].folder))
        # the first time it reads metadata
        unpack()
        alone = unpack()[PACKAGE_FILES // 2]
        for each in (1, 4):
            with Crew(case, there, *[Use("read"), Use("write")] * each) as crew:
                crew.advance(1)
                for _ in range(PACKAGES):
                    time.sleep(PACKAGE_PHASE_S)
                    before, took, now = wrais.counters(), unpack(), wrais.counters()
                    pauses, late = (now[name] - before[name] for name in PAUSES)
                    median, longest = took[PACKAGE_FILES // 2], took[-1]
                    case.expect(pauses <= late, f"{pauses} pauses with {late} late reads")
                    kept = 100 * median <= PACKAGE_PERCENT * alone
                    text = f"{median} us for a file, {alone} alone, longest {longest}"
                    kept &= longest <= 1000 * PACKAGE_MAX_MS
                    case.expect_bound(kept, f"beside {each} and {each}: {text}")
                crew.stop()


def share_disk(by_class: bool, case: Case) -> None:
    """A privileged task of a light group goes before those of a heavy one.

    Without the privilege its weight is 1 in 20; it has that by its I/O class, or from some
    moment on by its group.
    """
    with cgroup.controlled("io") as there:
        if not there:
            case.skip("no cgroup v2 with an I/O controller")
            return
        with cgroup.made("wrais-light") as light, cgroup.made("wrais-heavy") as heavy:
            calls.write(f"{light}/io.bfq.weight", "50")
            calls.write(f"{heavy}/io.bfq.weight", "1000")
            first = Use("read", privileged=by_class, thinks=True, group=light)
            others = [Use("read", group=heavy)] * 2
            with Disk(DISK_MIB, DISK_MBPS) as disk, Crew(case, (disk,), first, *others) as crew:
                crew.advance(1)
                if not by_class:
                    done = crew.measure(GROUP_WATCH_S)
                    case.expect_bound(done[0] < sum(done[1:]), f"none is privileged: {done}")
                    case.equal(wrais.switch(light, "1"), 0, "the group's attribute")
                    # the next request is: the one that it waits for is not
                    crew.advance(2, 0)
                done = crew.measure(GROUP_WATCH_S)
                crew.stop()
            case.expect_bound(done[0] > TIMES * sum(done[1:]), f"the first is privileged: {done}")

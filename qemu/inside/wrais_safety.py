# SPDX-License-Identifier: GPL-2.0
"""What privileged I/O must not break, on a disk in memory that is made for each case.

The disk is full, frozen, unmounted or gone under privileged and other tasks; privileges end with
their tasks, and with the switches; and there are the bounds of what a privileged task takes.
Without a privilege (--stock), what fails as well is not due to it. Where the part floor is off,
a privileged reader pauses before each read: nothing else keeps it from starving the others.
Switches, numbers and vm.dirty_* are put back after each case.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from errno import EBUSY, EIO, ENOSPC, EROFS
from functools import partial

from inside import calls, task, wrais, wrais_disk, wrais_fuse, wrais_limits, wrais_shares
from inside.ktap import Case, Test, options, run
from inside.wrais_commits import folders, remapped, spans, tracked, unnamed
from inside.wrais_disk import JOURNAL, MIB, ORDERED, Disk, limit_dirty, set_vm
from inside.wrais_tasks import Crew, Use, Words, privileged

LIMIT_S = 100
"""Of a case: several times what a slow machine needs."""
PUT_BACK_S = 10
"""To end tasks, and to take the disk away, of a case that has used up its time."""
SMALL_MIB, BRIEF_MIB, DISK_MIB = 24, 12, 128
DISK_MBPS, ENDS_MBPS = 30, 5
DIRTY_BYTES, ENDS_DIRTY_BYTES = 4 * MIB, 2 * MIB
FLOOR_WINDOW_MS = 1000
"""The others have to get ahead as well, and soon."""
REMOVAL_DIRTY_BYTES = 256 * 1024
"""So little that writers are over it nearly always."""
REMOVALS, FREEZES, UNMOUNTS, KILLS, SWITCHES = 6, 2, 8, 4, 2
ROUNDS = 32
"""How far the others have to get for what is left behind to show."""
READERS = (2, 5)
MIXED = [
    Use(role, privileged=first) for first in (True, False) for role in ("write", "sync", "read")
]
"""Both kinds of tasks, in each way."""


def times(usual: int, brief: int = 1) -> range:
    """Fewer where it is to be brief."""
    return range(brief if Words.brief else usual)


def disk_of(mib: int = DISK_MIB, options: str = ORDERED) -> Disk:
    """A new one, with little that may be dirty."""
    disk = Disk(mib, DISK_MBPS, options)
    limit_dirty(DIRTY_BYTES)
    wrais.put("floor_window_ms", FLOOR_WINDOW_MS)
    return disk


def space(options: str, case: Case) -> None:
    """Every writer is told that no space is left; with space again all is well."""
    uses = [Use("fill", privileged=first) for first in (True, False, True, False)]
    with disk_of(BRIEF_MIB if Words.brief else SMALL_MIB, options) as disk:
        with Crew(case, (disk,), *uses) as crew:
            crew.ended(ENOSPC)
        for path in crew.paths:
            os.unlink(path)
        os.sync()
        disk.expect_usable()
        disk.end_clean()


def freeze(case: Case) -> None:
    """Nothing reaches a frozen disk; reading from it, which takes a while, goes on."""
    with disk_of() as disk:
        with Crew(case, (disk,), *MIXED) as crew:
            crew.advance(1)
            for _ in times(FREEZES):
                disk.freeze(True)
                try:
                    before = disk.count(6)
                    for reader in READERS:
                        crew.advance(1, reader)
                    case.equal(disk.count(6), before, "sectors written while frozen")
                finally:
                    disk.freeze(False)
                crew.advance(1)
            crew.stop()
        disk.end_clean()


def unmount(case: Case) -> None:
    """It is refused while the disk is used, and possible afterwards."""
    with disk_of() as disk:
        with Crew(case, (disk,), *MIXED) as crew:
            crew.advance(1)
            for _ in range(UNMOUNTS):
                case.equal(calls.fails(disk.unmount), EBUSY, "unmount while used")
                case.equal(calls.fails(disk.remount, True), EBUSY, "remount while used")
            crew.advance(1)
        disk.remount(True)
        disk.remount(False)
        disk.expect_usable()
        disk.end_clean()
        disk.mount()
        with Crew(case, (disk,), *MIXED) as crew:
            crew.advance(1)
            crew.stop()
        disk.end_clean()


def removal(case: Case) -> None:
    """Each task that uses the disk gets an error, and ends; when it is back, all is well.

    EIO, or EROFS once the journal has been given up. Also a writer that waits for others' dirty
    pages. The disk comes back as it was then, and the journal is replayed.
    """
    with disk_of() as disk:
        set_vm(dirty_bytes=REMOVAL_DIRTY_BYTES)
        for _ in times(REMOVALS):
            with Crew(case, (disk,), *MIXED) as crew:
                crew.advance(1)
                disk.power(False)
                crew.ended(EIO, EROFS)
            disk.unmount()
            disk.power(True)
            disk.mount()
        disk.expect_usable()
        disk.end_clean()


def inherits() -> int:
    """How often a task has inherited from a privileged one."""
    return wrais.counters()["inherits"]


def kill_waiting(case: Case, disk: Disk, victim: int) -> None:
    """The privileged are killed while they wait, the victim first; then no request is raised."""
    before = inherits()
    with Crew(case, (disk,), privileged("write"), privileged("sync"), Use("write")) as crew:
        crew.advance(1)
        pid = crew.tasks[victim].pid
        waits: dict[str, Callable[[], bool]] = {
            "inherits from the privileged": lambda: inherits() > before,
            "waits for the disk": lambda: task.stat(pid)[0] == "D",
        }
        for what, condition in waits.items():
            if not task.wait_until(condition):
                raise TimeoutError(f"no task {what}")
        crew.kill(victim)
        crew.kill(1 - victim)
        counted = [wrais.counters()[name] for name in ("inherits", "raised_requests")]
        crew.advance(ROUNDS, 2)
        found = [wrais.counters()[name] for name in ("inherits", "raised_requests")]
        case.equal(found, counted, f"inherited and raised after task {victim + 1} is dead")
        crew.stop()


def killed(case: Case) -> None:
    """No request is raised for a task that is dead."""
    if not (wrais.on(wrais.MASTER) and os.path.exists(wrais.path("inherit"))):
        case.skip("needs the parts raise, dirty and inherit")
        return
    with Disk(DISK_MIB, ENDS_MBPS) as disk:
        limit_dirty(ENDS_DIRTY_BYTES)
        for i in times(KILLS, brief=2):
            kill_waiting(case, disk, i % 2)


def switches(case: Case) -> None:
    """A privileged task sleeps while what it waits in is switched."""
    uses = [use for use in MIXED if use.role != "read"]
    with Disk(DISK_MIB, ENDS_MBPS) as disk:
        limit_dirty(ENDS_DIRTY_BYTES)
        with Crew(case, (disk,), *uses) as crew:
            for _ in times(SWITCHES):
                for name in filter(os.path.exists, map(wrais.path, (wrais.MASTER, *wrais.PARTS))):
                    before = calls.number(name)
                    calls.write(name, str(1 - before))
                    crew.advance(1)
                    calls.write(name, str(before))
            crew.stop()
        disk.end_clean()


CASES: dict[str, Test] = {
    "headroom": partial(wrais_limits.stay_below, 1),
    "shared-headroom": partial(wrais_limits.stay_below, 3),
    "fsync": wrais_limits.fsync,
    "strict-limit": wrais_limits.strict_limit,
    "stalled-fuse": wrais_fuse.stalled,
    "slow-disk": wrais_shares.slow_disk,
    "loop": wrais_shares.loop,
    "commit": wrais_shares.commit,
    "late-read": wrais_shares.late_read,
    "unprivileged": wrais_shares.unprivileged,
    "writer": wrais_shares.writer,
    "pair": wrais_shares.pair,
    "worker": wrais_shares.worker,
    "request": wrais_shares.request,
    "log": wrais_shares.log,
    "metadata": wrais_shares.expect_syncs,
    "entry": partial(wrais_shares.expect_syncs, role="create", least=wrais_shares.ENTRY_SYNCS),
    "inodes": partial(wrais_shares.locked, False),
    "pages": partial(wrais_shares.locked, True),
    "handle": wrais_shares.handle,
    "tag": wrais_shares.tag,
    "package": wrais_shares.package,
    "class-in-group": partial(wrais_shares.share_disk, True),
    "group": partial(wrais_shares.share_disk, False),
    "space": partial(space, ORDERED),
    "space-journal": partial(space, JOURNAL),
    "freeze": freeze,
    "unmount": unmount,
    "removal": removal,
    "tracked": tracked,
    "unnamed": unnamed,
    "folders": folders,
    "remapped": remapped,
    "spans": spans,
    "killed": killed,
    "switches": switches,
    "memory-cgroup": wrais_limits.memory_cgroup,
    "memory": wrais_limits.memory,
}
"""Last is what may take the whole machine along when it fails."""


def put_back(test: Test, stock: bool, limit_s: int, case: Case) -> None:
    """The case, which has so much time; all is then as it was before, whatever it has left."""
    end = time.monotonic() + limit_s - PUT_BACK_S
    task.patience = lambda: max(end - time.monotonic(), PUT_BACK_S)
    with wrais.kept(), wrais_disk.vm_kept():
        wrais.switch_all(not stock)
        test(case)


def main() -> None:
    """The cases whose names are options, in the order above, or all of them."""
    words = options(brief=False, stock=False, limit=LIMIT_S, **dict.fromkeys(CASES, False))
    Words.brief = bool(words["brief"])
    wrais.require()
    wrais_disk.require()
    chosen = [name for name in CASES if words[name]] or list(CASES)
    how = (bool(words["stock"]), words["limit"])
    run({name: partial(put_back, CASES[name], *how) for name in chosen})


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: GPL-2.0
"""Privileged I/O."""

from dataclasses import replace

from lab.guest import slowdisk
from lab.guest.boot import Boot, Program
from lab.guest.ext4 import Ext4
from lab.guest.machine import Machine
from lab.subjects.wrais.variants import PARTS
from lab.suite import smp_machine

# The slow disk's pages, of which a small file system touches few, and the cache.
MEM_MB = 1536
DISK = Ext4(size_mb=256, block=4096, journal_mb=8)
SCHEDS = ("bfq", "mq-deadline", "kyber", "none")
PROBES = ("fsync", "write70", "think", "random")
# Little memory, so that it could run out.
SAFETY_MEM_MB = 512
# Each wait of theirs ends earlier, after four minutes, with a better message.
SAFETY_S = 300
SAFETY_CASES = (
    *("headroom", "shared-headroom", "fsync", "memory", "memory-cgroup", "space"),
    *("space-journal", "freeze", "unmount", "removal", "killed", "switches"),
)
# A kernel full of checks writes more slowly than any disk, and has memory in plenty: it
# never comes to the first of these limits. The others take it minutes each.
SAFETY_NOT_DEBUG = (
    *("headroom", "shared-headroom", "memory"),
    *("memory-cgroup", "space-journal", "switches"),
)
# The same with all parts off: what fails here as well is not theirs.
SAFETY_OF_STOCK = ("space", "removal")


def _machine() -> Machine:
    """The slow disk in the guest's own memory, in virtual time."""
    machine = Machine(accel="icount", mem_mb=MEM_MB, root=False)
    return machine.with_append(*slowdisk.words(2))


def _api() -> Boot:
    """Who may be privileged, and who may not."""
    return Boot("wrais-api", _machine(), (Program("wrais-api", ("wrais-api", "--ktap"), 120),))


def _run(name: str, *args: str, load: int = 1) -> Program:
    """A short start beside so many readers and writers, on files that fit a small disk."""
    program = ("wrais-run", "--disk", slowdisk.DEVICE, "--mount", "--dir", "/run/wrais")
    sizes = ("--pages", "2000", "--read-size", "8", "--write-size", "16", "--pass", "64")
    amount = ("-r", str(load), "-w", str(load), "--repeats", "1", "--limit", "60")
    limits = ("--dirty-bytes", "8000000", "--dirty-background-bytes", "4000000")
    return Program(name, (*program, *sizes, *amount, *limits, *args), 180)


def _io() -> Boot:
    """The suite of privileged I/O itself: every scheduler, probe and part once."""
    privileged = ("--sched", "bfq", "--wrais", "all")
    plain = ("--wrais", "none", "--sched")
    probes = tuple(_run(f"probe-{probe}", *privileged, "--probe", probe) for probe in PROBES)
    return Boot(
        "wrais-io",
        _machine(),
        (
            Program("disk", slowdisk.DISK),
            *(_run(f"sched-{name}", *plain, name) for name in SCHEDS),
            _run("privileged", *privileged),
            _run("privileged-4r4w", *privileged, load=4),
            *probes,
            _run("endless", *privileged, "--endless", "5"),
            _run("journal-data", *privileged, "--mount-options", "data=journal"),
            *(_run(f"no-{part}", *privileged[:-1], f"all,-{part}") for part in PARTS),
        ),
        disk=DISK,
    )


def _safety() -> Boot:
    """What must stay whole, with mkfs and fsck of the root image, in little memory."""
    program = ("wrais-safety", "--ktap")
    ours = tuple(
        Program(case, (*program, case), SAFETY_S, debug=case not in SAFETY_NOT_DEBUG)
        for case in SAFETY_CASES
    )
    stock = tuple(
        Program(f"stock-{case}", (*program, "--wrais", "none", case), SAFETY_S, debug=False)
        for case in SAFETY_OF_STOCK
    )
    return Boot("wrais-safety", replace(smp_machine(2), mem_mb=SAFETY_MEM_MB), (*ours, *stock))


def boots() -> tuple[Boot, ...]:
    """All of them."""
    return (_api(), _io(), _safety())

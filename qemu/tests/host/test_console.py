# SPDX-License-Identifier: GPL-2.0
"""Which lines of a console are complaints of the kernel, and whose fault they are."""

from pathlib import Path

import pytest

from lab.guest.console import Console, Kind, classify

# Those that no family below has.
COMPLAINTS = [
    (Kind.PANIC, "Kernel panic - not syncing: Attempted to kill init! exitcode=0x0000000b"),
    (Kind.KASAN, "BUG: KASAN: slab-out-of-bounds in f+0x1/0x2"),
    (Kind.KASAN, "KASAN: null-ptr-deref in range [0x0000000000000008-0x000000000000000f]"),
    (Kind.KFENCE, "BUG: KFENCE: use-after-free read in f+0x1/0x2"),
    (Kind.UBSAN, "UBSAN: shift-out-of-bounds in kernel/sched/core.c:1:2"),
    (Kind.LOCKDEP, "WARNING: possible circular locking dependency detected"),
    (Kind.LOCKDEP, "WARNING: possible recursive locking detected"),
    (Kind.LOCKDEP, "WARNING: possible irq lock inversion dependency detected"),
    (Kind.LOCKDEP, "WARNING: inconsistent lock state"),
    (Kind.LOCKDEP, "WARNING: suspicious RCU usage"),
    (Kind.LOCKDEP, "WARNING: bad unlock balance detected!"),
    (Kind.LOCKDEP, "WARNING: HARDIRQ-safe -> HARDIRQ-unsafe lock order detected"),
    (Kind.LOCKDEP, "[ BUG: Invalid wait context ]"),
    (Kind.LOCKDEP, "WARNING: lock held when returning to user space!"),
    (Kind.LOCKDEP, "WARNING: beta/61 still has locks held!"),
    (Kind.LOCKDEP, "DEBUG_LOCKS_WARN_ON(lockdep_hardirqs_enabled())"),
    (Kind.LOCKDEP, "INFO: trying to register non-static key."),
    (Kind.LOCKDEP, "BUG: MAX_LOCKDEP_CHAINS too low!"),
    (Kind.LOCKDEP, "turning off the locking correctness validator."),
    (Kind.ATOMIC, "BUG: sleeping function called from invalid context at mm/slab.h:1"),
    (Kind.KMEMLEAK, "kmemleak: 3 new suspected memory leaks (see /sys/kernel/debug/kmemleak)"),
    (Kind.CORRUPTION, "list_del corruption. prev->next should be ffff8880, but was dead0001"),
    (Kind.CORRUPTION, "refcount_t: underflow; use-after-free."),
    (Kind.OOPS, "Oops: general protection fault, probably for non-canonical address 0xdead: 0000"),
    (Kind.OOPS, "BUG: kernel NULL pointer dereference, address: 0000000000000008"),
    (Kind.OOPS, "BUG: unable to handle page fault for address: ffff88800629d1c0"),
    (Kind.BUG, "kernel BUG at kernel/sched/rt.c:1234!"),
    (Kind.BUG, "BUG: using smp_processor_id() in preemptible [00000000] code: beta/61"),
    (Kind.WARNING, "WARNING: CPU: 0 PID: 61 at kernel/sched/core.c:8364 sched_cpu_dying+0x1/0x2"),
]

HARMLESS = [
    "Linux version 6.12.117",
    "traps: beta[61] general protection fault ip:401136 sp:7ffd error:0 in beta[401000+1000]",
    "beta[61]: segfault at 0 ip 0000000000401136 sp 00007ffd error 4 in beta[401000+1000]",
    "rcu: Preemptible hierarchical RCU implementation.",
    "rcu: \tRCU debug extended QS entry/exit.",
    "kmemleak: Kernel memory leak detector initialized (mem pool available: 15697)",
    "kmemleak: Automatic memory scanning thread started",
    "Lock dependency validator: Copyright (c) 2006 Red Hat, Inc., Ingo Molnar",
    "... MAX_LOCKDEP_SUBCLASSES:  8",
    "kasan: KernelAddressSanitizer initialized (generic)",
    "[Firmware Bug]: TSC doesn't count with P0 frequency!",
    "sysrq: Show Blocked State",
    "lab: | WARNING: a program says so",
]


# The recorded complaints of a family: every line that begins one, and no other.
FAMILIES: dict[str, dict[int, Kind]] = {
    "atomic": dict.fromkeys((2, 3), Kind.ATOMIC),
    "dma-api": {6: Kind.DMA, 7: Kind.WARNING, 9: Kind.DMA, 10: Kind.DMA},
    "ext4": dict.fromkeys(range(3, 12), Kind.EXT4),
    "hung-task": dict.fromkeys((2, 5), Kind.HUNG_TASK),
    "io": dict.fromkeys(range(2, 7), Kind.IO),
    "irq": dict.fromkeys((2, 6, 7, 8), Kind.IRQ),
    "jbd2": dict.fromkeys(range(2, 14), Kind.JBD2) | {5: Kind.EXT4},
    "kcsan": dict.fromkeys((3, 7), Kind.KCSAN),
    "lockup": dict.fromkeys((2, 3, 4, 6), Kind.LOCKUP),
    "netdev": dict.fromkeys((2, 6, 7, 8), Kind.NETDEV),
    "oom": dict.fromkeys((2, 5, 6, 7, 10, 11), Kind.OOM),
    "page-allocation": dict.fromkeys((2, 4, 5), Kind.ALLOCATION),
    "page-pool": {2: Kind.PAGE_POOL},
    "removal": dict.fromkeys((7, 10, 12, 14), Kind.IO)
    | {6: Kind.JBD2, 9: Kind.EXT4, 15: Kind.EXT4},
    "slab": dict.fromkeys((3, 11), Kind.SLAB),
    "stall": dict.fromkeys((2, *range(5, 12)), Kind.RCU_STALL),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_families(golden: Path, family: str) -> None:
    console = Console()
    console.feed((golden / "complaints" / f"{family}.txt").read_bytes())
    assert {splat.number: splat.kind for splat in console.splats} == FAMILIES[family]


def test_every_recorded_family_is_read(golden: Path) -> None:
    assert {path.stem for path in (golden / "complaints").iterdir()} == set(FAMILIES)


def test_every_kind_has_a_complaint() -> None:
    shown = {kind for kind, _ in COMPLAINTS} | {k for f in FAMILIES.values() for k in f.values()}
    assert shown == set(Kind)


@pytest.mark.parametrize(("kind", "text"), COMPLAINTS)
def test_complaints(kind: Kind, text: str) -> None:
    assert classify(f"[    1.300001] {text}") is kind


@pytest.mark.parametrize("text", HARMLESS)
def test_harmless(text: str) -> None:
    console = Console()
    console.feed(f"[    1.300001] {text}\n".encode())
    assert console.splats == []


def test_attribution() -> None:
    console = Console()
    console.feed(
        b"[    1.0] WARNING: before\r\n"
        b"[    1.1] lab: begin one\r\n"
        b"[    1.2][   T61] WARNING: in one\r\n"
        b"[    1.3][    C0] lab: end one\r\n"
        b"[    1.4] WARNING: between\r\n"
        b"lab: begin two\n"
        b"WARNING: in two"
    )
    console.close()
    found = [(s.entry, s.number) for s in console.splats]
    assert found == [(None, 1), ("one", 3), (None, 5), ("two", 7)]
    assert "in one" in str(console.splats[1])


def test_a_program_cannot_change_the_entry() -> None:
    """Marks count at the start of a record only."""
    console = Console()
    console.feed(b"[ 1.0] lab: begin one\n[ 1.1] lab: | lab: end one\n[ 1.2] WARNING: x\n")
    assert console.splats[0].entry == "one"

# SPDX-License-Identifier: GPL-2.0
"""The console log of a guest: what the kernel complained about, and during which entry."""

import re
from dataclasses import dataclass
from enum import StrEnum

from lab.guest.protocol import LOG_BEGIN, LOG_END, LOG_NAME


class Kind(StrEnum):
    """What kind of complaint a line begins; the first whose pattern it has names the line."""

    pattern: re.Pattern[str]

    def __new__(cls, text: str, pattern: str) -> "Kind":
        kind = str.__new__(cls, text)
        kind._value_ = text
        kind.pattern = re.compile(pattern)
        return kind

    PANIC = "panic", r"Kernel panic - not syncing|end Kernel panic"
    KASAN = "KASAN", r"BUG: KASAN:|KASAN: \S+ in range"
    KCSAN = "KCSAN", r"BUG: KCSAN:"
    KFENCE = "KFENCE", r"BUG: KFENCE:"
    UBSAN = "UBSAN", r"UBSAN: "
    LOCKDEP = (
        "lockdep",
        r"possible (circular|recursive|irq lock inversion)|lock inversion dependency"
        r"|inconsistent lock state|suspicious RCU usage|bad unlock balance"
        r"|Invalid wait context|held lock freed|lock held when returning to user space"
        r"|still has locks held|-safe -> \S+-unsafe lock order"
        r"|bad contention detected|Nested lock was not taken|DEBUG_LOCKS_WARN_ON"
        r"|trying to register non-static key|INFO: lockdep is turned off"
        r"|turning off the locking correctness validator|MAX_LOCK\S* too low"
        r"|raw_local_irq_restore\(\) called with IRQs enabled",
    )
    ATOMIC = (
        "sleep in atomic context",
        r"sleeping function called from invalid context|scheduling while atomic"
        r"|do not call blocking ops when|voluntary context switch within RCU read-side"
        r"|huh, entered softirq",
    )
    RCU_STALL = (
        "RCU stall",
        r"INFO: rcu_\w+ (self-)?detected (expedited )?stall"
        r"|rcu: .* kthread (starved for|timer wakeup didn't happen)",
    )
    LOCKUP = "lockup", r"soft lockup|hard LOCKUP|workqueue lockup|non-responsive CSD lock"
    HUNG_TASK = "hung task", r"INFO: task .* blocked .*more than \d+ seconds"
    KMEMLEAK = "kmemleak", r"kmemleak: \d+ new suspected memory leaks"
    CORRUPTION = (
        "corruption",
        r"list_(add|del) corruption|refcount_t: |ODEBUG: |BUG: Bad (page|rss)"
        r"|stack-protector: |corrupted stack end",
    )
    SLAB = (
        "slab corruption",
        r"BUG .+ \((Not tainted|Tainted: [^)]*)\): |SLUB: Unable to initialize"
        r"|SLUB.* counted but counter=",
    )
    # What it says at boot and when its own table has to grow is no complaint.
    DMA = "DMA-API", r"DMA-API: (?!preallocated|debugging (en|dis)abled|dma_debug_entry pool grown)"
    EXT4 = (
        "ext4",
        r"EXT4-fs (error|warning) \("
        r"|EXT4-fs \([^)]*\): .*(error|fail|lost|loss|corrupt|read-only|should not happen)",
    )
    # A journal that is thrown away on demand, or ends in the middle as after a crash, is good.
    JBD2 = (
        "jbd2",
        r"JBD2: (?!Clearing |Ignoring |Find incomplete )|Aborting journal on device"
        r"|jbd2_\w+: (error: |needed |no way |Cannot |freeing )",
    )
    IO = (
        "I/O error",
        r"Buffer I/O error on dev|\berror, dev \S+, sector \d+|access beyond end of device",
    )
    OOM = (
        "out of memory",
        r"invoked oom-killer|\b[Oo]ut of memory\b|oom-kill:constraint|oom_reaper: ",
    )
    ALLOCATION = (
        "page allocation",
        r"page allocation failure|vmalloc error: |SLUB: Unable to allocate",
    )
    IRQ = "interrupt", r"nobody cared|Disabling IRQ #|lost interrupt|No irq handler for "
    NETDEV = (
        "network device",
        r"NETDEV WATCHDOG|Detected Tx Unit Hang|unregister_netdevice: waiting for"
        r"|hw csum failure",
    )
    PAGE_POOL = "page pool", r"stalled pool shutdown"
    OOPS = (
        "Oops",
        r"Oops: |general protection fault, (probably|maybe)|double fault: "
        r"|BUG: unable to handle|BUG: kernel NULL pointer dereference|stack guard page was hit",
    )
    BUG = "BUG", r"\bBUG: |kernel BUG at "
    WARNING = "WARNING", r"\bWARNING: "


# "[    1.234567] ", with CONFIG_PRINTK_CALLER "[    1.234567][    T1] "
STAMP = r"^(?:\[ *\d+\.\d+\](?:\[ *[TC]\d+\])? ?)?"
MARK = re.compile(STAMP + rf"{LOG_NAME}: ({LOG_BEGIN}|{LOG_END})(\S+)$")
# What a program wrote to its standard error: a quotation, not the kernel.
QUOTED = re.compile(STAMP + rf"{LOG_NAME}: ")


@dataclass(frozen=True)
class Splat:
    """A line that must not be there. entry is None between and before entries.

    number is the line's in the console log, from 1.
    """

    kind: Kind
    text: str
    number: int
    entry: str | None = None

    def __str__(self) -> str:
        where = f" in {self.entry}" if self.entry else ""
        return f"{self.kind}{where}: {self.text} (console line {self.number})"


def classify(line: str) -> Kind | None:
    """The kind of complaint that a line of the console begins, if it does."""
    return next((kind for kind in Kind if kind.pattern.search(line)), None)


class Console:
    """Reads the log as it grows."""

    def __init__(self) -> None:
        self.splats: list[Splat] = []
        self.entry: str | None = None
        self._rest = b""
        self._number = 0

    @property
    def panicked(self) -> bool:
        """A panic has shown: nothing more is to be expected of this guest."""
        return any(splat.kind is Kind.PANIC for splat in self.splats)

    def feed(self, data: bytes) -> None:
        """Take the next bytes of the log; a line counts once it is complete."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._line(line)

    def close(self) -> None:
        """The log has ended, maybe in the middle of a line."""
        if self._rest:
            self._line(self._rest)
            self._rest = b""

    def _line(self, raw: bytes) -> None:
        self._number += 1
        line = raw.decode(errors="replace").strip("\r")
        mark = MARK.match(line)
        if mark:
            self.entry = mark[2] if mark[1] == LOG_BEGIN else None
            return
        if QUOTED.match(line):
            return
        kind = classify(line)
        if kind:
            self.splats.append(Splat(kind, line.strip(), self._number, self.entry))

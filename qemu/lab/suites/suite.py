# SPDX-License-Identifier: GPL-2.0
"""What a suite is: one boot, and what runs in it."""

from collections.abc import Collection
from dataclasses import dataclass, replace

from lab.ext4 import Ext4
from lab.machine import Machine
from lab.plan import Plan, PlanEntry

# A kernel full of checks runs several times slower and needs room for shadows.
DEBUG_SLOWNESS = 6
# Host seconds for the boot and for a guest second, upper bounds.
BOOT_S = 60.0
REAL_FACTOR = 2.0
VIRTUAL_FACTOR = 20.0
WALL_MAX_S = 1800.0
# 8 ns an instruction: a guest second costs the host an eighth, and a tick is
# still long against what the kernel does in it.
SHARE_SHIFT = 3


@dataclass(frozen=True)
class Entry:
    """A program in the guest. timeout_s counts guest seconds.

    short_argv, if any, is what the shortened run uses instead. debug says that
    the entry is worth its time on the kernel with checks: that it asks
    something of the kernel, not only of user space.
    """

    name: str
    argv: tuple[str, ...]
    timeout_s: int = 30
    short_argv: tuple[str, ...] | None = None
    debug: bool = True


@dataclass(frozen=True)
class Suite:
    """One boot and what runs in it, in this order; disk is found in /lab/disk."""

    name: str
    machine: Machine
    entries: tuple[Entry, ...]
    disk: Ext4 | None = None

    def plan(self, chosen: Collection[str] = ()) -> Plan:
        """The chosen entries, all if none is."""
        return Plan(
            tuple(
                PlanEntry(entry.name, entry.argv, entry.timeout_s)
                for entry in self.entries
                if not chosen or entry.name in chosen
            )
        )

    def wall_s(self, plan: Plan) -> float:
        """Host seconds after which the guest is taken for lost."""
        factor = REAL_FACTOR if self.machine.real_time else VIRTUAL_FACTOR
        slowness = DEBUG_SLOWNESS if self.machine.kernel == "debug" else 1
        guest_s = sum(entry.timeout_s for entry in plan.entries)
        return min(WALL_MAX_S, BOOT_S * slowness + factor * guest_s)


def shell(name: str, script: str, timeout_s: int = 30) -> Entry:
    """An entry that needs the shell of the root image."""
    return Entry(name, ("sh", "-c", script), timeout_s)


def refused(name: str, command: str) -> Entry:
    """The command must end with status 2 and one line that says why."""
    entry = shell(
        name,
        f"{command} >/tmp/out 2>/tmp/err; status=$?; cat /tmp/err; "
        "[ $status -eq 2 ] && [ $(wc -l </tmp/err) -eq 1 ] && [ ! -s /tmp/out ]",
    )
    return replace(entry, debug=False)


def smp_machine(cpus: int, root: bool = True) -> Machine:
    """Several CPUs in real time."""
    return Machine(cpus=cpus, root=root)

# SPDX-License-Identifier: GPL-2.0
"""A boot: a machine, the programs that run in it, and what is expected of each.

Tests, the demo and the experiments are made of boots and of nothing else.
"""

import re
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from enum import StrEnum
from pathlib import Path

from lab import LabError, one_of
from lab.guest.console import Kind
from lab.guest.extents import FileSystem
from lab.guest.machine import Machine
from lab.guest.protocol import TIMEOUT_MAX_S
from lab.paths import CHECKED

MODES = ("plan", "shell", "command")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:+=/-]{0,99}")

# Host seconds for the boot, and for a guest second of a machine in real time.
BOOT_S = 60.0
REAL_FACTOR = 2.0
# A guest is taken for lost after LOST_FACTOR times its budget, and not before LOST_MIN_S.
LOST_FACTOR = 4.0
LOST_MIN_S = 240.0
# An experiment in virtual time: host seconds for a boot and for a busy guest second.
VIRTUAL_BOOT_S = 300
VIRTUAL_FACTOR = 60
# A kernel full of checks runs several times slower.
DEBUG_SLOWNESS = 6


class Judged(StrEnum):
    """What a program's verdict is worth.

    exact: the guest's time is virtual and no disk completes in host time, so every run is the
    same run. event: what happened is judged, not when; late ticks of the host may still change
    what meets what. timed: shares, latencies or rates in real time.
    """

    EXACT = "exact"
    EVENT = "event"
    TIMED = "timed"


@dataclass(frozen=True)
class Program:
    """A program, and what is expected of it: status 0, and KTAP if it prints any.

    argv is executed directly, without a shell; "@..." is a builtin of PID 1.
    timeout_s counts guest seconds, 0 is no limit. short is the argv of a
    shortened run. debug says that it is worth its time on the kernel with checks:
    that it asks something of the kernel, not only of user space. timed says that all it
    is for are shares, latencies or rates in real time. gate is false for a program that only
    make test-long runs, because one of the gate does nearly the same. provokes are
    the complaints of the kernel that belong to what it does. files are what the
    guest needs for it, by their names relative to /; image names files of the root
    image that it needs in a guest without that. busy_s is about how long it keeps
    the guest's CPU busy, in guest seconds. cpus is how many CPUs the kernel must
    be made for, beyond what the machine needs.

    In an experiment what is measured: the cell of its matrix. repeat tells
    equal ones of a boot apart, from 1. On the host itself, peer names a program
    that is not ours, and hogs are CPU-bound processes that run with it.
    """

    name: str
    argv: tuple[str, ...]
    timeout_s: int = 30
    _: KW_ONLY
    short: tuple[str, ...] | None = None
    debug: bool = True
    timed: bool = False
    gate: bool = True
    provokes: tuple[Kind, ...] = ()
    files: Mapping[str, Path] = field(default_factory=dict, hash=False)
    image: tuple[str, ...] = ()
    busy_s: float = 0.0
    cpus: int = 1
    what: object = None
    repeat: int = 1
    peer: str = ""
    hogs: int = 0

    def __post_init__(self) -> None:
        """Raises LabError for what PID 1 would not take."""
        if not NAME.fullmatch(self.name):
            raise LabError(f"program '{self.name}': a name is up to 100 of A-Za-z0-9_.:+=/-")
        if not self.argv or not self.argv[0]:
            raise LabError(f"program '{self.name}': nothing to execute")
        if any("\0" in arg for arg in self.argv):
            raise LabError(f"program '{self.name}': an argument holds a NUL byte")
        if not 0 <= self.timeout_s <= TIMEOUT_MAX_S:
            raise LabError(
                f"program '{self.name}': timeout {self.timeout_s} s, "
                f"allowed are 0 to {TIMEOUT_MAX_S}"
            )

    @property
    def ktap(self) -> bool:
        """Whether it must print results of its own."""
        return "--ktap" in self.argv or (self.argv[0] == "@cat" and "/kunit/" in self.argv[-1])

    @property
    def prepares(self) -> bool:
        """Whether it brings tools of the root image for programs behind it.

        A test in Python has its interpreter from there, for itself.
        """
        return bool(self.image) and not self.ktap


def _escaped(text: str) -> str:
    """A field as PID 1 reads it: neither tab nor newline in it."""
    return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")


@dataclass(frozen=True)
class Boot:
    """One machine to boot, and the programs that run in it, in this order.

    disk is a file system that the guest finds as extents in /lab/disk. defer
    keeps all output in the guest's memory until the last program is done. With
    leaks the kernel with checks looks for lost memory at the end. With
    host there is no guest: the programs run here, before any guest. budget_s
    are the host seconds that it may take on two cores. mode says what PID 1 does:
    one program after the other, a shell on the console, or one command whose
    output and status are passed on. more are files in addition to those of the programs.
    """

    name: str
    machine: Machine = field(default_factory=Machine)
    programs: tuple[Program, ...] = ()
    _: KW_ONLY
    disk: FileSystem | None = None
    defer: bool = False
    host: bool = False
    leaks: bool = False
    budget_s: float | None = None
    mode: str = "plan"
    more: Mapping[str, Path] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        """Raises LabError for an unknown mode or a name that is used twice."""
        one_of("mode", self.mode, MODES)
        seen: set[str] = set()
        for program in self.programs:
            if program.name in seen:
                raise LabError(f"{self.name}: program '{program.name}' is there twice")
            seen.add(program.name)

    @property
    def files(self) -> dict[str, Path]:
        """What the guest needs in addition to the programs, by names relative to /."""
        found = {name: file for program in self.programs for name, file in program.files.items()}
        return {**found, **self.more}

    @property
    def image(self) -> tuple[str, ...]:
        """What the guest needs of a root image that it does not have."""
        names = (name for program in self.programs for name in program.image)
        return () if self.machine.root else tuple(dict.fromkeys(names))

    def judged(self, program: Program) -> Judged:
        """What the verdict on a program of this boot is worth."""
        if program.timed:
            return Judged.TIMED
        return Judged.EXACT if self.machine.exact else Judged.EVENT

    @property
    def _slowness(self) -> int:
        return DEBUG_SLOWNESS if self.machine.kernel in CHECKED else 1

    def lost_s(self) -> float:
        """Host seconds after which the guest is taken for lost."""
        if self.budget_s is not None:
            return max(LOST_MIN_S * min(self._slowness, 2), LOST_FACTOR * self.budget_s)
        if self.machine.real_time:
            seconds = sum(program.timeout_s for program in self.programs)
            return BOOT_S * self._slowness + REAL_FACTOR * seconds
        return VIRTUAL_BOOT_S + VIRTUAL_FACTOR * self.busy_s

    def program_lost_s(self, program: Program) -> float:
        """Host seconds after which a program, and with it the guest, is taken for lost."""
        if not self.machine.real_time or not program.timeout_s:
            return self.lost_s()
        return BOOT_S * self._slowness + REAL_FACTOR * program.timeout_s

    @property
    def busy_s(self) -> float:
        """About the guest seconds that it keeps a CPU busy."""
        return sum(program.busy_s for program in self.programs)

    @property
    def length(self) -> float:
        """Boots with more of it are started first."""
        return self.budget_s if self.budget_s is not None else self.busy_s

    def render(self) -> str:
        """The text of the plan that PID 1 reads."""
        lines = [["mode", self.mode]]
        if self.defer:
            lines.append(["defer", "1"])
        for program in self.programs:
            lines.append(["program", program.name, str(program.timeout_s), *program.argv])
        return "".join("\t".join(map(_escaped, line)) + "\n" for line in lines)

# SPDX-License-Identifier: GPL-2.0
"""What came of a boot and of each of its programs."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from lab import LabError
from lab.guest.boot import Boot, Program
from lab.guest.console import Splat
from lab.guest.ktap import Case, Status
from lab.guest.protocol import REASON_EXIT
from lab.guest.stacks import late, telling

EXIT = re.compile(rf"{REASON_EXIT}(\d+)(?:: .*)?$")


class Outcome(StrEnum):
    """How a guest ended. Only done is good.

    panic: the kernel said so. died: QEMU ended before the guest's last word.
    timeout: the watchdog ended it. stuck: everything was said, but the machine
    did not power off.
    """

    DONE = "done"
    PANIC = "panic"
    DIED = "died"
    TIMEOUT = "timeout"
    STUCK = "stuck"


@dataclass(frozen=True)
class ProgramResult:
    """What came of one program.

    output is its standard output by lines; subtests are what it printed as KTAP; seconds are
    those of the host, about, 0 if it came to no end.
    """

    name: str
    status: Status
    subtests: tuple[Case, ...] = ()
    output: list[str] = field(default_factory=list)
    reason: str = ""
    seconds: float = 0.0

    @property
    def code(self) -> int | None:
        """Its exit status, None if it did not come to one."""
        if self.status is Status.OK:
            return 0
        match = EXIT.match(self.reason)
        return int(match[1]) if match else None


@dataclass(frozen=True)
class BootResult:
    """A finished boot. errors are faults of the stream or the machine.

    gap_s is the longest time [s] for which the host did not let the watchdog look, stolen_s what
    others had of its CPUs: witnesses of how busy it was. first is what came of the first run of
    what was run again.
    """

    boot: Boot
    programs: list[ProgramResult]
    console: Path
    splats: Sequence[Splat] = ()
    outcome: Outcome = Outcome.DONE
    errors: Sequence[str] = ()
    seconds: float = 0.0
    gap_s: float = 0.0
    stolen_s: float = 0.0
    first: "BootResult | None" = None

    @property
    def all_skipped(self) -> bool:
        """There were programs and none of them tested anything."""
        return bool(self.programs) and all(p.status is Status.SKIP for p in self.programs)

    def problems(self) -> list[str]:
        """Everything that makes the run a failure, one line each."""
        found = list(self.errors)
        for program in self.programs:
            if program.status not in (Status.OK, Status.SKIP):
                found.append(f"{program.name}: {program.status}: {program.reason}")
        found += [str(splat) for splat in self.splats]
        if self.all_skipped:
            found.append(f"all {len(self.programs)} programs were skipped")
        return found

    def stuck(self) -> list[str]:
        """What the kernel has shown of tasks that were stuck, and of timers, a line each."""
        log = self.console.read_text(errors="replace") if self.console.is_file() else ""
        return [*(str(stack) for stack in telling(log)), *late(log)]

    def whole(self) -> list[str]:
        """What is wrong with the boot itself, whatever its programs say."""
        return [*self.errors, *(str(splat) for splat in self.splats if splat.entry is None)]

    @property
    def ok(self) -> bool:
        """Every program was ok or skipped, at least one ran, the kernel was silent."""
        return not self.problems()

    @property
    def over_budget(self) -> bool:
        """It took longer than it should on two cores."""
        return self.boot.budget_s is not None and self.seconds > self.boot.budget_s

    def program(self, name: str) -> ProgramResult:
        """The result of one program. Raises KeyError."""
        for program in self.programs:
            if program.name == name:
                return program
        raise KeyError(name)

    def lines(self, program: Program) -> list[str]:
        """Output of a program.  Raises LabError if the program did not run."""
        try:
            return self.program(program.name).output
        except KeyError:
            raise LabError(f"{self.boot.name}: no result of {program.name}", 1) from None

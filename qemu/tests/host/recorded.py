# SPDX-License-Identifier: GPL-2.0
"""A runner that answers with what guests have really printed.

golden/SUBJECT/BOOT.ktap is the result stream of a boot as an experiment left it
under $(O)/logs. A program that is not in it has to be recorded.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lab.guest.boot import Boot, Program
from lab.guest.ktap import Stream
from lab.guest.result import BootResult, ProgramResult

GOLDEN = Path(__file__).resolve().parents[1] / "golden"

Rows = list[dict[str, Any]]
Change = Callable[[Boot, Program, Rows], Rows]
"""Falsifies what a program printed, as JSON objects; a line that is none is {TEXT: line}."""

TEXT = "text"


@dataclass
class Recorded:
    """Runs boots of a subject from its recordings; `change` spoils them."""

    subject: str
    change: Change | None = None
    booted: list[str] = field(default_factory=list)

    def __call__(self, boot: Boot) -> BootResult:
        self.booted.append(boot.name)
        stream = Stream()
        stream.feed((GOLDEN / self.subject / f"{boot.name}.ktap").read_bytes())
        document = stream.close()
        cases = {case.name: case for case in document.cases}
        programs = [
            ProgramResult(
                program.name,
                cases[program.name].status,
                output=self._output(boot, program, cases[program.name].output),
                reason=cases[program.name].reason,
            )
            for program in boot.programs
        ]
        return BootResult(boot, programs, Path("console.log"), errors=document.errors)

    def all(self, boots: Sequence[Boot]) -> list[BootResult]:
        """The results of all boots."""
        return [self(boot) for boot in boots]

    def _output(self, boot: Boot, program: Program, lines: list[str]) -> list[str]:
        if self.change is None:
            return lines
        rows = [json.loads(line) if line.startswith("{") else {TEXT: line} for line in lines]
        changed = self.change(boot, program, rows)
        return [row[TEXT] if TEXT in row else json.dumps(row) for row in changed]

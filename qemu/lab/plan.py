# SPDX-License-Identifier: GPL-2.0
"""What PID 1 of the guest is asked to do."""

import re
from dataclasses import dataclass

from lab import LabError

MODES = ("plan", "shell", "command")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:+=/-]{0,99}")
TIMEOUT_MAX_S = 86400
WINDOW_MAX = 65535


def _escaped(field: str) -> str:
    """A field as the plan file holds it: neither tab nor newline in it."""
    return field.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")


@dataclass(frozen=True)
class PlanEntry:
    """One program to run: argv is executed directly, "@..." is a builtin of PID 1.

    timeout_s counts guest seconds, 0 is no limit.
    """

    name: str
    argv: tuple[str, ...]
    timeout_s: int

    def __post_init__(self) -> None:
        """Raises LabError for what PID 1 would not take."""
        if not NAME.fullmatch(self.name):
            raise LabError(f"plan entry '{self.name}': a name is up to 100 of A-Za-z0-9_.:+=/-")
        if not self.argv or not self.argv[0]:
            raise LabError(f"plan entry '{self.name}': no program")
        if any("\0" in arg for arg in self.argv):
            raise LabError(f"plan entry '{self.name}': an argument holds a NUL byte")
        if not 0 <= self.timeout_s <= TIMEOUT_MAX_S:
            raise LabError(
                f"plan entry '{self.name}': timeout {self.timeout_s} s, "
                f"allowed are 0 to {TIMEOUT_MAX_S}"
            )


@dataclass(frozen=True)
class Terminal:
    """The window around an interactive shell."""

    name: str
    rows: int
    columns: int


@dataclass(frozen=True)
class Plan:
    """defer keeps all output in the guest's memory until the last entry is done."""

    entries: tuple[PlanEntry, ...] = ()
    mode: str = "plan"
    defer: bool = False
    terminal: Terminal | None = None

    def __post_init__(self) -> None:
        """Raises LabError for an unknown mode or a name that is used twice."""
        if self.mode not in MODES:
            raise LabError(f"plan mode '{self.mode}': allowed are {', '.join(MODES)}")
        seen: set[str] = set()
        for entry in self.entries:
            if entry.name in seen:
                raise LabError(f"plan entry '{entry.name}' is there twice")
            seen.add(entry.name)

    def render(self) -> str:
        """The text of /lab/plan."""
        lines = [["mode", self.mode]]
        if self.defer:
            lines.append(["defer", "1"])
        if self.terminal:
            rows = min(max(self.terminal.rows, 0), WINDOW_MAX)
            columns = min(max(self.terminal.columns, 0), WINDOW_MAX)
            lines.append(["term", self.terminal.name, str(rows), str(columns)])
        for entry in self.entries:
            lines.append(["entry", entry.name, str(entry.timeout_s), *entry.argv])
        return "".join("\t".join(map(_escaped, line)) + "\n" for line in lines)

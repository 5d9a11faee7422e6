# SPDX-License-Identifier: GPL-2.0
"""What trace-cmd recorded, as data: events, their fields, and the stack of a task that sleeps."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from lab import LabError
from lab.host.program import run

LINE = re.compile(r" *(.+)-(\d+) +\[(\d+)\] +(\d+)\.(\d{9}): (\S+): *(.*)")
FUNCTION = re.compile(r"=> (\S+) \(")
FIELD = re.compile(r"(\w+)=(.*?)(?= ==> | \w+=|$)")
STACK = "kernel_stack"
# As the kernel prints it, not as a plugin does.
PLAIN = ("sched_switch", "sched_waking")
MADE_BY_TRACING = ("trace_event_", "__traceiter_")


@dataclass
class Event:
    """time_ns is the guest's clock, comm and pid are of the task that had the cpu.

    stack are the functions of a switch, the innermost first, if the task went to sleep.
    """

    time_ns: int
    comm: str
    pid: int
    cpu: int
    name: str
    text: str
    stack: list[str] = field(default_factory=list)

    @cached_property
    def fields(self) -> dict[str, str]:
        """NAME=VALUE of the text."""
        return dict(FIELD.findall(self.text))

    def number(self, name: str) -> int:
        """A field that is a number.  Raises LabError if it is not one, or does not exist."""
        try:
            return int(self.fields[name], 0)
        except (KeyError, ValueError):
            raise LabError(f"trace: {self.name}: {self.text}: no {name}", exit_code=1) from None


def parse(lines: Iterable[str]) -> Iterator[Event]:
    """Events of a report.  Other lines are left out: headings, messages of the tool."""
    last: dict[int, Event] = {}
    slept: Event | None = None
    for line in lines:
        function = FUNCTION.match(line)
        if function:
            if slept and not function[1].startswith(MADE_BY_TRACING):
                slept.stack.append(function[1])
            continue
        match = LINE.match(line)
        if not match:
            continue
        comm, pid, cpu, seconds, nanos, name, text = match.groups()
        if name == STACK:
            slept = last.get(int(cpu))
            continue
        slept = None
        event = Event(int(seconds + nanos), comm, int(pid), int(cpu), name, text)
        last[event.cpu] = event
        yield event


def report(dat: Path) -> str:
    """What trace-cmd prints of its file.  Raises LabError if it cannot be read."""
    plain = [word for name in PLAIN for word in ("-n", name)]
    done = run("trace-cmd", "report", "-t", *plain, "-i", str(dat))
    if done.status:
        raise LabError(f"{dat}: {done.said.strip()[-200:]}", exit_code=1)
    return done.said


def read(dat: Path) -> list[Event]:
    """The events of a file of trace-cmd, in their order.  Raises LabError if it cannot be read."""
    return list(parse(report(dat).splitlines()))

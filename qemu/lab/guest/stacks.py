# SPDX-License-Identifier: GPL-2.0
"""What the kernel has shown of tasks and timers: why a program did not come to its end."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lab.guest.console import STAMP

# sched_show_task() of 6.12 and 7.2.
_TASK = re.compile(
    STAMP + r"task:(?P<name>.{1,15}?) +state:(?P<state>\S) .*?"
    r"pid:(?P<pid>\d+) .*?ppid:(?P<parent>\d+)"
)
_CALL = re.compile(STAMP + r" (?P<function>[\w.]+)\+0x[0-9a-f]+/0x[0-9a-f]+")
_END = re.compile(STAMP + r" </TASK>")
# print_cpu() of kernel/time/timer_list.c; of other clocks it says nothing true.
_CPU = re.compile(STAMP + r"cpu: (\d+)$")
_CLOCK = re.compile(STAMP + r" +\.get_time: +(\w+)")
_TIMER = re.compile(STAMP + r" #\d+: <\w+>, (\w+)")
_EXPIRES = re.compile(STAMP + r" # expires at .* to (-?\d+) nsecs\]")
KTHREADD = 2
# To show all this takes some seconds, with interrupts off.
LATE_S = 5.0


@dataclass(frozen=True)
class Stack:
    """A task and what it was in, the innermost function first; none of a task on a CPU."""

    name: str
    state: str
    pid: int
    parent: int
    calls: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.name}:{self.pid} {self.state}: {' < '.join(self.calls)}"

    @property
    def telling(self) -> bool:
        """Not one that sleeps until there is something to do for it."""
        return self.state in "DR" or self.parent not in (0, KTHREADD)


def _stacks(log: str) -> Iterator[Stack]:
    task: re.Match[str] | None = None
    calls: list[str] = []
    for line in [*log.splitlines(), "task:end state:X pid:0 ppid:0"]:
        begins = _TASK.match(line)
        if task and (begins or _END.match(line)):
            numbers = int(task["pid"]), int(task["parent"])
            yield Stack(task["name"], task["state"], *numbers, tuple(calls))
            task = None
        if begins:
            task, calls = begins, []
        call = _CALL.match(line)
        # With a question mark it is what an earlier call has left there.
        if call and task:
            calls.append(call["function"])


def telling(log: str) -> list[Stack]:
    """Those that say something, as they were shown last, in the order of their numbers."""
    last = {stack.pid: stack for stack in _stacks(log)}
    return [stack for _, stack in sorted(last.items()) if stack.telling]


def late(log: str) -> list[str]:
    """Timers that a CPU should have served LATE_S ago or before that."""
    cpu = clock = function = ""
    found = []
    for line in log.splitlines():
        if match := _CPU.match(line):
            cpu = match[1]
        elif match := _CLOCK.match(line):
            clock = match[1]
        elif match := _TIMER.match(line):
            function = match[1]
        elif (match := _EXPIRES.match(line)) and clock == "ktime_get":
            seconds = -int(match[1]) / 1e9
            if seconds >= LATE_S:
                found.append(f"CPU {cpu}: a timer is {seconds:.1f} s late: {function}")
    return found

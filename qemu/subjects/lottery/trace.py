# SPDX-License-Identifier: GPL-2.0
"""Three tasks on a CPU, as a picture: which one has it, and which one wins each draw."""

from __future__ import annotations

from pathlib import Path

from lab.guest.boot import Boot, Program
from lab.guest.machine import Machine
from lab.trace.record import Recording
from lab.trace.timeline import Lane
from lab.trace.traced import Picture, Traced
from lab.trace.waits import Span, What
from subjects.lottery.experiment import BOOTED, SHARE_SHIFT

SCRIPT = "lab/tasks.sh"
LASTS_S = 6
SHOWN_NS = 250_000_000
SETTLED_NS = 1_500_000_000
"""The first lottery task lets the others come only in the turns of fair tasks."""
TICK_NS = 120_000
"""How wide a draw is drawn."""
SHARES = {"three": 3, "two": 2, "one": 1}
NICE = {"three": 0, "two": 2, "one": 5}
"""The nice values whose weights (1024, 655, 335) are nearest to 3 : 2 : 1."""


def recording(name: str, label: str, commands: dict[str, str]) -> Recording:
    """The three tasks, each behind its command."""
    tasks = [f"{task} {command}" for task, command in commands.items()]
    program = Program(
        "tasks",
        ("busybox", "sh", f"/{SCRIPT}", str(LASTS_S), *tasks),
        files={SCRIPT: Path(__file__).with_name("tasks.sh")},
        image=("usr/bin/nice",),
        busy_s=LASTS_S,
    )
    machine = Machine(
        accel="icount",
        append=(f"lottery_pool={BOOTED}",),
        icount_shift=SHARE_SHIFT,
        root=False,
    )
    return Recording(name, label, Boot(name, machine, (program,)), ("sched_lottery",), LASTS_S)


def lanes(traced: Traced) -> tuple[int, int, list[Lane]]:
    """The tasks, and below them the draws, if there are any."""
    tasks = {name: traced.task(traced.pid(name)) for name in SHARES}
    begin = max(spans[0].begin_ns for spans in tasks.values()) + SETTLED_NS
    found = [Lane(name, spans) for name, spans in tasks.items()]
    draws = (event.time_ns for event in traced.named("lottery_draw"))
    drawn = [Span(time_ns, time_ns + TICK_NS, What.DRAW) for time_ns in draws]
    return begin, begin + SHOWN_NS, [*found, *([Lane("draws", drawn)] if drawn else [])]


PICTURE = Picture(
    "Three tasks that always want one CPU, 3 : 2 : 1",
    "what each task does, or waits for; below, the draws of the lottery, one a millisecond",
    "ms",
    (
        recording(
            "lottery-stock",
            "EEVDF, nice 0, 2 and 5",
            {task: f"nice -n {nice}" for task, nice in NICE.items()},
        ),
        recording(
            "lottery-ours",
            "lottery, 300, 200 and 100 tickets",
            {task: f"lottery -t {100 * share}" for task, share in SHARES.items()},
        ),
    ),
    lanes,
)

# SPDX-License-Identifier: GPL-2.0
"""Progress on a terminal and elsewhere."""

import io
from threading import Event

from lab.host.progress import Progress


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


class Clock:
    """Time that passes only when told, in seconds."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_terminal_rewrites_one_line() -> None:
    stream, clock = Terminal(), Clock()
    progress = Progress("kernel", 200, "objects", stream, clock)
    progress.update(50)
    clock.now = 1.0
    progress.update(200)
    progress.close()
    text = stream.getvalue()
    assert "\r\x1b[Kkernel: 50/200 objects (25 %)" in text
    assert text.endswith("\r\x1b[Kkernel: 200/200 objects (100 %)\n")
    assert text.count("\n") == 1


def test_elsewhere_plain_lines_rarely() -> None:
    stream, clock = io.StringIO(), Clock()
    progress = Progress("kernel", 100, "objects", stream, clock)
    for done in range(100):
        clock.now += 0.25
        progress.update(done)
    progress.close()
    lines = stream.getvalue().splitlines()
    assert lines == [
        "kernel: 39/100 objects (39 %)",
        "kernel: 79/100 objects (79 %)",
        "kernel: 99/100 objects (99 %)",
    ]
    assert "\r" not in stream.getvalue()


def test_bytes_are_shown_in_mebibytes() -> None:
    stream = io.StringIO()
    progress = Progress("unpacking", 4 << 20, "bytes", stream)
    progress.update(1 << 20)
    progress.close()
    assert stream.getvalue() == "unpacking: 1/4 MiB (25 %)\n"


def test_unknown_total() -> None:
    stream = io.StringIO()
    progress = Progress("kernel", 0, "objects", stream)
    progress.update(7)
    progress.close()
    assert stream.getvalue() == "kernel: 7 objects\n"


def test_an_estimate_that_was_too_small_never_passes_all_of_it() -> None:
    stream = io.StringIO()
    progress = Progress("kernel", 10, "objects", stream)
    progress.update(12)
    progress.close()
    assert stream.getvalue() == "kernel: 12/12 objects (100 %)\n"


def test_close_says_it_once() -> None:
    stream = io.StringIO()
    progress = Progress("kernel", 1, "objects", stream)
    progress.update(1)
    progress.close()
    progress.close()
    assert stream.getvalue().count("\n") == 1


def test_say_has_a_line_of_its_own() -> None:
    stream, clock = Terminal(), Clock()
    progress = Progress("kernel", 2, "objects", stream, clock)
    progress.update(1)
    progress.say("fork.c:1: error: no")
    progress.update(1)
    progress.close()
    assert "\r\x1b[Kfork.c:1: error: no\n\r\x1b[Kkernel: 1/2" in stream.getvalue()


def line(seconds: float, done: int, left: float | None = None) -> str:
    """What is shown after that time, of 100."""
    stream, clock = Terminal(), Clock()
    told = None if left is None else (lambda: left)
    progress = Progress("kernel", 100, "objects", stream, clock, told)
    clock.now = seconds
    progress.update(done)
    return stream.getvalue().removeprefix("\r\x1b[K")


def test_the_time_left_follows_from_the_pace() -> None:
    assert line(120, 40) == "kernel: 40/100 objects (40 %), 2 min done, 3 min left"
    assert line(29, 40) == "kernel: 40/100 objects (40 %)", "too early to say"
    assert line(120, 0) == "kernel: 0/100 objects (0 %)"
    assert line(120, 100) == "kernel: 100/100 objects (100 %)"


def test_who_knows_the_time_left_says_it() -> None:
    assert line(5, 0, 600) == "kernel: 0/100 objects (0 %), 5 s done, 10 min left"
    assert line(120, 50, 20) == "kernel: 50/100 objects (50 %), 2 min done, 20 s left"


def test_the_phase_may_change() -> None:
    stream = io.StringIO()
    progress = Progress("demo, on this machine", 2, "boots", stream)
    progress.label = "demo, in guests"
    progress.update(1)
    progress.close()
    assert stream.getvalue() == "demo, in guests: 1/2 boots (50 %)\n"


def test_times_go_on_while_nothing_is_reached() -> None:
    clock = Clock()
    shown = Event()

    class Waited(Terminal):
        def write(self, text: str) -> int:
            if "9 s done" in text:
                shown.set()
            return super().write(text)

    progress = Progress("demo", 2, "boots", Waited(), clock, lambda: 60.0)
    with progress.ticking(0.001):
        progress.update(1)
        clock.now = 9.0
        assert shown.wait(60)
    progress.close()

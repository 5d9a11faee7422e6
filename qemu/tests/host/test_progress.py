# SPDX-License-Identifier: GPL-2.0
"""Progress on a terminal and elsewhere."""

import io

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

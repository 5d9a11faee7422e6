# SPDX-License-Identifier: GPL-2.0
"""Progress on a terminal and elsewhere."""

import io

import pytest

from lab.host.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("seconds", "done", "left", "shown"),
    [
        (120, 40, 0, "40/100 objects (40 %), 2 min done, 3 min left"),
        # Too early to say, not begun, done.
        (29, 40, 0, "40/100 objects (40 %)"),
        (120, 0, 0, "0/100 objects (0 %)"),
        (120, 100, 0, "100/100 objects (100 %)"),
        (120, 112, 0, "112/112 objects (100 %)"),
        (5, 0, 600, "0/100 objects (0 %), 5 s done, 10 min left"),
    ],
)
def test_a_terminal_shows_one_line_with_the_time_left(
    seconds: float, done: int, left: float, shown: str
) -> None:
    stream, times = Terminal(), iter((0.0, *(seconds,) * 9))
    told = (lambda: left) if left else None
    progress = Progress("kernel", 100, "objects", stream, lambda: next(times), told)
    progress.update(done)
    progress.say("fork.c:1: error: no")
    progress.close()
    progress.close()
    line = f"\r\x1b[Kkernel: {shown}"
    assert stream.getvalue() == f"{line}\r\x1b[Kfork.c:1: error: no\n{line}\n"


def test_elsewhere_plain_lines_rarely() -> None:
    stream, times = io.StringIO(), iter(range(1000))
    progress = Progress("unpacking", 100 << 20, "bytes", stream, lambda: next(times) / 4)
    for done in range(100):
        progress.update(done << 20)
    progress.close()
    lines = stream.getvalue().splitlines()
    assert 2 < len(lines) < 6 and lines[-1].startswith("unpacking: 99/100 MiB (99 %)")
    assert "\r" not in stream.getvalue()

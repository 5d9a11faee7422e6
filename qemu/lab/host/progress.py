# SPDX-License-Identifier: GPL-2.0
"""How far a long step has come: one rewriting line on a terminal, plain lines otherwise."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Lock, Thread
from typing import TextIO

TTY_INTERVAL_S = 0.1
PLAIN_INTERVAL_S = 10.0
# Before that the pace of what is done says little of what is left.
PACE_S = 30.0
TICK_S = 1.0
MEBI = 1 << 20


class Progress:
    """Shows "label: done/total unit", the time since it began, and the time left.

    total 0 means unknown. left tells the seconds left; without it they follow from the
    pace, after half a minute. label names the phase and may be changed. The unit "bytes"
    is shown in MiB. update() may be called as often as one likes; it writes at most every
    0.1 s on a terminal, every 10 s elsewhere.
    """

    def __init__(
        self,
        label: str,
        total: int,
        unit: str,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
        left: Callable[[], float | None] | None = None,
    ) -> None:
        self.label = label
        self.total = total
        self.unit = unit
        self._stream = sys.stderr if stream is None else stream
        self._clock = clock
        self._left = left
        self._tty = self._stream.isatty()
        self._interval = TTY_INTERVAL_S if self._tty else PLAIN_INTERVAL_S
        self._began = clock()
        self._next = self._began + (0.0 if self._tty else self._interval)
        self._done = 0
        self._shown = -1
        self._closed = False
        self._lock = Lock()

    def update(self, done: int) -> None:
        """done is the absolute amount reached so far."""
        with self._lock:
            self._done = done
            self._show_if_due()

    def _show_if_due(self) -> None:
        now = self._clock()
        if now >= self._next:
            self._next = now + self._interval
            self._show()

    @contextmanager
    def ticking(self, seconds: float = TICK_S) -> Iterator[None]:
        """In the block the times go on while nothing is reached."""
        ended = Event()

        def tick() -> None:
            while not ended.wait(seconds):
                with self._lock:
                    self._show_if_due()

        thread = Thread(target=tick, daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def say(self, line: str) -> None:
        """Write a line of its own, such as a compiler's, without garbling the progress."""
        self._stream.write(f"\r\x1b[K{line}\n" if self._tty else f"{line}\n")
        self._stream.flush()
        self._next = self._clock() if self._tty else self._next

    def close(self) -> None:
        """Show the final amount, once, and end the line."""
        if self._closed:
            return
        self._closed = True
        if self._shown != self._done or self._tty:
            self._show()
        if self._tty:
            self._stream.write("\n")
            self._stream.flush()

    def _show(self) -> None:
        self._shown = self._done
        line = f"{self.label}: {self._amount()}"
        if self._tty:
            self._stream.write(f"\r\x1b[K{line}")
        else:
            self._stream.write(line + "\n")
        self._stream.flush()

    def _amount(self) -> str:
        done, total, unit = self._done, self.total, self.unit
        if unit == "bytes":
            done, total, unit = done // MEBI, total // MEBI, "MiB"
        if not total:
            return f"{done} {unit}"
        # An estimated total may turn out too small; never show 105 %.
        total = max(total, done)
        return f"{done}/{total} {unit} ({100 * done // max(total, 1)} %){self._times(done, total)}"

    def _times(self, done: int, total: int) -> str:
        """What it took so far and takes yet, where the latter is known."""
        took = self._clock() - self._began
        if self._left:
            left = self._left()
        else:
            left = took * (total - done) / done if done and took >= PACE_S else None
        if left is None or done >= total:
            return ""
        return f", {duration(took)} done, {duration(left)} left"


def duration(seconds: float) -> str:
    """As a person says it: 40 s, 12 min, 3 h 5 min."""
    minutes, rest = divmod(round(seconds), 60)
    if not minutes:
        return f"{rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"

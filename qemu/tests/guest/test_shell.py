# SPDX-License-Identifier: GPL-2.0
"""The interactive shell, typed at through a terminal of our own."""

import os
import pty
import select
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from lab.paths import Paths

BOOT_S = 120.0
ANSWER_S = 60.0
WINDOW = (33, 101)


@dataclass
class Typist:
    """Somebody at a terminal that `lab run` was started in."""

    terminal: int
    child: "subprocess.Popen[bytes]"
    seen: bytes = field(default=b"")

    def wait_for(self, text: bytes, timeout_s: float) -> bytes:
        """Read until the text shows, carriage returns aside. Returns what came before it."""
        deadline = time.monotonic() + timeout_s
        while text not in self.seen:
            left = deadline - time.monotonic()
            assert left > 0, f"no {text!r} in {self.seen!r}"
            if select.select([self.terminal], [], [], left)[0]:
                self.seen += os.read(self.terminal, 65536).replace(b"\r", b"")
        before, _, self.seen = self.seen.partition(text)
        return before

    def wait_for_end(self, timeout_s: float) -> int:
        """Read until nobody is left at the other end. Returns the exit code."""
        deadline = time.monotonic() + timeout_s
        try:
            while (left := deadline - time.monotonic()) > 0:
                if select.select([self.terminal], [], [], left)[0]:
                    os.read(self.terminal, 65536)
        except OSError:
            return self.child.wait(timeout_s)
        raise AssertionError(f"the shell still runs after {timeout_s:g} s")

    def type(self, text: bytes) -> None:
        """Press keys."""
        os.write(self.terminal, text)


@pytest.fixture
def typist(lab_paths: Paths) -> Iterator[Typist]:
    """A shell that is about to boot."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, WINDOW)
    env = {
        **os.environ,
        "LAB_OUT": str(lab_paths.out),
        "PYTHONPATH": str(lab_paths.qemu),
        "LAB_KERNEL": "guest",
        "TERM": "xterm",
    }
    # Set, these would be taken for the window's size.
    for name in ("LINES", "COLUMNS"):
        env.pop(name, None)
    child = subprocess.Popen(
        [sys.executable, "-m", "lab", "run"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=env,
        start_new_session=True,
    )
    os.close(theirs)
    yield Typist(ours, child)
    if child.poll() is None:
        child.kill()
    child.wait()
    os.close(ours)


def test_shell(typist: Typist) -> None:
    """It has our window, job control and Ctrl-C; leaving it powers off with exit 0."""
    typist.wait_for(b"# ", BOOT_S)
    typist.type(b"echo mark $((6 * 7)); stty size; echo $TERM; tty\r")
    typist.wait_for(b"mark 42\n", ANSWER_S)
    typist.wait_for(b"33 101\nxterm\n/dev/ttyS0\n", ANSWER_S)
    # The shell is done with the line when it leaves its editor's mode; what then
    # comes back twice, once from the terminal, shows that cat is in front.
    typist.type(b"cat\r")
    typist.wait_for(b"\x1b[?2004l", ANSWER_S)
    typist.type(b"same\r")
    typist.wait_for(b"same\nsame\n", ANSWER_S)
    typist.type(b"\x03")
    typist.wait_for(b"# ", ANSWER_S)
    typist.type(b"echo after $?\r")
    typist.wait_for(b"after 130\n", ANSWER_S)
    typist.type(b"exit\r")
    assert typist.wait_for_end(ANSWER_S) == 0


def test_way_out(typist: Typist) -> None:
    """Ctrl-A X ends a guest in any state."""
    typist.wait_for(b"# ", BOOT_S)
    typist.type(b"\x01x")
    assert typist.wait_for_end(ANSWER_S) == 0

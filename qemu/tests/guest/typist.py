# SPDX-License-Identifier: GPL-2.0
"""Somebody who types into the shell of a guest, through a terminal of our own."""

import os
import pty
import select
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from lab.paths import Paths

BOOT_S = 120.0
ANSWER_S = 60.0
WINDOW = (33, 101)
MONITOR = b"\x01c"
"""Ctrl-A C: to QEMU's own prompt, and back."""


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

    def tell_qemu(self, command: bytes) -> None:
        """Give QEMU a command of its monitor's."""
        self.type(MONITOR)
        self.wait_for(b"(qemu) ", ANSWER_S)
        self.type(command + b"\r")
        self.wait_for(b"(qemu) ", ANSWER_S)
        self.type(MONITOR)


@contextmanager
def at_the_shell(lab_paths: Paths, environ: Mapping[str, str]) -> Iterator[Typist]:
    """A shell that is about to boot, as the variables in `environ` want the guest."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, WINDOW)
    env = {
        **os.environ,
        "LAB_OUT": str(lab_paths.out),
        "PYTHONPATH": str(lab_paths.qemu),
        "LAB_KERNEL": "guest",
        "TERM": "xterm",
        **environ,
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
    try:
        yield Typist(ours, child)
    finally:
        if child.poll() is None:
            child.kill()
        child.wait()
        os.close(ours)

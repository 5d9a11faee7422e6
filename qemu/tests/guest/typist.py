# SPDX-License-Identifier: GPL-2.0
"""Types into the shell of a guest, through a terminal of its own."""

import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import pexpect

from lab.paths import Paths

BOOT_S = 120.0
ANSWER_S = 60.0
WINDOW = (33, 101)
MONITOR = b"\x01c"
"""Ctrl-A C: to QEMU's own prompt, and back."""


@dataclass
class Typist:
    """A terminal that `lab run` was started in."""

    child: "pexpect.spawn[bytes]"

    def wait_for(self, text: bytes, timeout_s: float = ANSWER_S) -> bytes:
        """Read until the text shows, carriage returns aside. Returns what came before it."""
        lines = (re.escape(line) for line in text.split(b"\n"))
        self.child.expect(rb"\r*\n".join(lines), timeout=timeout_s)
        before = self.child.before
        return before.replace(b"\r", b"") if isinstance(before, bytes) else b""

    def wait_for_end(self) -> int | None:
        """Read until nothing is left at the other end. Returns the exit code."""
        self.child.expect(pexpect.EOF, timeout=ANSWER_S)
        self.child.wait()
        return self.child.exitstatus

    def type(self, text: bytes) -> None:
        """Press keys."""
        self.child.send(text)

    def enter(self, line: bytes, *answers: bytes) -> None:
        """Type a line, and read until each of the answers has shown."""
        self.type(line + b"\r")
        for answer in answers:
            self.wait_for(answer)

    def leave(self, command: bytes = b"exit") -> int | None:
        """End the guest. Returns the exit code."""
        self.enter(command)
        return self.wait_for_end()

    def tell_qemu(self, command: bytes) -> None:
        """Give QEMU a command of its monitor's."""
        self.type(MONITOR)
        self.wait_for(b"(qemu) ")
        self.enter(command, b"(qemu) ")
        self.type(MONITOR)


def lab_environment(lab_paths: Paths) -> dict[str, str]:
    """In which `lab` runs as in this checkout, with what was built."""
    lab = {"LAB_OUT": str(lab_paths.out), "PYTHONPATH": str(lab_paths.qemu), "LAB_KERNEL": "guest"}
    return {**os.environ, **lab}


@contextmanager
def at_the_shell(lab_paths: Paths, environ: Mapping[str, str]) -> Iterator[Typist]:
    """A shell that is about to boot, as the variables in `environ` want the guest."""
    # Set, LINES and COLUMNS would be taken for the window's size.
    env = lab_environment(lab_paths)
    for name in ("LINES", "COLUMNS"):
        env.pop(name, None)
    child: pexpect.spawn[bytes] = pexpect.spawn(
        sys.executable,
        ["-m", "lab", "run"],
        env={**env, "TERM": "xterm", **environ},
        dimensions=WINDOW,
    )
    # Keys arrive when they are pressed.
    child.delaybeforesend = None
    try:
        yield Typist(child)
    finally:
        child.close(force=True)

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

    def wait_for(self, text: bytes, timeout_s: float) -> bytes:
        """Read until the text shows, carriage returns aside. Returns what came before it."""
        lines = (re.escape(line) for line in text.split(b"\n"))
        self.child.expect(rb"\r*\n".join(lines), timeout=timeout_s)
        before = self.child.before
        return before.replace(b"\r", b"") if isinstance(before, bytes) else b""

    def wait_for_end(self, timeout_s: float) -> int | None:
        """Read until nothing is left at the other end. Returns the exit code."""
        self.child.expect(pexpect.EOF, timeout=timeout_s)
        self.child.wait()
        return self.child.exitstatus

    def type(self, text: bytes) -> None:
        """Press keys."""
        self.child.send(text)

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
    # Set, LINES and COLUMNS would be taken for the window's size.
    env = {name: text for name, text in os.environ.items() if name not in ("LINES", "COLUMNS")}
    lab = {"LAB_OUT": str(lab_paths.out), "PYTHONPATH": str(lab_paths.qemu), "LAB_KERNEL": "guest"}
    child: pexpect.spawn[bytes] = pexpect.spawn(
        sys.executable,
        ["-m", "lab", "run"],
        env={**env, **lab, "TERM": "xterm", **environ},
        dimensions=WINDOW,
    )
    # Keys arrive when they are pressed.
    child.delaybeforesend = None
    try:
        yield Typist(child)
    finally:
        child.close(force=True)

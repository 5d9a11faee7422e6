# SPDX-License-Identifier: GPL-2.0
"""The words that the guest and the host have to agree on.

They stand once, with what each means, in userland/lib/protocol.h.
"""

import re
from pathlib import Path

from lab import LabError
from lab.paths import Paths

HEADER = "userland/lib/protocol.h"
DEFINE = re.compile(r'^#define[ \t]+(\w+)[ \t]+(?:"([^"\\]*)"|(\d+))$', re.MULTILINE)


class Protocol:
    """The defines of a header. Asking for one that it lacks raises LabError."""

    def __init__(self, header: Path) -> None:
        self._header = header
        try:
            text = header.read_text()
        except OSError as error:
            raise LabError(f"{header}: {error.strerror}", exit_code=1) from error
        found = DEFINE.findall(text)
        self._texts = {name: text for name, text, number in found if not number}
        self._numbers = {name: number for name, _, number in found if number}

    def _of(self, kind: str, found: dict[str, str], name: str) -> str:
        if name not in found:
            raise LabError(f"{self._header}: no {kind} {name} in it", exit_code=1)
        return found[name]

    def text(self, name: str) -> str:
        """A string."""
        return self._of("string", self._texts, name)

    def number(self, name: str) -> int:
        return int(self._of("number", self._numbers, name))


_HERE = Protocol(Paths.from_env().top / HEADER)

RESULT_PORT = _HERE.text("RESULT_PORT")
ROOT_WORD = _HERE.text("ROOT_WORD")
PLAN_FILE = _HERE.text("PLAN_FILE")
TIMEOUT_MAX_S = _HERE.number("TIMEOUT_MAX_S")
PROGRAM_DIR = _HERE.text("PROGRAM_DIR")
MODULE_DIR = _HERE.text("MODULE_DIR")
SHELL_START = _HERE.text("SHELL_START")
DISK_FILE = _HERE.text("DISK_FILE")
RESULTS_DONE = _HERE.text("RESULTS_DONE")
COMMAND_EXIT = _HERE.text("COMMAND_EXIT")
GAVE_UP = _HERE.text("GAVE_UP")
REASON_TIMEOUT = _HERE.text("REASON_TIMEOUT")
REASON_EXIT = _HERE.text("REASON_EXIT")
STATUS_FAILED = _HERE.number("STATUS_FAILED")
STATUS_SKIPPED = _HERE.number("STATUS_SKIPPED")
LOG_NAME = _HERE.text("LOG_NAME")
LOG_BEGIN = _HERE.text("LOG_BEGIN")
LOG_END = _HERE.text("LOG_END")


def in_archive(path: str) -> str:
    """A path of the guest as the initramfs names it."""
    return path.removeprefix("/")


def module(name: str) -> str:
    """A kernel module as the initramfs names it."""
    return in_archive(f"{MODULE_DIR}/{name}.ko")

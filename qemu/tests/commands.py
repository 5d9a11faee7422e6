# SPDX-License-Identifier: GPL-2.0
"""The commands of the `dry` blocks, executed: make test-long PART=documents, which takes hours.

They use this checkout and its output directory. The name of this file is not that of a test, so
that it runs only where it is named: make test and the mutants leave it out.
"""

import os
import re
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from lab.paths import Paths
from tests.documents import TOP, every
from tests.host.checkouts import environment

LEFT_OUT = {
    r"make test( .*)?": "this is a test",
    r"make run(?! CMD=).*": "a shell needs a terminal: test_shell.py types into one",
    r"make deb CONFIG=.*": "a container has none in /boot, and Debian's takes hours",
    r"make figures": "it changes the documents of the checkout: test_quotes.py has others",
    r"make compare .*": "benchstat is no package of Debian's: test_compare.py has another one",
}
"""Commands that are not executed, and why."""
LONGEST_S = 3 * 3600
MISSED = re.compile(r"measured goals met\n(missed: .*\n)*(not finished: .*\n)*make: ")
"""What make bench ends with if it did its work, and a goal was missed or its time was up."""


def commands() -> list[str]:
    """Each once, in the order of the documents."""
    found = dict.fromkeys(one for block in every("dry") for one in block.commands())
    return [one for one in found if not any(re.fullmatch(left, one) for left in LEFT_OUT)]


@pytest.mark.parametrize("command", commands())
def test_the_command_works(lab_paths: Paths, tmp_path: Path, command: str) -> None:
    log = lab_paths.logs / "documents" / f"{'-'.join(re.findall('[A-Za-z0-9]+', command))}.log"
    # What is not for the output directory does not stay.
    line = command.replace("../", f"{tmp_path}/").replace("> ", f"> {tmp_path}/")
    env = {**environment(), "O": str(lab_paths.out)}
    log.parent.mkdir(parents=True, exist_ok=True)
    with (
        log.open("w") as out,
        subprocess.Popen(
            ["sh", "-c", line],
            cwd=TOP,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            process_group=0,
        ) as child,
    ):
        try:
            status = child.wait(LONGEST_S)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
    assert status == 0 or MISSED.search(log.read_text()), f"exit {status}: {log}"

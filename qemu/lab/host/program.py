# SPDX-License-Identifier: GPL-2.0
"""Programs of the host that are for root, found though they are not in a user's PATH."""

import os
import subprocess
from dataclasses import dataclass

from lab.host.deps import SBIN


@dataclass(frozen=True)
class Done:
    """A program that has ended: its status, and all that it said."""

    status: int
    said: str


def run(*argv: str, stdin: str = "") -> Done:
    """Run a program to its end, in English."""
    path = os.pathsep.join((os.environ.get("PATH", os.defpath), *SBIN))
    done = subprocess.run(
        argv,
        env={**os.environ, "PATH": path, "LC_ALL": "C"},
        input=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    return Done(done.returncode, done.stdout)

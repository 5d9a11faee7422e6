# SPDX-License-Identifier: GPL-2.0
"""Programs of the host, those for root too, found though they are not in a user's PATH."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

SBIN = ("/usr/local/sbin", "/usr/sbin", "/sbin")


def search_path() -> str:
    """Where programs are looked for."""
    return os.pathsep.join((os.environ.get("PATH", os.defpath), *SBIN))


@dataclass(frozen=True)
class Done:
    status: int
    said: str


def run(
    *argv: str,
    stdin: str = "",
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    timeout_s: float | None = None,
) -> Done:
    """Run a program to its end, in English; env is all of its environment but for that."""
    done = subprocess.run(
        argv,
        cwd=cwd,
        env={**(os.environ if env is None else env), "PATH": search_path(), "LC_ALL": "C"},
        input=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=timeout_s,
        check=False,
    )
    return Done(done.returncode, done.stdout)


def logged(
    argv: Sequence[str],
    log: Path,
    mode: str = "w",
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> int:
    """Run a program, all that it says to a log; its exit status."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open(mode) as out:
        return subprocess.run(
            argv, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=out, check=False
        ).returncode

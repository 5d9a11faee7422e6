# SPDX-License-Identifier: GPL-2.0
"""What the tests of our programs have in common: a run, a refusal, a condition to wait for."""

import os
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from lab.tree.export import IDENTITY

TIMEOUT_S = 120
Done = subprocess.CompletedProcess[str]


def run(*argv: str | Path, env: Mapping[str, str] | None = None, cwd: Path | None = None) -> Done:
    return subprocess.run(
        [str(word) for word in argv],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
        env=env,
        cwd=cwd,
    )


def git(where: Path, *words: str) -> str:
    """What git says there; a commit is made by a name of the lab's."""
    done = run("git", "-C", where, *IDENTITY, *words)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def assert_refused(done: Done, said: str, status: int = 2) -> None:
    """In one line on standard error, and nothing was printed."""
    assert (done.returncode, done.stdout) == (status, "")
    (line,) = done.stderr.splitlines()
    assert said in line


def wait_until(condition: Callable[[], bool], seconds: float = TIMEOUT_S) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def children(pid: int) -> list[str]:
    """Those of the first thread of a process, as the kernel lists them."""
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def one_cpu() -> int:
    return min(os.sched_getaffinity(0))

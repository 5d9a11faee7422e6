# SPDX-License-Identifier: GPL-2.0
"""lottery top on the host: bad input, and no word to a terminal that is not there."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from lab.paths import Paths


def top(paths: Paths, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [paths.bin / "lottery", "top", *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--delay", "0"), "--delay: bad value '0': allowed 1..3600"),
        (("-d", "3601"), "--delay: bad value '3601': allowed 1..3600"),
        (("-d", "0.5"), "--delay: bad value '0.5'"),
        (("--count", "0"), "--count: bad value '0': allowed 1..1000000000"),
        (("-n", "1000000001"), "--count: bad value '1000000001'"),
        (("-n", "-1"), "--count: bad value '-1'"),
        (("--sort", "pid"), "--sort: bad value 'pid': allowed tickets, got"),
        (("-s", ""), "--sort: bad value ''"),
        (("--delay",), "option --delay needs a value"),
        (("-n",), "option -n needs a value"),
        (("--batch", "now"), "unexpected argument 'now'"),
        (("-p", "1"), "unknown option '-p'"),
        (("--max",), "unknown or ambiguous option '--max'"),
    ],
)
def test_bad_input(lab_paths: Paths, words: tuple[str, ...], said: str) -> None:
    done = top(lab_paths, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"lottery: {said}") and done.stderr.count("\n") == 1


def test_help_is_that_of_the_tool(lab_paths: Paths) -> None:
    done = top(lab_paths, "--help")
    assert done.returncode == 0 and "lottery top [-d S]" in done.stdout


def test_without_a_terminal(lab_paths: Paths) -> None:
    """A block of plain text, or, where the class is missing, a line that says so."""
    done = top(lab_paths, "--count", "1")
    if Path("/proc/sched_lottery").exists():
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("lottery top: ") and "\033" not in done.stdout
    else:
        assert (done.returncode, done.stdout) == (3, "")
        assert done.stderr.startswith("lottery: this kernel lacks SCHED_LOTTERY")

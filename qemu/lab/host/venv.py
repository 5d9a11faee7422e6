# SPDX-License-Identifier: GPL-2.0
"""The Python environment, $(O)/venv: what qemu/requirements.lock names, by hash."""

import argparse
import shutil
import sys
from pathlib import Path

from lab import LabError
from lab.host.program import logged
from lab.paths import Paths

PIP = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes")


def make(paths: Paths) -> None:
    """Make the environment anew. Its copy of the lock comes last and says that it is whole."""
    lock = paths.qemu / "requirements.lock"
    log = paths.logs / "venv.log"
    print(f"lab: Python environment in {paths.venv}", file=sys.stderr, flush=True)
    python = str(paths.venv / "bin/python")
    new = [sys.executable, "-m", "venv", "--clear", str(paths.venv)]
    if logged(new, log) or logged([python, *PIP, "-r", str(lock)], log, "a"):
        raise LabError(f"no Python environment: {_why(log)}; all of it: {log}", 1)
    shutil.copyfile(lock, paths.venv / "lock")


def _why(log: Path) -> str:
    """The line of the log that says most: pip's first error, or else the last line."""
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR: ")]
    return (errors or lines[-1:] or ["it said nothing"])[0]


def verb(_: argparse.Namespace) -> None:
    make(Paths.from_env())

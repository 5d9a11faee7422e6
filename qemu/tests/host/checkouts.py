# SPDX-License-Identifier: GPL-2.0
"""Copies of this checkout, as far as make and the set-up verbs need it, and make run in them."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from lab.paths import Paths
from lab.tree import kernel
from tests.host.programs import Done

TOP = Paths.from_env({}).top
FILES = ("Makefile", "paths.mk", "qemu/requirements.lock", "userland/lib/protocol.h")
# What a person's shell does not set.
HIDDEN = (
    *kernel.HIDDEN,
    *("BUDGET", "A", "B"),
    *("PYTHONPATH", "PYTHONPYCACHEPREFIX", "PYTHONDONTWRITEBYTECODE"),
)


def copied(where: Path) -> Path:
    """A checkout there: the Makefile, the lab, and what they read."""
    where.mkdir(parents=True)
    for name in FILES:
        (where / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(TOP / name, where / name)
    unwanted = shutil.ignore_patterns("__pycache__")
    for name in ("qemu/lab", "qemu/subjects", "configs"):
        shutil.copytree(TOP / name, where / name, ignore=unwanted)
    return where


def environment() -> dict[str, str]:
    """As in a person's shell: nothing of the make that runs the tests."""
    return {
        name: value
        for name, value in os.environ.items()
        if name not in HIDDEN and not name.startswith("LAB_")
    }


def ran(*argv: str | Path, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> Done:
    return subprocess.run(argv, cwd=cwd, env=env, capture_output=True, text=True, check=False)


def make(*words: str, top: Path = TOP, env: Mapping[str, str] | None = None) -> Done:
    return ran("make", *words, cwd=top, env={**environment(), **(env or {})})


def script(path: Path, text: str) -> Path:
    """A program of that text; what it is in is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def names(top: Path) -> list[str]:
    return sorted(str(path.relative_to(top)) for path in top.glob("**/*"))

# SPDX-License-Identifier: GPL-2.0
"""A few files that look like a kernel source, as a directory, a tarball, or a checkout of ours."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lab.arch import ARCH
from lab.paths import Paths
from lab.tree import patches as patches_

CORE_C = "".join(f"line {number}\n" for number in range(1, 21))
FAIR_C = "int fair;\n"


def makefile(version: str) -> str:
    """The start of a kernel's top Makefile."""
    major, minor, patch = version.split(".")
    return (
        "# SPDX-License-Identifier: GPL-2.0\n"
        f"VERSION = {major}\nPATCHLEVEL = {minor}\nSUBLEVEL = {patch}\nEXTRAVERSION =\n"
    )


def tree(top: Path, version: str = "6.12.117") -> Path:
    """A source directory."""
    files = {
        "Makefile": makefile(version),
        "Kconfig": 'config HAVE_IT\n\tbool "Have it"\n',
        "kernel/sched/core.c": CORE_C,
        "kernel/sched/fair.c": FAIR_C,
        "kernel/sched/old.c": "int old;\n",
    }
    for name, text in files.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return top


def tarball(where: Path, version: str = "6.12.117", name: str = "linux-source-6.12.tar.xz") -> Path:
    """A tarball of such a directory, packed as Debian packs it."""
    inside = tree(where / f"pack-{version}" / "linux-source-6.12", version)
    where.mkdir(parents=True, exist_ok=True)
    target = where / name
    create = ["tar", "--create", "--auto-compress", f"--file={target}"]
    subprocess.run([*create, "-C", inside.parent, inside.name], check=True)
    return target


def checkout(tmp_path: Path, patches: dict[str, str] | None = None) -> Paths:
    """A checkout with these patches in its series, and an output directory."""
    paths = Paths(tmp_path / "top", tmp_path / "out")
    paths.patches.mkdir(parents=True)
    paths.out.mkdir()
    set_series(paths, patches or {})
    return paths


def set_series(paths: Paths, patches: dict[str, str]) -> None:
    """Replace the series."""
    for old in paths.patches.glob("*.patch"):
        old.unlink()
    for name, text in patches.items():
        (paths.patches / name).write_text(text)
    (paths.patches / "series").write_text("# a comment\n\n" + "".join(f"{n}\n" for n in patches))


# The reason that a patch made here gives in its message.
WHY = (
    "The line says 5 where a word is wanted: read aloud, one could not\n"
    "tell it from a digit of the number before."
)


def patch(
    name: str = "kernel/sched/core.c",
    old: tuple[str, ...] = ("line 4", "line 5", "line 6"),
    new: tuple[str, ...] = ("line 4", "line five", "line 6"),
    at: int = 4,
) -> str:
    """A patch as git format-patch writes it; lines that old and new share are context."""
    body: list[str] = []
    for before, after in zip(old, new, strict=True):
        body += [f" {before}"] if before == after else [f"-{before}", f"+{after}"]
    return (
        "From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\n"
        "From: A Hacker <hacker@localhost>\n"
        "Date: Wed, 1 Jan 2025 00:00:00 +0000\n"
        "Subject: [PATCH] sched: Change a line\n\n"
        f"{WHY}\n\n"
        "Signed-off-by: A Hacker <hacker@localhost>\n"
        "---\n"
        f" {name} | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)\n\n"
        f"diff --git a/{name} b/{name}\n"
        f"--- a/{name}\n"
        f"+++ b/{name}\n"
        f"@@ -{at},{len(old)} +{at},{len(new)} @@\n" + "\n".join(body) + "\n-- \n2.39.5\n"
    )


def snapshot(top: Path) -> dict[str, tuple[bytes, int]]:
    """Content and time of every file below a directory."""
    return {
        str(path.relative_to(top)): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in sorted(top.glob("**/*"))
        if path.is_file()
    }


def prepared(tmp_path: Path) -> Paths:
    """A checkout whose $(O)/linux is there, without any patch, and its configs/."""
    paths = checkout(tmp_path)
    tarball(tmp_path)
    patches_.prepare(paths, "", tmp_path)
    (paths.configs / "arch").mkdir(parents=True)
    (paths.configs / f"arch/{ARCH.name}.config").write_text("CONFIG_ARCH=y\n")
    for name in ("base", "guest", "features", "kunit", "debug"):
        (paths.configs / f"{name}.config").write_text(f"CONFIG_{name.upper()}=y\n")
    return paths


@dataclass
class FakeMake:
    """The make that PATH finds first, and how it is told what to do."""

    monkeypatch: pytest.MonkeyPatch
    log: Path

    def tell(self, **orders: str) -> None:
        """Set FAKE_MAKE_<ORDER> (see fake_kernel_make.py)."""
        for name, value in orders.items():
            self.monkeypatch.setenv(f"FAKE_MAKE_{name.upper()}", value)

    def calls(self) -> list[list[str]]:
        """Arguments of every call so far."""
        return [call["argv"] for call in self._read()]

    def environments(self) -> list[dict[str, str]]:
        """Environment of every call so far."""
        return [call["env"] for call in self._read()]

    def _read(self) -> list[dict[str, Any]]:
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [json.loads(line) for line in lines]


def fake_make(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FakeMake:
    """Put the fake make first in PATH."""
    directory = tmp_path / "fake-bin"
    directory.mkdir()
    program = directory / "make"
    script = Path(__file__).with_name("fake_kernel_make.py")
    program.write_text(f'#!/bin/sh\nexec {sys.executable} {script} "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(directory), prepend=os.pathsep)
    log = tmp_path / "fake-make.log"
    monkeypatch.setenv("FAKE_MAKE_LOG", str(log))
    return FakeMake(monkeypatch, log)

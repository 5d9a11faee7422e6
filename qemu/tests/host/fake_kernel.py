# SPDX-License-Identifier: GPL-2.0
"""A few files that look like a kernel source, as a directory, a tarball, or a checkout of ours."""

import os
import subprocess
from pathlib import Path

import pytest

from lab.arch import ARCH
from lab.paths import Paths
from lab.tree import patches as patches_
from tests.host.checkouts import script

CORE_C = "".join(f"line {number}\n" for number in range(1, 21))


def makefile(version: str) -> str:
    major, minor, patch = version.split(".")
    return (
        "# SPDX-License-Identifier: GPL-2.0\n"
        f"VERSION = {major}\nPATCHLEVEL = {minor}\nSUBLEVEL = {patch}\nEXTRAVERSION =\n"
    )


def tree(top: Path, version: str = "6.12.117") -> Path:
    files = {
        "Makefile": makefile(version),
        "Kconfig": 'config HAVE_IT\n\tbool "Have it"\n',
        "kernel/sched/core.c": CORE_C,
        "kernel/sched/fair.c": "int fair;\n",
        "kernel/sched/old.c": "int old;\n",
    }
    for name, text in files.items():
        script(top / name, text)
    return top


def tarball(where: Path, version: str = "6.12.117", name: str = "linux-source-6.12.tar.xz") -> Path:
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
    return {
        str(path.relative_to(top)): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in sorted(top.glob("**/*"))
        if path.is_file()
    }


def prepared(tmp_path: Path, patches: dict[str, str] | None = None) -> Paths:
    """A checkout whose $(O)/linux is there, with these patches, and its configs/."""
    paths = checkout(tmp_path, patches)
    tarball(tmp_path)
    patches_.prepare(paths, "", tmp_path)
    for name in (f"arch/{ARCH.name}", "base", "guest", "features", "kunit", "debug"):
        symbol = name.partition("/")[0].upper()
        script(paths.configs / f"{name}.config", f"CONFIG_{symbol}=y\n")
    return paths


# A make that behaves like kbuild as far as the lab looks.
MAKE = r"""#!/bin/sh
printf '%s\037' "$@" >>{log}
echo >>{log}
env >>{log}.env
for word; do
	case $word in
	O=*) out=${{word#*=}} ;;
	KCONFIG_ALLCONFIG=*) asked=${{word#*=}} ;;
	esac
done
case "$*" in
*allnoconfig* | *alldefconfig*)
	grep -vE "CONFIG_($FAKE_MAKE_DROP)=" "$asked" >"$out/.config"
	printf '%s' "${{FAKE_MAKE_FORCE:+$FAKE_MAKE_FORCE
}}" >>"$out/.config" ;;
esac
printf '%s\n' "$FAKE_MAKE_SAYS"
[ -z "$FAKE_MAKE_EXIT" ] || exit "$FAKE_MAKE_EXIT"
case "$*" in *{image}*) touch "$out/vmlinux" ;; esac
"""


class FakeMake:
    """The make that PATH finds first, and how it is told what to do."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, where: Path) -> None:
        self._monkeypatch = monkeypatch
        self._log = where / "make.log"
        script(where / "make", MAKE.format(log=self._log, image=ARCH.image_target))
        monkeypatch.setenv("PATH", str(where), prepend=os.pathsep)

    def tell(self, says: str = "", exit: str = "", drop: str = "", force: str = "") -> None:
        """Say that, end so; lose these options (A|B) of what is asked for, set this one."""
        orders = {"SAYS": says, "EXIT": exit, "DROP": drop, "FORCE": force}
        for name, value in orders.items():
            self._monkeypatch.setenv(f"FAKE_MAKE_{name}", value)

    def calls(self) -> list[list[str]]:
        lines = self._log.read_text().splitlines() if self._log.exists() else []
        return [line.split("\37")[:-1] for line in lines]

    def environment(self) -> list[str]:
        return Path(f"{self._log}.env").read_text().splitlines()

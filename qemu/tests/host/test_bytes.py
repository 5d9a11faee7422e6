# SPDX-License-Identifier: GPL-2.0
"""What a guest consists of is the same in every folder: in virtual time each byte counts."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path

from lab.guest import initrd
from lab.paths import Paths
from tests.host.checkouts import environment

TOP = Paths.from_env({}).top
PROGRAMS = ("init", "bin/lottery-bench", "libexec/wrais-times")


def _copy(top: Path) -> Path:
    """What userland/ needs, in another folder."""
    shutil.copytree(TOP / "userland", top / "userland")
    shutil.copytree(TOP / "modules/napi_livelock", top / "modules/napi_livelock")
    shutil.copy(TOP / "paths.mk", top)
    return top


def _built(top: Path, out: Path) -> Paths:
    """Some of the programs, made of the copy below top."""
    targets = [str(out / "userland" / name) for name in PROGRAMS]
    argv = ["make", "-s", "-j2", "-C", str(top / "userland"), f"O={out}", *targets]
    done = subprocess.run(argv, capture_output=True, text=True, env=environment(), check=False)
    assert done.returncode == 0, done.stderr
    return Paths(top, out)


def _sums(paths: Paths) -> dict[str, str]:
    found = {
        name: hashlib.sha256((paths.userland / name).read_bytes()).hexdigest() for name in PROGRAMS
    }
    return {**found, "initramfs": hashlib.sha256(initrd.build(paths, "mode\tplan\n")).hexdigest()}


def test_programs_are_the_same_bytes_in_every_folder(tmp_path: Path) -> None:
    """Where the sources lie, where the output goes, and when: the bytes do not tell."""
    one, two = tmp_path / "one", tmp_path / "another/folder/with-a-longer-name"
    first = _sums(_built(_copy(one), one / "build"))
    second = _sums(_built(_copy(two), tmp_path / "out"))
    assert first == second

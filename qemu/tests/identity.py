# SPDX-License-Identifier: GPL-2.0
"""What is tested, by its bytes: two runs with the same sums have booted the same guests."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

from lab.paths import Paths


def _sum(files: Iterable[Path]) -> str:
    """One sum of one file, as sha256sum prints it; of several, over their names and sums."""
    found = []
    for file in files:
        if not file.is_file():
            return "not built"
        with file.open("rb") as stream:
            found.append((file.name, hashlib.file_digest(stream, "sha256").hexdigest()))
    if len(found) == 1:
        return found[0][1]
    return hashlib.sha256("".join(f"{sum}  {name}\n" for name, sum in found).encode()).hexdigest()


def header(paths: Paths, variant: str) -> list[str]:
    """Lines for pytest's header: kernel, PID 1, all programs, root image."""
    programs = sorted(file for folder in (paths.bin, paths.libexec) for file in folder.glob("*"))
    parts = {
        f"kernel-{variant}": [paths.boot_image(variant)],
        "init": [paths.init],
        "programs": programs or [paths.bin],
        "root image": [paths.rootfs],
    }
    return [f"sha256 of {name}: {_sum(files)}" for name, files in parts.items()]

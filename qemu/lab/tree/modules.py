# SPDX-License-Identifier: GPL-2.0
"""Loadable kernel modules: where kbuild put them."""

from collections.abc import Collection
from pathlib import Path

from lab import LabError
from lab.paths import Paths


def listed(paths: Paths, variant: str) -> dict[str, Path]:
    """The files of a kernel's modules by name, also of those that are not there; empty if none."""
    order = paths.kernel(variant) / "modules.order"
    lines = order.read_text().split() if order.is_file() else []
    return {Path(name).stem: (order.parent / name).with_suffix(".ko") for name in lines}


def find(paths: Paths, variant: str, names: Collection[str]) -> dict[str, Path]:
    """The files of the modules named. Raises LabError (exit code 1) for one that is not built."""
    files = listed(paths, variant)
    for name in names:
        if name not in files or not files[name].is_file():
            known = ", ".join(sorted(files)) or "none"
            raise LabError(
                f"module {name} is missing (built: {known}): make kernel, or make files", 1
            )
    return {name: files[name] for name in names}

# SPDX-License-Identifier: GPL-2.0
"""Loadable kernel modules: where kbuild put them."""

from collections.abc import Iterable
from pathlib import Path

from lab import LabError
from lab.paths import Paths


def built(paths: Paths, variant: str) -> dict[str, Path]:
    """The modules that kbuild made for a variant, by name; none if it made none."""
    directory = paths.kernel(variant)
    order = directory / "modules.order"
    if not order.is_file():
        return {}
    files = (directory / line for line in order.read_text().split())
    return {file.stem: file.with_suffix(".ko") for file in files}


def find(paths: Paths, variant: str, names: Iterable[str]) -> dict[str, Path]:
    """The files of the modules named. Raises LabError (exit code 1) for one that is not built."""
    there = built(paths, variant)
    found: dict[str, Path] = {}
    for name in names:
        file = there.get(name)
        if file is None or not file.is_file():
            known = ", ".join(sorted(there)) or "none"
            raise LabError(
                f"module {name} is missing (built: {known}): make kernel, or make files", 1
            )
        found[name] = file
    return found

# SPDX-License-Identifier: GPL-2.0
"""Kernel modules: what kbuild made, and what a guest gets of it."""

from pathlib import Path

import pytest

from lab import LabError
from lab.guest import protocol
from lab.guest.initrd import build
from lab.paths import Paths
from lab.tree import modules


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    """A kernel that made one module of two that it knows of."""
    paths = Paths(tmp_path, tmp_path / "out")
    made = paths.kernel("guest") / "drivers/net/e/e1000.ko"
    made.parent.mkdir(parents=True)
    made.write_bytes(b"code")
    (paths.kernel("guest") / "modules.order").write_text("drivers/net/e/e1000.o\nlib/lost.o\n")
    return paths


def test_found(paths: Paths) -> None:
    """By name, of the variant asked for."""
    made = paths.kernel("guest") / "drivers/net/e/e1000.ko"
    assert modules.find(paths, "guest", ["e1000"]) == {"e1000": made}
    assert modules.find(paths, "debug", []) == {}


@pytest.mark.parametrize(
    ("variant", "name", "known"),
    [
        ("guest", "e100", "e1000, lost"),
        ("guest", "lost", "e1000, lost"),
        ("debug", "e1000", "none"),
    ],
)
def test_missing(paths: Paths, variant: str, name: str, known: str) -> None:
    """Not configured, not made, or no build at all."""
    words = rf"module {name} is missing \(built: {known}\): make kernel"
    with pytest.raises(LabError, match=words) as refusal:
        modules.find(paths, variant, [name])
    assert refusal.value.exit_code == 1


def test_in_the_guest(paths: Paths) -> None:
    """The guest finds it under its own name, whatever directory it was built in."""
    paths.userland.mkdir(parents=True)
    paths.init.write_bytes(b"init")
    found = modules.find(paths, "guest", ["e1000"])
    archive = build(paths, "", {protocol.module(name): file for name, file in found.items()})
    assert b"lab/modules/e1000.ko\0" in archive and b"code" in archive

# SPDX-License-Identifier: GPL-2.0
"""A bound is judged unless LAB_BOUNDS=off; what has to happen is judged always."""

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lab.guest.boot import Judged
from lab.paths import CHECKED
from lab.registry import suites
from lab.suite import BOUNDS_OFF
from tests import session
from tests.host import native, programs

SOURCES = ("qemu/tests/host/ktap_bound.c", *native.lib("ktap", "args", "files"))


@pytest.fixture(scope="module")
def missing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return native.build(tmp_path_factory.mktemp("bound"), *SOURCES)


JUDGED = ["# 3 of 4 %", "not ok 1 missed"]
NOTED = ["# bound missed: 3 of 4 %", "# it goes on", "ok 1 missed"]


@pytest.mark.parametrize(
    ("bounds", "args", "status", "lines"),
    [
        *((bounds, [], 1, [*JUDGED, "ok 2 happened"]) for bounds in (None, "on", "")),
        ("off", [], 0, [*NOTED, "ok 2 happened"]),
        ("off", ["fails"], 1, [*NOTED, "# it did not", "not ok 2 happened"]),
    ],
)
def test_a_bound_is_judged_or_noted(
    missing: Path, bounds: str | None, args: list[str], status: int, lines: list[str]
) -> None:
    """What has to happen is judged in both cases."""
    env = {name: value for name, value in os.environ.items() if name != "LAB_BOUNDS"}
    env |= {"LAB_BOUNDS": bounds} if bounds is not None else {}
    done = programs.run(missing, *args, env=env)
    assert (done.returncode, done.stdout.splitlines()[2:]) == (status, lines)


def test_the_gate_judges_bounds_of_exact_programs_only() -> None:
    for kernel in ("guest", "debug"):
        for boot in suites(kernel, kernel in CHECKED, "gate"):
            assert (BOUNDS_OFF in boot.machine.append) is not boot.machine.exact, boot.name
            assert not any(boot.judged(p) is Judged.TIMED for p in boot.programs), boot.name


def test_the_long_tests_judge_bounds_on_the_normal_kernel() -> None:
    found = suites("guest", False, "long")
    assert any(boot.judged(p) is Judged.TIMED for boot in found for p in boot.programs)
    assert not any(BOUNDS_OFF in boot.machine.append for boot in found)


def test_the_gate_has_no_program_that_is_for_the_long_tier() -> None:
    gate, long = (
        {f"{boot.name}-{p.name}": p for boot in suites(tier=tier) for p in boot.programs}
        for tier in ("gate", "long")
    )
    left_out = {name for name, program in long.items() if not program.gate}
    assert left_out and not left_out & {*gate}
    assert all(program.gate for program in gate.values())


@pytest.mark.parametrize(("tier", "left"), [("gate", [""]), ("long", ["", "long", "timed"])])
def test_the_gate_leaves_out_what_is_marked(
    monkeypatch: pytest.MonkeyPatch, tier: str, left: list[str]
) -> None:
    monkeypatch.setenv("LAB_TIER", tier)
    config: Any = SimpleNamespace(hook=SimpleNamespace(pytest_deselected=lambda items: None))
    items: Any = [
        SimpleNamespace(mark=mark, get_closest_marker=mark.__eq__) for mark in ("timed", "", "long")
    ]
    session.pytest_collection_modifyitems(config, items)
    assert [item.mark for item in items] == left

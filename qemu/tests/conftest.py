# SPDX-License-Identifier: GPL-2.0
"""Fixtures of all tests: a fake QEMU for those without a guest, one boot a suite for the others."""

import os
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

import pytest

from lab.accel import asked_for
from lab.machine import Machine
from lab.paths import Paths
from lab.suites import Entry, Suite, SuiteRuns, kernel_variant, suites

GOLDEN = Path(__file__).parent / "golden"

# These test the lab and PID 1: once is enough, with the normal kernel.
OF_THE_LAB = ["guest/test_init.py", "guest/test_icount.py", "guest/test_shell.py"]
collect_ignore = OF_THE_LAB if kernel_variant(os.environ) == "debug" else []


@pytest.fixture
def golden() -> Path:
    """The recorded consoles and result streams."""
    return GOLDEN


@pytest.fixture
def built(tmp_path: Path) -> Paths:
    """An output directory where everything seems to be built."""
    paths = Paths(tmp_path / "top", tmp_path / "out")
    for path in (paths.bzimage("guest"), paths.init, paths.rootfs, paths.bin / "lottery"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(f"not really {path.name}\n".encode())
    return paths


@pytest.fixture
def fake_qemu(tmp_path: Path) -> str:
    """A program that takes QEMU's arguments and replays what fake.* words ask for."""
    program = tmp_path / "fake-qemu"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} {GOLDEN / "fake_qemu.py"} "$@"\n')
    program.chmod(0o755)
    return str(program)


@pytest.fixture
def fake_machine(fake_qemu: str) -> Machine:
    """A machine whose QEMU is the fake one."""
    return Machine(qemu=fake_qemu)


@pytest.fixture(scope="session")
def lab_paths() -> Paths:
    """The real output directory: guests boot what was built there."""
    return Paths.from_env()


SELECTED = pytest.StashKey[Mapping[str, Collection[str]]]()


def _known_suites() -> tuple[Suite, ...]:
    return suites(kernel_variant(os.environ), bool(os.environ.get("LAB_SHORT")))


def _selected(items: Iterable[pytest.Item]) -> Mapping[str, Collection[str]]:
    """Suites with those of their entries that have a test; a test of a suite wants all."""
    selected: dict[str, set[str]] = {}
    for item in items:
        callspec = getattr(item, "callspec", None)
        params = callspec.params if callspec else {}
        if "guest_suite" in params:
            selected.setdefault(params["guest_suite"].name, set())
        if "guest_entry" in params:
            suite, entry = params["guest_entry"]
            selected.setdefault(suite.name, set()).add(entry.name)
    return selected


def pytest_collection_finish(session: pytest.Session) -> None:
    """After -k has had its say: which entries of which suites are to run."""
    session.config.stash[SELECTED] = _selected(session.items)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test an entry and one a suite, named after them."""
    known = _known_suites()
    if "guest_entry" in metafunc.fixturenames:
        pairs: list[tuple[Suite, Entry]] = [(s, e) for s in known for e in s.entries]
        ids = [f"{suite.name}-{entry.name}" for suite, entry in pairs]
        metafunc.parametrize("guest_entry", pairs, ids=ids)
    if "guest_suite" in metafunc.fixturenames:
        metafunc.parametrize("guest_suite", known, ids=[suite.name for suite in known])


@pytest.fixture(scope="session")
def guest_runs(lab_paths: Paths, pytestconfig: pytest.Config) -> Iterator[SuiteRuns]:
    """The boots of this session, with their progress past pytest's capture."""
    capture = pytestconfig.pluginmanager.getplugin("capturemanager")
    assert capture is not None
    with capture.global_and_fixture_disabled():
        stderr = os.dup(sys.stderr.fileno())
    chosen = pytestconfig.stash[SELECTED]
    wanted = [suite for suite in _known_suites() if suite.name in chosen]
    with os.fdopen(stderr, "w") as stream:
        yield SuiteRuns(lab_paths, asked_for(None), wanted, chosen, stream)

# SPDX-License-Identifier: GPL-2.0
"""Fixtures of the tests that need no guest."""

import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab import redraw
from lab.bench import make_bench, run
from lab.paths import Paths
from lab.registry import EXPERIMENTS, PICTURES
from lab.report import page
from tests.documents import TOP
from tests.host import browser
from tests.host.browser import Browser
from tests.host.fake_kernel import FakeMake
from tests.host.recorded import Recorded


@pytest.fixture(scope="session")
def reported(tmp_path_factory: pytest.TempPathFactory) -> Paths:
    """Results, figures and the page of one experiment, the lottery; the others are missing."""
    top = tmp_path_factory.mktemp("reported")
    paths = Paths(top=top, out=top / "build")
    run(make_bench("lottery", "full", None, 1, 1), paths, Recorded())
    redraw.main(paths, None)
    return paths


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Paths:
    """Results, figures and the page of all experiments, and what was drawn of their traces."""
    top = tmp_path_factory.mktemp("whole")
    paths = Paths(top=top, out=top / "build")
    for name in EXPERIMENTS:
        run(make_bench(name, "full", None, 1, 1), paths, Recorded())
    for name in PICTURES:
        shutil.copy(TOP / f"Documentation/images/{page.TRACE}-{name}.png", paths.plots)
    page.write(paths, pictured=PICTURES)
    return paths


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    if not shutil.which(browser.PROGRAM):
        pytest.skip(f"{browser.PROGRAM} is missing: make deps installs it")
    with Browser(tmp_path_factory.mktemp("profile")) as found:
        yield found


@pytest.fixture
def interruptible() -> Iterator[None]:
    """SIGINT ends this process and those that it starts.

    Shells have it ignored in what they start in the background, and so it stays for all below.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    """A checkout with its build/, neither of them there yet."""
    return Paths(tmp_path / "top", tmp_path / "top/build")


@pytest.fixture
def make(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FakeMake:
    return FakeMake(monkeypatch, tmp_path / "fake-bin")

# SPDX-License-Identifier: GPL-2.0
"""Pages of the documentation: everything is in them, without the network, on a phone, too."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.paths import Paths
from lab.tree import htmldocs
from tests.documents import TOP
from tests.host import browser
from tests.host.browser import Browser

WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"

pytestmark = pytest.mark.skipif(
    not shutil.which("sphinx-build"), reason="sphinx-build is missing: make deps installs it"
)


@pytest.fixture(scope="module")
def pages(lab_paths: Paths, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made as by make htmldocs, without a word of complaint."""
    out = tmp_path_factory.mktemp("pages")
    (out / "linux").symlink_to(lab_paths.linux)
    assert htmldocs.problems(Paths(TOP, out)) == []
    return out / "htmldocs"


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    if not browser.found():
        pytest.skip(f"{browser.PROGRAM} is missing: make deps installs it")
    with Browser(tmp_path_factory.mktemp("profile")) as found:
        yield found


def test_manual_pages_and_the_abi_are_in_the_set(pages: Path) -> None:
    for folder, names in (("man", "*.1"), ("ABI", "testing/*")):
        text = (pages / folder / "index.html").read_text()
        for file in (TOP / "Documentation" / folder).glob(names):
            title = f"{file.stem}(1)" if file.suffix == ".1" else file.name
            assert f"<h2>{title}<" in text, file
    assert "EXIT STATUS" in (pages / "man/index.html").read_text()


def test_mathematics_needs_no_script(pages: Path) -> None:
    text = (pages / "scheduler/sched-lottery.html").read_text()
    assert "<msqrt>" in text and "MathJax" not in text and "\\sqrt" not in text


def test_a_phone_shows_each_page_without_the_network(pages: Path, chromium: Browser) -> None:
    chromium.look(390)
    for page in sorted(pages.glob("**/*.html")):
        seen = chromium.open(page)
        assert seen.complaints == [], page
        assert [url for url in seen.requests if not url.startswith(("file:", "data:"))] == [], page
        assert chromium.ask(WIDE) <= 0, page

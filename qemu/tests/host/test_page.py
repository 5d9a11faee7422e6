# SPDX-License-Identifier: GPL-2.0
"""The page of the report, as text and in a real browser."""

import json
import re
import shutil
from pathlib import Path

import pytest

from lab import LabError
from lab.paths import Paths
from lab.registry import EXPERIMENTS
from lab.report import page
from lab.report.references import references
from lab.report.results import fullest, stem
from tests.host.browser import ANSWER_S, WIDE, Browser
from tests.host.programs import wait_until

MAX_BYTES = 3_000_000
LOAD_MS, LOAD_TRIES = 1000, 3
PLOTS = "document.querySelectorAll('canvas[data-chart]').length"
DRAWN = "[...document.querySelectorAll('.canvas')].filter(one => !one.hidden).length"
BROKEN = "[...document.images].filter(one => !one.naturalWidth).map(one => one.alt)"
DANGLING = """[...document.querySelectorAll('a[href]')].map(one => one.getAttribute('href'))
    .filter(one => !one.startsWith('http') && !document.getElementById(one.slice(1)))"""
UNFOLD = "document.querySelectorAll('details').forEach(one => { one.open = true; })"
# What is wider than its place, but for tables that scroll and show it by a shadow.
CUT = """[...document.querySelectorAll('body *')]
    .filter(one => one.scrollWidth > one.clientWidth + 1)
    .filter(one => getComputedStyle(one).overflowX !== 'visible')
    .filter(one => !getComputedStyle(one).backgroundAttachment.includes('local'))
    .map(one => one.outerHTML.slice(0, 80))"""
SCROLLS = """[...document.querySelectorAll('.scroll')]
    .filter(one => one.scrollWidth > one.clientWidth).length"""
LOADED_MS = "performance.getEntriesByType('navigation')[0].loadEventEnd"

needs_library = pytest.mark.skipif(
    not page.LIBRARY.exists(), reason=f"{page.LIBRARY} is missing: make deps installs it"
)


@pytest.fixture
def text(reported: Paths) -> str:
    return (reported.out / page.NAME).read_text()


@pytest.fixture
def copy(reported: Paths, tmp_path: Path) -> Paths:
    """The same results, to be spoilt."""
    shutil.copytree(reported.results, Paths(tmp_path, tmp_path).results)
    return Paths(top=tmp_path, out=tmp_path)


def article(text: str, figure: str) -> str:
    return text[text.index(f'id="{figure}"') :].partition("</article>")[0]


def test_all_is_there_measured_or_missing_in_the_order_of_readme(text: str) -> None:
    for figure in references().figures:
        assert f'id="{figure.id}"' in text
    assert "Nothing of ours is measured: <code>make bench EXP=wrais</code>" in text
    assert "Not measured yet." in text
    assert text.count("no results: make bench EXP=") == 2 * 4
    places = [text.index(f'<section id="{name}">') for name in EXPERIMENTS]
    assert places == sorted(places) and list(references().documents) == list(EXPERIMENTS)
    for document in references().documents.values():
        assert document.words and document.authors in text
        assert all(f"<dt>{word}</dt>" in text for word in document.words)


def test_what_was_measured_stands_beside_the_claim(reported: Paths, text: str) -> None:
    """With n and spread, the count of goals, and on what it was measured."""
    figure = article(text, "lottery-2")
    assert "The tree enqueues far slower" in figure and "no longer so here" in figure
    assert re.search(r"<small>n \d+, [\d.,]+ to [\d.,]+</small>", figure)
    goals = json.loads((reported.results / "lottery-goals.json").read_text())
    met, short, rest = ([goal["met"] for goal in goals].count(v) for v in (True, False, None))
    counted = f"{met} met, {short} missed, 0 stretch goals not reached"
    numbers = re.search(rf"{counted}, (\d+) not judged, (\d+) not measured", text)
    assert numbers and sum(map(int, numbers.groups())) == rest
    assert "make bench EXP=lottery" in text and "qemu-system-x86_64 " in text
    assert str(reported.top) not in text
    told = json.loads((reported.results / "lottery-provenance.json").read_text())
    first = text[text.index("<header>") : text.index("<nav>")]
    assert "This page shows what the patch stack Who waits for whom does to Linux 6.12" in first
    assert f"kernel {told['kernels']['guest']['release']} on {told['day']}" in first
    assert told["host"]["cpu"] in first and "theirs" in first and "ours" in first


def test_what_is_measured_too_short_is_not_called_missing(copy: Paths) -> None:
    file = copy.results / "lottery-goals.json"
    goals = json.loads(file.read_text())
    for goal in goals:
        if goal["name"].startswith("enqueue at 3,000"):
            goal |= {"met": None, "measured": "not measured", "why": "needs 3,000 tasks"}
    file.write_text(json.dumps(goals))
    told = "not judged: needs 3,000 tasks (make bench EXP=lottery)"
    assert told in article(page.write(copy).read_text(), "lottery-2")


def test_a_plot_stands_below_its_own_title_only(copy: Paths) -> None:
    """Of two figures that are drawn alike, the one that was not drawn has none."""
    copy.plots.mkdir()
    (copy.results / "ipc.json").write_text("[]")
    (copy.plots / "ipc-mechanisms.png").write_bytes(b"png")
    text = page.write(copy).read_text()
    figure = article(text, "ipc-f2")
    assert "The plot is missing." in figure and "<img" not in figure
    assert "<img" in article(text, "ipc-t5")


def test_the_fullest_results_are_taken(tmp_path: Path) -> None:
    for name in ("udp-demo", "udp-quick", "udp"):
        (tmp_path / f"{name}.json").write_text("[]")
        scope = name.partition("-")[2] or "full"
        assert fullest(tmp_path, "udp") == scope
        assert stem("udp", scope) == name
    assert fullest(tmp_path, "ipc") is None


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("lottery-goals.json", '[{"nam": 1}]', "must be a list of name, bound, measured and met"),
        ("lottery-goals.json", "[", "not JSON"),
        ("lottery-provenance.json", '{"host": {}}', "no 'kernels' in it"),
    ],
)
def test_a_file_that_is_not_right_is_named(copy: Paths, name: str, content: str, said: str) -> None:
    (copy.results / name).write_text(content)
    with pytest.raises(LabError, match=rf"{name}: .*{said}"):
        page.write(copy)
    assert not (copy.out / page.NAME).exists()


@needs_library
def test_a_page_with_everything_is_no_larger_than_3_mb(whole: Paths) -> None:
    """Some cells of its tables have no figure; nothing else is missing."""
    text = (whole.out / page.NAME).read_text()
    assert not re.findall('class="missing">(?!missing<)[^<]+', text)
    assert len(text.encode()) <= MAX_BYTES


@needs_library
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_in_a_browser(whole: Paths, chromium: Browser, width: int, dark: bool) -> None:
    chromium.look(width, dark)
    seen = chromium.open(whole.out / page.NAME)
    assert seen.complaints == []
    address = (whole.out / page.NAME).as_uri()
    assert [url for url in seen.requests if not url.startswith("data:")] == [address]
    assert chromium.ask(PLOTS) > chromium.ask(DRAWN) > 3
    chromium.ask(UNFOLD)
    wait_until(lambda: chromium.ask(f"{PLOTS} === {DRAWN}"), ANSWER_S)
    assert chromium.ask(BROKEN) == [] and chromium.ask("document.images.length") > 3
    assert chromium.ask(DANGLING) == []
    assert chromium.ask(WIDE) <= 0 and chromium.ask(CUT) == []
    assert (chromium.ask(SCROLLS) > 0) is (width < 600)
    paper = chromium.ask("getComputedStyle(document.body).backgroundColor")
    assert (paper != "rgb(255, 255, 255)") is dark


@pytest.mark.timed
@needs_library
def test_the_page_is_there_within_a_second(whole: Paths, chromium: Browser) -> None:
    """The best of a few: the others of the machine take their time, too."""
    chromium.look(1280)
    times = []
    for _ in range(LOAD_TRIES):
        chromium.open(whole.out / page.NAME)
        times.append(chromium.ask(LOADED_MS))
    assert min(times) <= LOAD_MS, times


def test_without_scripts_or_the_library_the_drawn_plots_stay(
    reported: Paths, chromium: Browser, tmp_path: Path
) -> None:
    there = "[...document.images].filter(one => one.checkVisibility()).length"
    chromium.look(1280, scripts=False)
    chromium.open(reported.out / page.NAME)
    assert chromium.ask(f"{DRAWN}") == 0
    assert chromium.ask(there) > 1
    chromium.ask(UNFOLD)
    assert chromium.ask(there) == chromium.ask("document.images.length") > 3
    copy = Paths(top=tmp_path, out=tmp_path)
    for name in ("results", "plots"):
        (tmp_path / name).symlink_to(reported.out / name)
    chromium.look(1280)
    seen = chromium.open(page.write(copy, library=tmp_path / "nothing.js"))
    assert seen.complaints == []
    assert chromium.ask(DRAWN) == 0 and chromium.ask(there) > 1


def test_the_page_may_load_nothing(reported: Paths, chromium: Browser, tmp_path: Path) -> None:
    """Whatever asks for something is refused by the page itself, and seen by these tests."""
    spoilt = tmp_path / "spoilt.html"
    image = '<img src="http://localhost:9/x.png" alt="x">'
    text = (reported.out / page.NAME).read_text()
    spoilt.write_text(text.replace("<main>", f"<main>{image}<script>alert(1)</script>", 1))
    chromium.look(1280)
    seen = chromium.open(spoilt)
    assert len([one for one in seen.complaints if "Content Security Policy" in one]) == 2
    assert chromium.ask(BROKEN) == ["x"]

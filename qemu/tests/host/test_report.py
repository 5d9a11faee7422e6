# SPDX-License-Identifier: GPL-2.0
"""The report verb: figures from results, the same bytes every time."""

import re
import shutil
from pathlib import Path

import pytest

from lab import LabError
from lab.paths import Paths
from lab.redraw import main
from lab.report import page
from lab.report.records import Record, read_csv, read_json, to_json, write_text
from subjects.lottery.figures import figure_1, figure_3
from subjects.lottery.output import FairRow

FIGURES = ("figure-1", "figure-2", "figure-3", "shares", "montecarlo", "viewers")


def texts(svg: Path) -> str:
    """Words of an SVG: matplotlib keeps every drawn string in a comment."""
    return " ".join(" ".join(re.findall(r"<!-- (.*?) -->", svg.read_text(), re.DOTALL)).split())


def test_six_figures_the_picture_of_three_and_the_page(
    reported: Paths, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same bytes as before; of what was not measured it says that it is missing."""
    report = reported.out / page.NAME
    files = [*reported.plots.iterdir(), report]
    first = {path: path.read_bytes() for path in files}
    assert main(reported, None) == 0
    stems = [*(f"lottery-{name}" for name in FIGURES), "three"]
    drawn = [reported.plots / f"{stem}.{kind}" for stem in stems for kind in ("png", "svg")]
    printed = [*map(str, drawn), str(report)]
    assert capsys.readouterr().out.splitlines() == printed
    assert {path: path.read_bytes() for path in files} == first
    assert {*drawn} <= {*first} and all(b"<dc:date>" not in data for data in first.values())
    for stem in stems[:-1]:
        words = texts(reported.plots / f"{stem}.svg")
        assert "Reference" in words and "Measured here" in words
    words = texts(reported.plots / "three.svg")
    assert "Shares against tickets" in words and "Start-up under load" in words
    assert words.count("not measured") == 2
    assert "make bench EXP=lottery; Linux" in words


def test_captions_say_what_was_measured(reported: Paths) -> None:
    """Of the first run: trials at the end, and frame rates before and after the change."""
    records = read_json(reported.results / "lottery.json")
    costs = {
        record.variant: record.value
        for record in records
        if record.metric == "cycle_ns" and record.params == {"tasks": 3000}
    }
    words = texts(reported.plots / "lottery-figure-3.svg")
    assert f"{costs['list'] / costs['rbtree']:.3g} x the tree's" in words
    rows = read_csv(reported.results / "lottery-montecarlo.csv")
    rows = [row for row in rows if row["seed"] == "1"]
    ends = [int(row["trials"]) for row in rows if row["time_ms"] == rows[-1]["time_ms"]]
    words = texts(reported.plots / "lottery-montecarlo.svg")
    assert ", ".join(f"{end / 1e6:.1f}" for end in ends) + " million trials" in words
    rates = {r.params["viewer"]: r.value for r in records if r.metric == "viewers_ratio"}
    words = texts(reported.plots / "lottery-viewers.svg")
    for phase, tickets in (("before", "3:2:1"), ("after", "3:1:2")):
        told = ":".join(f"{rates[f'{letter} {phase}']:.2f}" for letter in "ABC")
        assert f"{told} {phase} ({tickets})" in words


def test_a_raw_table_that_is_not_right_is_named(reported: Paths, tmp_path: Path) -> None:
    copy = Paths(top=tmp_path, out=tmp_path)
    shutil.copytree(reported.results, copy.results)
    table = copy.results / "lottery-viewers.csv"
    table.write_text(table.read_text().replace("before", "before,x", 1).replace(",0,", ",none,", 1))
    with pytest.raises(LabError, match=r"lottery-viewers\.csv: "):
        main(copy, "lottery")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        (None, "no results of ipc, livelock, lottery, udp, wrais: run `make bench EXP=ipc`"),
        ("soup", "EXP 'soup': allowed are ipc, livelock, lottery, udp"),
    ],
)
def test_what_cannot_be_reported_is_one_line(tmp_path: Path, name: str | None, told: str) -> None:
    with pytest.raises(LabError, match=told):
        main(Paths(top=tmp_path, out=tmp_path), name)


def test_the_others_are_drawn_beside_results_without_curves(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = Paths(top=tmp_path, out=tmp_path)
    floor = Record("lottery", "fair_floor_pct", "rbtree", {}, 5.0, "percent", 1, 0.0)
    write_text(paths.results / "lottery.json", to_json([floor]))
    with pytest.raises(LabError, match="holds nothing that can be drawn"):
        main(paths, "lottery")
    assert main(paths, None) == 0
    assert "lottery.json: holds nothing that can be drawn" in capsys.readouterr().err
    assert (tmp_path / "report.html").is_file()


@pytest.mark.parametrize(
    ("tickets", "words"), [(10, "No clear staircase"), (-10, "The same staircase")]
)
def test_an_order_without_a_staircase_is_called_so(
    tmp_path: Path, tickets: int, words: str
) -> None:
    rows = [FairRow(n, n, 1000 + tickets * n, 1.0, 0) for n in range(1, 20)]
    figure_1(rows).save(tmp_path, "figure")
    assert words in texts(tmp_path / "figure.svg")


@pytest.mark.parametrize(
    ("tree", "words"),
    [
        ((50.0, 50.0), "The tree is ahead at every size"),
        ((200.0, 50.0), "The tree is ahead from 3,000 tasks on"),
        ((200.0, 2000.0), "The list is ahead up to the largest size"),
    ],
)
def test_the_crossing_is_put_into_words(
    tmp_path: Path, tree: tuple[float, float], words: str
) -> None:
    records = [
        Record("lottery", "cycle_ns", variant, {"tasks": tasks}, value, "ns", 1, 0.0)
        for variant, values in (("list", (100.0, 1000.0)), ("rbtree", tree))
        for tasks, value in zip((2, 3000), values, strict=True)
    ]
    figure_3(records).save(tmp_path, "figure")
    assert words in texts(tmp_path / "figure.svg")

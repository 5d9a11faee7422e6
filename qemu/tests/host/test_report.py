# SPDX-License-Identifier: GPL-2.0
"""The report verb: figures from results, the same bytes every time."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from lab import LabError
from lab.paths import Paths
from lab.redraw import main
from lab.report.records import Record, read_csv, read_json, write_json
from lab.subjects.lottery.figures import Finisher, figure_1, figure_3

FIGURES = ("figure-1", "figure-2", "figure-3", "shares", "montecarlo", "viewers")
PNG_MAGIC = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(scope="module")
def paths(reported: Paths) -> Paths:
    """Results of what was recorded of one experiment; the others are missing."""
    return reported


def texts(svg: str) -> str:
    """Words of an SVG: matplotlib keeps every drawn string in a comment."""
    return " ".join(re.findall(r"<!-- (.*?) -->", svg, re.DOTALL))


def test_six_figures_as_png_and_svg(paths: Paths, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(paths, None) == 0
    printed = capsys.readouterr().out.splitlines()
    stems = [f"lottery-{name}" for name in FIGURES]
    assert printed == [
        *(str(paths.plots / f"{stem}.{kind}") for stem in stems for kind in ("png", "svg")),
        *(str(paths.plots / f"three.{kind}") for kind in ("png", "svg")),
        str(paths.out / "report.html"),
    ]
    for stem in stems:
        assert (paths.plots / f"{stem}.png").read_bytes().startswith(PNG_MAGIC)
        svg = (paths.plots / f"{stem}.svg").read_text()
        assert "Reference" in texts(svg)
        assert "Measured here" in texts(svg)


def test_the_picture_of_three_has_what_was_measured(paths: Paths) -> None:
    """Of the other two it says that they are missing."""
    main(paths, None)
    words = texts((paths.plots / "three.svg").read_text())
    assert "Shares against tickets" in words and "Start-up under load" in words
    assert words.count("not measured") == 2
    assert "make bench EXP=lottery; Linux" in words


def test_figures_are_the_same_bytes_every_time(paths: Paths) -> None:
    main(paths, "lottery")
    first = {path.name: path.read_bytes() for path in paths.plots.iterdir()}
    main(paths, "lottery")
    assert {path.name: path.read_bytes() for path in paths.plots.iterdir()} == first
    assert all(b"<dc:date>" not in data for data in first.values())


def test_captions_say_what_was_measured(paths: Paths) -> None:
    main(paths, "lottery")
    svg = texts((paths.plots / "lottery-figure-3.svg").read_text())
    values = {
        record.variant: record.value
        for record in read_json(paths.results / "lottery.json")
        if record.metric == "cycle_ns" and record.params == {"tasks": 3000}
    }
    assert f"{values['list'] / values['rbtree']:.3g} x the tree's" in " ".join(svg.split())


def test_curves_of_the_paper_say_what_was_measured(paths: Paths) -> None:
    """Of the first run: trials at the end, and frame rates before and after the change."""
    main(paths, "lottery")
    rows = read_csv(paths.results / "lottery-montecarlo.csv")
    rows = [row for row in rows if row["seed"] == "1"]
    ends = [int(row["trials"]) for row in rows if row["time_ms"] == rows[-1]["time_ms"]]
    words = " ".join(texts((paths.plots / "lottery-montecarlo.svg").read_text()).split())
    assert ", ".join(f"{end / 1e6:.1f}" for end in ends) + " million trials" in words
    assert "integration 3" in words
    records = read_json(paths.results / "lottery.json")
    rates = {r.params["viewer"]: r.value for r in records if r.metric == "viewers_ratio"}
    words = " ".join(texts((paths.plots / "lottery-viewers.svg").read_text()).split())
    for phase, tickets in (("before", "3:2:1"), ("after", "3:1:2")):
        told = ":".join(f"{rates[f'{letter} {phase}']:.2f}" for letter in "ABC")
        assert f"{told} {phase} ({tickets})" in words


def test_a_raw_table_that_is_not_right_is_named(paths: Paths, tmp_path: Path) -> None:
    copy = Paths(top=tmp_path, out=tmp_path)
    shutil.copytree(paths.results, copy.results)
    table = copy.results / "lottery-viewers.csv"
    table.write_text(table.read_text().replace("before", "before,x", 1).replace(",0,", ",none,", 1))
    with pytest.raises(LabError, match=r"lottery-viewers\.csv: "):
        main(copy, "lottery")


def test_no_results_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(
        LabError,
        match="no results of ipc, livelock, lottery, udp, wrais: run `make bench EXP=ipc`",
    ):
        main(Paths(top=tmp_path, out=tmp_path), None)


def test_an_unknown_experiment_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="EXP 'soup': allowed are ipc, livelock, lottery, udp"):
        main(Paths(top=tmp_path, out=tmp_path), "soup")


def test_results_without_curves_are_one_line(tmp_path: Path) -> None:
    paths = Paths(top=tmp_path, out=tmp_path)
    floor = Record("lottery", "fair_floor_pct", "rbtree", {}, 5.0, "percent", 1, 0.0)
    write_json(paths.results / "lottery.json", [floor])
    with pytest.raises(LabError, match="holds nothing that can be drawn"):
        main(paths, "lottery")


def test_the_others_are_drawn_beside_results_without_curves(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = Paths(top=tmp_path, out=tmp_path)
    floor = Record("lottery", "fair_floor_pct", "rbtree", {}, 5.0, "percent", 1, 0.0)
    write_json(paths.results / "lottery.json", [floor])
    assert main(paths, None) == 0
    assert "lottery.json: holds nothing that can be drawn" in capsys.readouterr().err
    assert (tmp_path / "report.html").is_file()


def saved_words(tmp_path: Path, make: Callable[[], object]) -> str:
    sheet = make()
    sheet.save(tmp_path, "figure")  # type: ignore[attr-defined]
    return texts((tmp_path / "figure.svg").read_text())


def test_an_order_without_a_staircase_is_called_so(tmp_path: Path) -> None:
    rising = [Finisher(order, 10 * order) for order in range(1, 20)]
    assert "No clear staircase" in saved_words(tmp_path, lambda: figure_1(rising))
    falling = [Finisher(order, 1000 - 10 * order) for order in range(1, 20)]
    assert "The same staircase" in saved_words(tmp_path, lambda: figure_1(falling))


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
    records = []
    for variant, values in (("list", (100.0, 1000.0)), ("rbtree", tree)):
        for tasks, value in zip((2, 3000), values, strict=True):
            params = {"tasks": tasks}
            records.append(Record("lottery", "cycle_ns", variant, params, value, "ns", 1, 0.0))
    assert words.split()[0] in saved_words(tmp_path, lambda: figure_3(records))
    assert words in " ".join(saved_words(tmp_path, lambda: figure_3(records)).split())

# SPDX-License-Identifier: GPL-2.0
"""Documents of the instruments: read, compared, drawn."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from lab import LabError, plot
from lab.report.document import read_document
from lab.report.runs import compared

DOCUMENT: dict[str, Any] = {
    "tool": "ipclat",
    "schema": 1,
    "version": "1.0",
    "time": "2026-01-02T03:04:05Z",
    "host": "one",
    "kernel": "6.12.1",
    "cpu_model": "a CPU",
    "cpus": 2,
    "complete": True,
    "settings": {"iterations": 100, "policy": "other"},
    "results": [
        {
            "mechanism": "pipe",
            "direction": "forward",
            "pinned": False,
            "missing": "",
            "samples": 200,
            "mean_ns": 1000.0,
            "low_ns": 900.0,
            "high_ns": 1100.0,
            "percentiles_ns": {"50": 950.0, "99": 2000.0},
            "mean_cycles": 2000.0,
            "percentiles_cycles": {"50": 1900.0, "99": 4000.0},
            "buckets_ns": [[900.0, 910.0, 150], [1900.0, 2000.0, 50]],
        },
        {"mechanism": "spin", "direction": "forward", "missing": "one CPU", "mean_ns": None},
    ],
}


def write(path: Path, document: dict[str, Any]) -> Path:
    path.write_text(json.dumps(document))
    return path


@pytest.fixture
def old(tmp_path: Path) -> Path:
    return write(tmp_path / "old.json", DOCUMENT)


def changed(tmp_path: Path, mean: float, **more: Any) -> Path:
    document = copy.deepcopy(DOCUMENT) | more
    factor = mean / 1000
    pipe = document["results"][0]
    pipe |= {"mean_ns": mean, "low_ns": 900 * factor, "high_ns": 1100 * factor}
    return write(tmp_path / "new.json", document)


def lines(old: Path, new: Path) -> list[str]:
    return compared(read_document(old), read_document(new)).splitlines()


def test_a_difference_and_none(old: Path, tmp_path: Path) -> None:
    """Means whose quotient may be 1 are marked; intervals and cycles are no lines."""
    table = lines(old, changed(tmp_path, 1050))
    assert table[0] == "spin forward: missing in the old run: one CPU"
    (mean,) = [line.split() for line in table if "mean_ns" in line]
    assert mean[-8:] == ["mean_ns", "1000", "1050", "1.050", "~", "0.911", "..", "1.210"]
    assert not any("cycles" in line or "low_" in line for line in table)
    (mean_line,) = [line for line in lines(old, changed(tmp_path, 2000)) if "mean_ns" in line]
    assert "2.000" in mean_line and "~" not in mean_line


def test_what_else_differs_is_said(old: Path, tmp_path: Path) -> None:
    settings = {"iterations": 200, "policy": "other"}
    table = lines(old, changed(tmp_path, 1000, kernel="6.12.2", settings=settings))
    assert table[:2] == ["kernel: 6.12.1 -> 6.12.2", "iterations: 100 -> 200"]


def test_what_is_in_one_run_only(old: Path, tmp_path: Path) -> None:
    new = write(tmp_path / "new.json", {**DOCUMENT, "results": DOCUMENT["results"][:1]})
    assert "spin forward: only in the old run" in lines(old, new)
    with pytest.raises(LabError, match="one run is of ipclat, the other of udprate"):
        lines(old, changed(tmp_path, 1000, tool="udprate"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not what ipclat or udprate --json prints"),
        ('{"tool": "ipclat"}', "not what ipclat or udprate --json prints"),
        (json.dumps({**DOCUMENT, "schema": 9}), "schema 9: only 1 is understood"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(LabError, match=said) as caught:
        read_document(path)
    assert str(path) in str(caught.value)
    with pytest.raises(LabError, match="No such file"):
        read_document(tmp_path / "nothing.json")


def test_tails_are_drawn_from_samples(old: Path, tmp_path: Path) -> None:
    """A quarter of the samples is in the second bucket."""
    (item,) = plot._drawn([("old", read_document(old))])
    assert item.tail() == ([900, 1900], [1, 0.25]) and item.percentiles() == [950, 2000]
    assert plot.main([old, changed(tmp_path, 2000)], tmp_path / "two") == 0
    assert {path.name for path in tmp_path.glob("two.*")} == {"two.png", "two.svg"}


def test_ranges_are_drawn_without_samples(tmp_path: Path) -> None:
    document = copy.deepcopy(DOCUMENT)
    del document["results"][0]["buckets_ns"]
    assert plot.main([write(tmp_path / "x.json", document)], tmp_path / "x") == 0
    text = (tmp_path / "x.svg").read_text()
    assert text.startswith("<?xml") and (tmp_path / "x.png").stat().st_size > 1000
    empty = write(tmp_path / "y.json", {**DOCUMENT, "results": DOCUMENT["results"][1:]})
    with pytest.raises(LabError, match="holds nothing that can be drawn"):
        plot.main([empty], tmp_path / "y")

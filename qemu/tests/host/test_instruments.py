# SPDX-License-Identifier: GPL-2.0
"""Documents of the instruments: read, compared, drawn."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader

from lab import LabError, hdr, plot
from lab.report.document import compared, read_document
from tests.documents import TOP

DOCUMENT: dict[str, Any] = {
    **{"tool": "ipclat", "schema": 1, "version": "1.0", "time": "2026-01-02T03:04:05Z"},
    **{"host": "one", "kernel": "6.12.1", "cpu_model": "a CPU", "cpus": 2, "complete": True},
    "settings": {"iterations": 100, "policy": "other"},
    "results": [
        {
            **{"mechanism": "pipe", "direction": "forward", "pinned": False, "missing": ""},
            **{"samples": 200, "mean_ns": 1000.0, "low_ns": 900.0, "high_ns": 1100.0},
            "percentiles_ns": {"50": 950.0, "99": 2000.0},
            "mean_cycles": 2000.0,
            "percentiles_cycles": {"50": 1900.0, "99": 4000.0},
            "buckets_ns": [[900.0, 910.0, 150], [1900.0, 2000.0, 50]],
        },
        {"mechanism": "spin", "direction": "forward", "missing": "one CPU", "mean_ns": None},
    ],
}


PIPE, SPIN = DOCUMENT["results"]


def write(path: Path, document: dict[str, Any]) -> Path:
    path.write_text(json.dumps(document))
    return path


@pytest.fixture
def old(tmp_path: Path) -> Path:
    return write(tmp_path / "old.json", DOCUMENT)


def piped(**more: Any) -> dict[str, Any]:
    return {**DOCUMENT, "results": [{**PIPE, **more}, SPIN]}


def slower(factor: float, **more: Any) -> dict[str, Any]:
    means = {name: factor * PIPE[name] for name in ("mean_ns", "low_ns", "high_ns")}
    return {**piped(**means), **more}


WITHOUT = piped()
del WITHOUT["results"][0]["buckets_ns"]


def lines(old: Path, document: dict[str, Any]) -> list[str]:
    new = write(old.with_name("new.json"), document)
    return compared(read_document(old), read_document(new)).splitlines()


def test_a_difference_and_none(old: Path) -> None:
    """Means whose quotient may be 1 are marked; intervals and cycles are no lines."""
    table = lines(old, slower(1.05))
    assert table[0] == "spin forward: missing in the old run: one CPU"
    (mean,) = [line.split() for line in table if "mean_ns" in line]
    assert mean[-8:] == ["mean_ns", "1000", "1050", "1.050", "~", "0.911", "..", "1.210"]
    assert not any("cycles" in line or "low_" in line for line in table)
    (mean_line,) = [line for line in lines(old, slower(2)) if "mean_ns" in line]
    assert "2.000" in mean_line and "~" not in mean_line


def test_what_else_differs_is_said(old: Path) -> None:
    settings = {"iterations": 200, "policy": "other"}
    table = lines(old, slower(1, kernel="6.12.2", settings=settings))
    assert table[:2] == ["kernel: 6.12.1 -> 6.12.2", "iterations: 100 -> 200"]
    only = lines(old, {**DOCUMENT, "results": [PIPE]})
    assert "spin forward: only in the old run" in only
    with pytest.raises(LabError, match="one run is of ipclat, the other of udprate"):
        lines(old, slower(1, tool="udprate"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("mechanism,mean_ns\n", "not JSON: must be what ipclat or udprate printed with --json"),
        ("[]", "not of ipclat or udprate: must be what"),
        ('{"tool": "lottery-share"}', "not of ipclat or udprate: must be what"),
        (
            json.dumps({key: DOCUMENT[key] for key in DOCUMENT if key != "results"}),
            "x.json: lacks results: must be what",
        ),
        (json.dumps({**DOCUMENT, "cpus": "two"}), "has a value of another type: must be what"),
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
    new = write(tmp_path / "new.json", slower(2))
    assert plot.main([old, new], tmp_path / "two") == 0
    assert {path.name for path in tmp_path.glob("two.*")} == {"two.png", "two.svg"}


def test_ranges_are_drawn_without_samples(tmp_path: Path) -> None:
    assert plot.main([write(tmp_path / "x.json", WITHOUT)], tmp_path / "x") == 0
    text = (tmp_path / "x.svg").read_text()
    assert text.startswith("<?xml") and (tmp_path / "x.png").stat().st_size > 1000
    empty = write(tmp_path / "y.json", {**DOCUMENT, "results": [SPIN]})
    with pytest.raises(LabError, match="holds nothing that can be drawn"):
        plot.main([empty], tmp_path / "y")


SENT: dict[str, Any] = {
    **{key: value for key, value in DOCUMENT.items() if key not in ("results", "complete")},
    "tool": "udprate",
    "mode": "paced",
    "achieved_mbps": 50.0,
    "interrupted": False,
    "gap_us_p50": 580.0,
    "gap_us_p999": 2000.0,
    "gap_us_max": 2100.0,
    "gap_us_buckets": [[576.0, 584.0, 3], [2000.0, 2100.0, 1]],
    "received_gap_us_p50": 590.0,
}


def test_a_run_of_the_sender_is_read_as_well(tmp_path: Path) -> None:
    """It prints its figures beside each other: each duration becomes a result."""
    path = write(tmp_path / "sent.json", SENT)
    found = read_document(path).named()
    assert list(found) == ["paced", "gap", "received_gap"]
    assert found["paced"].figures == {"achieved_mbps": 50}
    gap = {"percentiles_us.50": 580, "percentiles_us.99.9": 2000, "max_us": 2100}
    assert found["gap"].figures == gap
    found_lines = lines(path, SENT | {"gap_us_p50": 1160.0})
    (line,) = [line.split() for line in found_lines if "percentiles_us.50 " in line][:1]
    assert line == ["gap", "percentiles_us.50", "580", "1160", "2.000"]
    assert plot.main([path], tmp_path / "sent") == 0


def logged(path: Path) -> list[tuple[str, HdrHistogram]]:
    reader = HistogramLogReader(str(path), HdrHistogram(1, 10**12, 3))
    found = []
    while (one := reader.get_next_interval_histogram()) is not None:
        found.append((one.get_tag(), one))
    return found


def test_samples_become_a_log_that_others_read(old: Path, tmp_path: Path) -> None:
    """Of ipclat in ns and of udprate in us; times are those of the runs."""
    sent = write(tmp_path / "sent.json", SENT)
    assert hdr.main([old, sent], tmp_path / "both.hlog") == 0
    (pipe, pipes), (gap, gaps) = logged(tmp_path / "both.hlog")
    assert (pipe, gap) == ("old-pipe-forward", "sent-gap")
    assert (pipes.get_total_count(), gaps.get_total_count()) == (200, 4)
    assert pipes.get_value_at_percentile(75) == pytest.approx(905, rel=0.002)
    assert pipes.get_value_at_percentile(99) == pytest.approx(1950, rel=0.002)
    assert gaps.get_value_at_percentile(50) == pytest.approx(580000, rel=0.002)
    assert pipes.get_start_time_stamp() == 1767323045000


def test_what_is_less_than_nothing_is_said(tmp_path: Path) -> None:
    """A clock's cost was taken off: the samples stay, and a comment counts them."""
    document = piped(buckets_ns=[[-20.0, -10.0, 7], [100.0, 101.0, 1]])
    assert hdr.main([write(tmp_path / "x.json", document)], tmp_path / "x.hlog") == 0
    assert "#pipe-forward: 7 below 0 ns, written as 0\n" in (tmp_path / "x.hlog").read_text()
    ((_, found),) = logged(tmp_path / "x.hlog")
    assert (found.get_total_count(), found.get_value_at_percentile(50)) == (8, 0)


def test_without_samples_there_is_no_log(old: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "x.json", WITHOUT)
    with pytest.raises(LabError, match=f"{path}: holds no samples: it takes --json --buckets"):
        hdr.main([old, path], tmp_path / "x.hlog")
    assert not (tmp_path / "x.hlog").exists()


WALL_CLOCK = re.compile(r"CLOCK_REALTIME|\btime\(NULL\)|gettimeofday|timespec_get")
DATES = {"udprate/session.c", "udprate/receive.c", "lib/document.c"}
"""A date that is printed, and the kernel's stamps, which are turned into a steady clock's."""


def test_no_tool_measures_by_the_wall_clock() -> None:
    sources = [one for one in (TOP / "userland").rglob("*.[ch]") if one.is_file()]
    readers = [one for one in sources if WALL_CLOCK.search(one.read_text())]
    assert {str(one.relative_to(TOP / "userland")) for one in readers} == DATES

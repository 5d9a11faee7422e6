# SPDX-License-Identifier: GPL-2.0
"""The demo verb: its table, its figures, and its exit status when a check fails."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lab import demo
from lab.experiments.boots import Boot, Job
from lab.experiments.lottery import EXPERIMENT
from lab.experiments.measured import Measured
from lab.paths import Paths
from tests.host.fake_lottery import Change, FakeRunner, Rows


def no_figures(_results: Path, _plots: Path, _stem: str) -> list[Path]:
    return []


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return Paths(top=tmp_path, out=tmp_path / "build")


def test_all_checks_hold(paths: Paths, capsys: pytest.CaptureFixture[str]) -> None:
    assert demo.main(paths, FakeRunner(), workers=2) == 0
    printed = capsys.readouterr().out
    assert "10 : 1, error < 4 sigma" in printed
    assert "3 : 2 : 1, error < 4 sigma" in printed
    assert "4 to 6 %" in printed
    assert "rbtree <= list" in printed
    assert "FAIL" not in printed
    for number in (1, 2, 3):
        for kind in ("png", "svg"):
            path = paths.plots / f"lottery-demo-figure-{number}.{kind}"
            assert str(path) in printed
            assert path.exists()
    assert printed.splitlines()[-1] == "demo: 9 of 9 checks hold"


def test_demo_leaves_the_results_of_the_bench_alone(paths: Paths) -> None:
    demo.main(paths, FakeRunner(), workers=1)
    files = [*paths.results.iterdir(), *paths.plots.iterdir()]
    assert all(path.name.startswith("lottery-demo") for path in files)


def unfair(_boot: Boot, job: Job, rows: Rows) -> Rows:
    return [{**row, "sigma_error": 4.5} for row in rows] if job.kind == "share" else rows


def first_come(_boot: Boot, job: Job, rows: Rows) -> Rows:
    if job.kind != "fair":
        return rows
    last = len(rows) + 1
    return [{**row, "order": last - row["order"]} for row in rows]


def slow_tree(_boot: Boot, job: Job, rows: Rows) -> Rows:
    if job.kind != "scale" or rows[0]["pool"] != "rbtree":
        return rows
    return [{**row, "enqueue_ns": row["enqueue_ns"] * 100} for row in rows]


def starved(_boot: Boot, job: Job, rows: Rows) -> Rows:
    return [{**row, "fair_pct": 0.1} for row in rows] if job.kind == "floor" else rows


@pytest.mark.parametrize(
    ("change", "what", "failed"),
    [
        (unfair, "CPU shares of 10:1", 2),
        (first_come, "completion order", 1),
        (slow_tree, "enqueue + dequeue + draw, 1000 tasks", 3),
        (starved, "SCHED_OTHER's share", 1),
    ],
)
def test_a_check_that_fails_fails_the_demo(
    paths: Paths,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    change: Change,
    what: str,
    failed: int,
) -> None:
    monkeypatch.setattr(demo, "EXPERIMENT", replace(EXPERIMENT, draw=no_figures))
    assert demo.main(paths, FakeRunner(change=change), workers=1) == 1
    lines = capsys.readouterr().out.splitlines()
    (line,) = [line for line in lines if line.startswith(what)]
    assert line.endswith("FAIL")
    assert lines[-1] == f"demo: {9 - failed} of 9 checks hold"


def test_what_was_not_measured_does_not_hold() -> None:
    lines = demo.checks(Measured([], [], {}))
    assert len(lines) == 9
    assert all(shown == "not measured" and not good for _, _, shown, good in lines)

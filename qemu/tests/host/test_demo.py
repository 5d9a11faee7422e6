# SPDX-License-Identifier: GPL-2.0
"""The demo verb: its table, its figures, and its exit status when a check fails."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from lab.experiments.boots import Boot, Job, Outputs

from lab import demo
from lab.paths import Paths
from lab.report.measured import Measured
from lab.subjects.ipc import experiment as ipc_plan
from lab.subjects.livelock.experiment import Curve, CurveJob
from lab.subjects.udp import experiment as udp_plan
from lab.subjects.wrais.experiment import Cell, CellJob
from tests.host import fake_ipc, fake_livelock, fake_lottery, fake_udp, fake_wrais
from tests.host.canned import Rows, unchanged

CHECKS = 20
STEMS = ("lottery-demo", "wrais-demo", "livelock-demo", "ipc-demo", "udp-demo")


def no_figures(_results: Path, _plots: Path, _stem: str) -> list[Path]:
    return []


@dataclass
class FakeRunner:
    """Runs the boots of all parts from thin air."""

    lottery: fake_lottery.Change = fake_lottery.unchanged
    wrais: fake_wrais.Change = unchanged
    livelock: fake_livelock.Change = unchanged
    ipc: fake_ipc.Change = unchanged
    udp: fake_udp.Change = unchanged

    def __call__(self, boot: Boot) -> Outputs:
        if any(isinstance(job, CellJob) for job in boot.jobs):
            return fake_wrais.FakeRunner(self.wrais)(boot)
        if any(isinstance(job, CurveJob) for job in boot.jobs):
            return fake_livelock.FakeRunner(self.livelock)(boot)
        if any(isinstance(job, ipc_plan.CellJob) for job in boot.jobs):
            return fake_ipc.FakeRunner(self.ipc)(boot)
        if any(isinstance(job, udp_plan.CellJob) for job in boot.jobs):
            return fake_udp.FakeRunner(self.udp)(boot)
        return fake_lottery.FakeRunner(self.lottery)(boot)


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
    figures = [f"lottery-demo-figure-{number}" for number in (1, 2, 3)]
    for name in (*figures, "wrais-demo-start-up-depth2", "livelock-demo-mogul"):
        for kind in ("png", "svg"):
            path = paths.plots / f"{name}.{kind}"
            assert str(path) in printed
            assert path.exists()
    assert "e1000 50, threaded NAPI 18,000, hybrid 24,000" in printed
    assert "idle 8.0 s, stock 32.8 s, privileged 8.1 s (1.01 x)" in printed
    assert printed.splitlines()[-1] == f"demo: {CHECKS} of {CHECKS} checks hold"


def test_demo_leaves_the_results_of_the_bench_alone(paths: Paths) -> None:
    demo.main(paths, FakeRunner(), workers=1)
    files = [*paths.results.iterdir(), *paths.plots.iterdir()]
    assert all(path.name.startswith(STEMS) for path in files)


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


def late(cell: Cell, rows: Rows) -> Rows:
    if cell.variant.name != "wrais" or cell.background != "1w":
        return rows
    return [{**row, "startup_s": row["startup_s"] * 1.1} for row in rows]


def drowned(curve: Curve, rows: Rows) -> Rows:
    if curve.variant.name != "hybrid":
        return rows
    return [{**row, "goodput_pps": min(row["goodput_pps"], 2400)} for row in rows]


def sleepy(curve: Curve, rows: Rows) -> Rows:
    if curve.variant.name != "hybrid":
        return rows
    return [{**row, "latency_p50_us": 90.0} for row in rows]


def slow_spin(_cell: ipc_plan.Cell, rows: Rows) -> Rows:
    return [
        {**row, "p50_ns": row["p50_ns"] * 3} if row["mechanism"] == "spin" else row for row in rows
    ]


def lagging(cell: udp_plan.Cell, rows: Rows) -> Rows:
    return [{**row, "rate_error_pct": -5.0} for row in rows] if cell.where == "guest" else rows


@pytest.mark.parametrize(
    ("runner", "what", "failed"),
    [
        (FakeRunner(lottery=unfair), "CPU shares of 10:1", 2),
        (FakeRunner(lottery=first_come), "completion order", 1),
        (FakeRunner(lottery=slow_tree), "enqueue + dequeue + draw, 1000 tasks", 3),
        (FakeRunner(lottery=starved), "SCHED_OTHER's share", 1),
        (FakeRunner(ipc=slow_spin), "latency of spin", 1),
        (FakeRunner(udp=lagging), "100 Mbit/s in the guest", 1),
        (FakeRunner(wrais=late), "start of an application beside 1w ", 1),
        (FakeRunner(livelock=drowned), "packets an application gets of 60,000", 1),
        (FakeRunner(livelock=sleepy), "median latency at 2,000", 1),
    ],
)
def test_a_check_that_fails_fails_the_demo(
    paths: Paths,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    runner: FakeRunner,
    what: str,
    failed: int,
) -> None:
    silent = tuple(
        replace(part, experiment=replace(part.experiment, draw=no_figures)) for part in demo.parts()
    )
    monkeypatch.setattr(demo, "parts", lambda: silent)
    assert demo.main(paths, runner, workers=1) == 1
    lines = capsys.readouterr().out.splitlines()
    (line,) = [line for line in lines if line.startswith(what)]
    assert line.endswith("FAIL")
    assert lines[-1] == f"demo: {CHECKS - failed} of {CHECKS} checks hold"


def test_what_was_not_measured_does_not_hold() -> None:
    lines = [line for part in demo.parts() for line in part.checks(Measured([], [], {}))]
    assert len(lines) == CHECKS
    assert all(shown == "not measured" and not good for _, _, shown, good in lines)

# SPDX-License-Identifier: GPL-2.0
"""The UDP experiment with canned output: its plan, iperf3's report, records, goals, figures."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lab.experiments.boots import Boot, Finished, Job, Outputs, run_boots
from lab.host.native import host_runner

from lab import LabError
from lab.bench import make_bench, run
from lab.paths import Paths
from lab.report.goals import Goal
from lab.report.records import Record, read_json
from lab.subjects.udp import iperf, plan
from lab.subjects.udp.goals import goals
from lab.subjects.udp.metrics import evaluate
from tests.host.canned import Rows, unchanged
from tests.host.fake_udp import Change, FakeRunner


def records(change: Change = unchanged) -> list[Record]:
    runner = FakeRunner(change)
    return evaluate([Finished(boot, runner(boot)) for boot in plan.boots(plan.FULL)]).records


@pytest.fixture(scope="module")
def full() -> list[Record]:
    return records()


def cells(scope: plan.Scope) -> list[plan.Cell]:
    jobs = [job for boot in plan.boots(scope) for job in boot.jobs]
    return [job.cell for job in jobs if isinstance(job, plan.CellJob)]


# The plan


@pytest.mark.parametrize("scope", [plan.FULL, plan.QUICK, plan.DEMO])
def test_names_are_unique(scope: plan.Scope) -> None:
    for boot in plan.boots(scope):
        assert len({job.name for job in boot.jobs}) == len(boot.jobs) > 0


def test_the_full_plan_is_that_of_the_issue() -> None:
    found = cells(plan.FULL)
    alone = [cell for cell in found if cell.workers == 1 and cell.load == "none"]
    for variant in ("udprate", "iperf3", "naive"):
        rates = {c.rate_mbps for c in alone if c.variant == variant and c.where == "host"}
        assert set(plan.RATES) <= rates
    assert any(cell.workers == 16 and not cell.most for cell in found)
    hogs = {cell.policy for cell in found if (cell.where, cell.load) == ("guest", "hogs")}
    assert hogs == {"other", "fifo", "lottery"}


def test_peers_take_turns() -> None:
    """Whatever disturbs the host disturbs all of them."""
    order = [c.variant for c in cells(plan.FULL) if c.where == "host" and c.rate_mbps == 64]
    assert order == ["udprate", "iperf3", "naive"] * plan.FULL.repeats


def test_under_load_iperf3_has_the_same_company() -> None:
    """udprate starts its hogs itself; for iperf3 the host does."""
    jobs = [job for boot in plan.boots(plan.FULL) if boot.host for job in boot.jobs]
    loaded = [job for job in jobs if isinstance(job, plan.CellJob) and job.cell.load == "hogs"]
    turns = [("udprate", "other"), ("iperf3", "other"), ("udprate", "fifo"), ("iperf3", "fifo")]
    found = [(job.cell.variant, job.cell.policy) for job in loaded]
    assert found == turns * plan.FULL.repeats
    for job in loaded:
        words = " ".join(job.argv)
        assert (job.hogs or int(job.argv[job.argv.index("--hogs") + 1])) == plan.HOGS
        if job.cell.variant == "iperf3":
            assert words.startswith("chrt --fifo 90 iperf3") == (job.cell.policy == "fifo")
    assert not any(job.hogs for job in jobs if job not in loaded)


def test_nine_tenths_of_the_tickets() -> None:
    (cell,) = [
        c for c in cells(plan.FULL) if (c.where, c.load, c.policy) == ("guest", "hogs", "lottery")
    ]
    words = cell.argv()
    mine = int(words[words.index("--policy") + 1].removeprefix("lottery:"))
    hogs = int(words[words.index("--hogs") + 1]) * int(words[words.index("--hog-tickets") + 1])
    assert mine / (mine + hogs) == 0.9


def test_only() -> None:
    assert [boot.name for boot in plan.boots(plan.QUICK, "max_mbps")] == ["udp-host"]
    rest = [job for boot in plan.boots(plan.QUICK, "cpu_pct") for job in boot.jobs]
    assert not any(isinstance(job, plan.CellJob) and job.cell.most for job in rest)


# iperf3


def report(rates: Sequence[float], rest_s: float = 0.0) -> dict[str, Any]:
    parts = [{"sum": {"bits_per_second": rate * 1e6, "seconds": 1.0}} for rate in rates]
    if rest_s:
        parts.append({"sum": {"bits_per_second": 0.0, "seconds": rest_s}})
    total = sum(rates) * 1e6 / 8
    return {
        "intervals": parts,
        "end": {
            "sum": {"bytes": total, "seconds": 1.1 * len(rates)},
            "sum_sent": {"bytes": total, "seconds": float(len(rates))},
            "cpu_utilization_percent": {"host_total": 12.5},
        },
    }


def test_iperf_row() -> None:
    """Of the sender, whose time is not that of a receiver who waits for a CPU."""
    row = iperf.row(report([99, 101, 100], rest_s=0.1), 100, 3)
    assert row["achieved_mbps"] == pytest.approx(100)
    assert row["rate_error_pct"] == pytest.approx(0)
    assert row["rate_sd_mbps"] == pytest.approx(1)
    assert row["cpu_pct"] == 12.5


def test_iperf_report_that_is_none() -> None:
    with pytest.raises(LabError, match="iperf3: no 'intervals' in its report"):
        iperf.row({}, 100, 3)


def test_iperf_that_is_not_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    job = Job(iperf.KIND, "x", iperf.argv(1, 1, 100), 1.0)
    with pytest.raises(LabError, match="iperf3 is not installed: make deps"):
        iperf.run(job)


# The host as a runner


def program(paths: Paths, name: str, script: str) -> None:
    paths.bin.mkdir(parents=True, exist_ok=True)
    file = paths.bin / name
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return Paths(top=tmp_path, out=tmp_path / "build")


def no_guest(boot: Boot) -> Outputs:
    return {job.name: ["guest"] for job in boot.jobs}


def test_jobs_run_where_they_belong(paths: Paths) -> None:
    program(paths, "tool", 'echo "$1"; echo "$2"')
    jobs = (Job("own", "a", ("tool", "x", "y"), 1.0), Job("peer", "b", ("other",), 1.0))
    runner = host_runner(paths, {"peer": lambda job: [f"peer {job.name}"]}, no_guest)
    assert runner(Boot("h", 1, (), jobs, host=True)) == {"a": ["x", "y"], "b": ["peer b"]}
    assert runner(Boot("g", 1, (), jobs)) == {"a": ["guest"], "b": ["guest"]}


def busy_children() -> list[str]:
    """Processes of ours that compute."""
    me = os.getpid()
    pids = Path(f"/proc/{me}/task/{me}/children").read_text().split()
    commands = [(pid, Path(f"/proc/{pid}/cmdline").read_text()) for pid in pids]
    return [pid for pid, command in commands if "getppid" in command]


def test_hogs_are_there_as_long_as_their_job(paths: Paths) -> None:
    """All of them, with CPU time of their own; none afterwards, whatever became of the job."""

    def peer(job: Job) -> list[str]:
        if job.name == "b":
            raise LabError("no luck")
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            stats = [Path(f"/proc/{pid}/stat").read_text().split() for pid in busy_children()]
            if all(int(stat[13]) > 10 for stat in stats):
                break
            time.sleep(0.05)
        return [f"{len(stats)} of 3"]

    def boot(name: str) -> Boot:
        return Boot("h", 1, (), (Job("peer", name, (), 1.0, hogs=3),), host=True)

    runner = host_runner(paths, {"peer": peer}, no_guest)
    assert runner(boot("a")) == {"a": ["3 of 3"]}
    with pytest.raises(LabError, match="no luck"):
        runner(boot("b"))
    assert not busy_children()


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("echo tool: no luck >&2; exit 1", "a: exit 1: tool: no luck"),
        ("exit 0", "a: exit 0: no output"),
    ],
)
def test_a_program_that_fails_is_named(paths: Paths, script: str, words: str) -> None:
    program(paths, "tool", script)
    runner = host_runner(paths, {}, no_guest)
    with pytest.raises(LabError, match=words) as caught:
        runner(Boot("h", 1, (), (Job("own", "a", ("tool",), 1.0),), host=True))
    assert caught.value.exit_code == 1


def test_a_program_that_is_not_there(paths: Paths) -> None:
    runner = host_runner(paths, {}, no_guest)
    with pytest.raises(LabError, match="tool is missing: make userland"):
        runner(Boot("h", 1, (), (Job("own", "a", ("tool",), 1.0),), host=True))


def test_the_host_is_measured_before_any_guest_and_alone() -> None:
    order: list[str] = []

    def runner(boot: Boot) -> Outputs:
        order.append(boot.name)
        return {}

    boots = [
        Boot("guest", 1, (), ()),
        Boot("host-1", 1, (), (), host=True),
        Boot("host-2", 1, (), (), host=True),
    ]
    assert [done.boot.name for done in run_boots(boots, runner, 4, "x")] == [b.name for b in boots]
    assert order == ["host-1", "host-2", "guest"]


# Records and goals


def test_records_are_those_of_the_issue(full: list[Record]) -> None:
    usual = {"rate_mbps", "workers", "where", "load", "policy"}
    units = {"rate_error_pct": "percent", "rate_sd_mbps": "Mbit/s", "cpu_pct": "percent"}
    for record in full:
        if record.metric == "gap_us":
            assert set(record.params) == {*usual, "quantile"} and record.unit == "us"
        elif record.metric == "max_mbps":
            assert set(record.params) == usual - {"rate_mbps"}
        else:
            assert set(record.params) == usual and record.unit == units[record.metric]
    assert {record.variant for record in full} == {"udprate", "iperf3", "naive"}


def goal(table: Sequence[Goal], what: str) -> Goal:
    (found,) = [goal for goal in table if what in goal.what]
    return found


def test_good_records_meet_every_goal(full: list[Record]) -> None:
    met = [goal.met for goal in goals(full)]
    assert met == [True, True, True, True, None, True, None]


def test_nothing_measured_is_neither_met_nor_missed() -> None:
    assert {goal.met for goal in goals([])} == {None}


@pytest.mark.parametrize(
    ("what", "metric", "number", "workers"),
    [
        ("one process, every rate", "rate_error_pct", -0.2, 1),
        ("rate_sd_mbps", "rate_sd_mbps", 0.6, 1),
        ("cpu_pct at 512", "cpu_pct", 10.1, 1),
        ("16 workers", "rate_error_pct", 0.3, 16),
        ("hogs, 100 Mbit/s, fifo", "rate_error_pct", -1.1, 1),
    ],
)
def test_a_goal_that_is_missed_says_no(what: str, metric: str, number: float, workers: int) -> None:
    def change(cell: plan.Cell, rows: Rows) -> Rows:
        mine = cell.variant == "udprate" and cell.workers == workers
        return [{**row, metric: number} for row in rows] if mine else rows

    assert goal(goals(records(change)), what).met is False


def test_one_disturbed_repeat_does_not_decide() -> None:
    def change(cell: plan.Cell, rows: Rows) -> Rows:
        disturbed = cell.variant == "udprate" and cell.repeat == 2
        return [{**row, "rate_sd_mbps": 5.0} for row in rows] if disturbed else rows

    assert goal(goals(records(change)), "rate_sd_mbps").met is True


def test_output_that_is_not_right_is_named() -> None:
    (boot,) = plan.boots(plan.QUICK, "max_mbps")
    bad: Outputs = {job.name: [json.dumps({"tool": "udprate"})] for job in boot.jobs}
    with pytest.raises(LabError, match="udprate: workers None: must be int"):
        evaluate([Finished(boot, bad)])


def test_bench_writes_records_tables_and_figures(paths: Paths) -> None:
    bench = make_bench("udp", True, None, 1, 1)
    assert run(bench, paths, FakeRunner()) == 0
    assert read_json(paths.results / "udp-quick.json")
    names = {path.name for path in paths.plots.iterdir()}
    for number in (1, 2, 3):
        assert {f"udp-quick-figure-{number}.png", f"udp-quick-figure-{number}.svg"} <= names
    text = (paths.plots / "udp-quick-tables.txt").read_text()
    for table in ("Greatest rate", "Actual against expected", "Standard deviation", "Policies"):
        assert table in text
    policies = [line.split()[:4] for line in text[text.index("Policies") :].splitlines()]
    for variant in ("udprate", "iperf3"):
        for policy in ("other", "fifo"):
            assert [variant, "host", "hogs", policy] in policies


def test_a_part_of_the_metrics_can_be_drawn(paths: Paths) -> None:
    bench = replace(make_bench("udp", True, "max_mbps", 1, 1))
    assert run(bench, paths, FakeRunner()) == 0
    assert (paths.plots / "udp-quick-figure-1.png").exists()
    assert not (paths.plots / "udp-quick-figure-2.png").exists()

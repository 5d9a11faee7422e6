# SPDX-License-Identifier: GPL-2.0
"""The IPC experiment with canned output: its plan, its records, its goals, its figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from lab.experiments.boots import Finished

from lab import LabError
from lab.bench import make_bench, run
from lab.paths import Paths
from lab.report.goals import Goal
from lab.report.records import Record, read_csv, read_json
from lab.subjects.ipc.figures import distance, distributions
from lab.subjects.ipc.goals import goals
from lab.subjects.ipc.metrics import STATS, Bucket, evaluate, read_buckets
from lab.subjects.ipc.reference import TABLE
from tests.host.canned import Rows
from tests.host.fake_ipc import FakeRunner


def finished(runner: FakeRunner, scope: plan.Scope = plan.FULL) -> list[Finished]:
    return [Finished(boot, runner(boot)) for boot in plan.boots(scope)]


@pytest.fixture(scope="module")
def full() -> list[Record]:
    return evaluate(finished(FakeRunner())).records


@pytest.mark.parametrize("scope", [plan.FULL, plan.QUICK, plan.DEMO])
def test_names_are_unique_and_the_host_comes_alone(scope: plan.Scope) -> None:
    boots = plan.boots(scope)
    assert len({boot.name for boot in boots}) == len(boots)
    assert [boot.host for boot in boots] == [True, *[False] * (len(boots) - 1)]
    for boot in boots:
        assert len({job.name for job in boot.jobs}) == len(boot.jobs) > 0


def test_the_full_plan_is_that_of_the_issue() -> None:
    """Every mechanism everywhere, each policy where there is one, with and without hogs."""
    seen = {
        (cell.where, cell.load, cell.policy, name)
        for boot in plan.boots(plan.FULL)
        for job in boot.jobs
        if isinstance(job, plan.CellJob)
        for cell in (job.cell,)
        for name in cell.mechanisms
    }
    for load in ("none", "hogs"):
        for policy in plan.POLICIES:
            for name in plan.MECHANISMS:
                assert ("guest", load, policy, name) in seen
                assert (("host", load, policy, name) in seen) == (policy != "lottery")
    assert {*TABLE, "shm-containers"} <= set(plan.MECHANISMS)


def test_who_spins_has_two_cpus_and_containers_a_runtime() -> None:
    for boot in plan.boots(plan.FULL):
        for job in boot.jobs:
            assert isinstance(job, plan.CellJob)
            names = set(job.cell.mechanisms)
            if not boot.host and names & {*plan.SPINNING, *plan.SHM_CONTAINERS}:
                assert boot.cpus == 2
            if not boot.host and names & set(plan.CONTAINERS):
                assert boot.root


def test_hogs_of_a_lottery_are_in_it() -> None:
    cell = plan.Cell(("pipe",), "guest", "hogs", "lottery", 10, 1, 1, 2)
    words = cell.argv()
    assert words[words.index("--policy") + 1] == f"lottery:{plan.TICKETS}"
    assert words[words.index("--hog-tickets") + 1] == str(plan.HOG_TICKETS)
    assert "--hog-tickets" not in replace(cell, policy="fifo").argv()


def test_records_are_those_of_the_issue(full: list[Record]) -> None:
    assert {record.metric for record in full} == {"latency_ns"}
    assert {record.unit for record in full} == {"ns"}
    assert {record.variant for record in full} == set(plan.MECHANISMS)
    for record in full:
        assert set(record.params) == {"policy", "where", "load", "stat"}
    assert {record.params["stat"] for record in full} == set(STATS)
    assert {record.params["where"] for record in full} == {"host", "guest"}
    assert {record.params["load"] for record in full} == {"none", "hogs"}
    assert {record.params["policy"] for record in full} == set(plan.POLICIES)


def falsify(name: str, factor: float) -> Callable[[plan.Cell, Rows], Rows]:
    def change(_cell: plan.Cell, rows: Rows) -> Rows:
        return [
            {**row, "p50_ns": row["p50_ns"] * factor} if row["mechanism"] == name else row
            for row in rows
        ]

    return change


def goal(table: Sequence[Goal], what: str) -> Goal:
    (found,) = [goal for goal in table if what in goal.what]
    return found


def test_good_records_meet_every_goal(full: list[Record]) -> None:
    assert [goal.met for goal in goals(full)] == [True] * 3


@pytest.mark.parametrize(
    ("what", "name", "factor"),
    [
        ("spin (threads)", "spin", 1.06),
        ("local_lat", "zmq-ipc", 1.15),
        ("local_lat", "zmq-ipc", 0.9),
    ],
)
def test_a_goal_that_is_missed_says_no(what: str, name: str, factor: float) -> None:
    records = evaluate(finished(FakeRunner(falsify(name, factor)))).records
    assert goal(goals(records), what).met is False


def missing(_cell: plan.Cell, rows: Rows) -> Rows:
    return [
        {**row, "samples": 0, "missing": "no runtime", "buckets": ""}
        if row["mechanism"] in plan.CONTAINERS
        else row
        for row in rows
    ]


def test_what_cannot_be_measured_is_in_the_raw_table_with_why() -> None:
    measured = evaluate(finished(FakeRunner(missing)))
    assert not {record.variant for record in measured.records} & set(plan.CONTAINERS)
    table = measured.raw["runs"]
    column = table.header.index("missing")
    assert {row[column] for row in table.rows} == {"", "no runtime"}
    line = goal(goals(measured.records), "mechanisms of the reference")
    assert line.met is False and "zmq-tcp-containers, shm-containers" in line.measured


def test_nothing_measured_is_neither_met_nor_missed() -> None:
    assert [goal.met for goal in goals([])] == [None] * 3


def test_buckets() -> None:
    assert read_buckets("1.00-2.00:3 2.00-4.50:1") == [Bucket(1, 2, 3), Bucket(2, 4.5, 1)]
    with pytest.raises(LabError, match="buckets 'x'"):
        read_buckets("x")


def test_fits_tell_the_shapes_apart() -> None:
    """Samples of a log-normal distribution are nearer to that than to a normal one."""
    import random

    dice = random.Random(1)
    values = sorted(dice.lognormvariate(8, 0.8) for _ in range(5000))
    buckets = [Bucket(value, value + 0.01, 1) for value in values]
    normal, logs = distributions(buckets)
    assert distance(buckets, logs, True) < 0.03 < 0.1 < distance(buckets, normal, False)


def test_bench_writes_records_tables_and_figures(tmp_path: Path) -> None:
    paths = Paths(top=tmp_path, out=tmp_path / "build")
    assert run(make_bench("ipc", True, None, 1, 1), paths, FakeRunner()) == 0
    assert read_json(paths.results / "ipc-quick.json")
    buckets = read_csv(paths.results / "ipc-quick-histograms.csv")
    assert {row["where"] for row in buckets} == {"host", "guest"}
    names = {path.name for path in paths.plots.iterdir()}
    for figure in ("histogram-zmq-ipc", "mechanisms", "policies"):
        assert {f"ipc-quick-{figure}.png", f"ipc-quick-{figure}.svg"} <= names
    text = (paths.plots / "ipc-quick-tables.txt").read_text()
    assert "host, load none, policy other" in text and "shm-containers" in text

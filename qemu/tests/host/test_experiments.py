# SPDX-License-Identifier: GPL-2.0
"""The bench verb and the lottery experiment with canned tool output: no VM."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lab.experiments.boots import Boot, Finished, Job, Outputs, run_boots

from lab import LabError
from lab.bench import Bench, make_bench, run
from lab.paths import Paths
from lab.report.goals import Goal, format_table, goals_table
from lab.report.measured import differing, first_difference, repeat_goal
from lab.report.records import Record, Sample, read_csv, read_json
from lab.report.rows import read_rows
from lab.report.stats import rank_correlation, ranks, spread
from lab.report.summary import summarise
from lab.subjects.lottery import goals as lottery_goals
from lab.subjects.lottery.metrics import evaluate
from lab.subjects.lottery.output import FloorRow, ScaleRow
from tests.host.canned import Rows
from tests.host.fake_lottery import FakeRunner

SIZES = (2, 20, 100, 300, 1000, 3000)
RATIOS = ("1:1", "2:1", "3:1", "5:1", "10:1", "20:1", "50:1", "100:1")


def bench(quick: bool = True, only: str | None = None, repeat: int = 1) -> Bench:
    made = make_bench("lottery", quick, only, repeat, workers=1)
    return replace(made, experiment=replace(made.experiment, draw=no_figures))


def no_figures(_results: Path, _plots: Path, _stem: str) -> list[Path]:
    return []


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return Paths(top=tmp_path, out=tmp_path / "build")


@pytest.fixture(scope="module")
def full() -> list[Record]:
    runner = FakeRunner()
    boots = plan.boots(plan.FULL)
    return evaluate([Finished(boot, runner(boot)) for boot in boots]).records


# The plan


def test_full_plan_covers_the_goals() -> None:
    jobs = [(boot, job) for boot in plan.boots(plan.FULL) for job in boot.jobs]
    for pool in plan.POOLS:
        seeds: dict[str, set[int]] = {}
        for boot, job in jobs:
            if job.kind == "scale" and boot.append == (f"lottery_pool={pool}",):
                seeds.setdefault(job.argv[1], set()).add(boot.seed)
        assert set(seeds) == {str(size) for size in SIZES}
        assert all(len(used) >= 3 for used in seeds.values())
    assert {job.argv[1] for _, job in jobs if job.kind == "share"} == set(RATIOS)
    assert {job.kind for _, job in jobs} == set(plan.KINDS.values())


@pytest.mark.parametrize("scope", [plan.FULL, plan.QUICK, plan.DEMO])
def test_names_of_boots_and_jobs_are_unique(scope: plan.Scope) -> None:
    boots = plan.boots(scope)
    assert len({boot.name for boot in boots}) == len(boots)
    for boot in boots:
        assert len({job.name for job in boot.jobs}) == len(boot.jobs)


def test_code_is_timed_with_one_nanosecond_instructions() -> None:
    for boot in plan.boots(plan.FULL):
        if any(job.kind in ("scale", "pipe") for job in boot.jobs):
            assert boot.shift == 0


@pytest.mark.parametrize("metric", sorted(plan.KINDS))
def test_only_runs_what_the_metric_needs(metric: str) -> None:
    boots = plan.boots(plan.QUICK, metric)
    assert boots
    assert {job.kind for boot in boots for job in boot.jobs} == {plan.KINDS[metric]}


# From output to records


def test_records_are_those_of_the_issue(full: list[Record]) -> None:
    for metric in ("enqueue_ns", "dequeue_ns", "draw_ns", "cycle_ns"):
        for variant in ("list", "rbtree"):
            found = [r for r in full if (r.metric, r.variant) == (metric, variant)]
            assert [r.params for r in found] == [{"tasks": size} for size in SIZES]
            assert all(r.unit == "ns" and r.n >= 3 for r in found)
    assert {r.params["ratio"] for r in full if r.metric == "share_error_sigma"} == set(RATIOS)
    assert {r.variant for r in full if r.metric == "pipe_roundtrip_ns"} == {"lottery", "other"}
    assert [r.unit for r in full if r.metric == "fair_floor_pct"] == ["percent"]
    assert [r.metric for r in full].count("ratio_10_1") == 1


def scale_boot(pool: str = "list") -> Boot:
    job = Job("scale", "scale-20-1", ("lottery-scale", "20"), 0.1)
    return Boot("cost", 1, (f"lottery_pool={pool}",), (job,))


SCALE = {
    "tool": "lottery-scale",
    "pool": "list",
    "tasks": 20,
    "enqueue_count": 10,
    "enqueue_ns": 1000,
    "dequeue_count": 5,
    "dequeue_ns": 1000,
    "draw_count": 100,
    "draw_ns": 5000,
    "elapsed_ns": 1,
}


def evaluate_scale(row: dict[str, Any], pool: str = "list") -> dict[str, float]:
    records = evaluate([Finished(scale_boot(pool), {"scale-20-1": [json.dumps(row)]})]).records
    return {record.metric: record.value for record in records}


def test_cycle_is_the_sum_of_the_three_means() -> None:
    assert evaluate_scale(SCALE) == {
        "enqueue_ns": 100.0,
        "dequeue_ns": 200.0,
        "draw_ns": 50.0,
        "cycle_ns": 350.0,
    }


def test_the_kernel_must_run_the_pool_that_was_asked_for() -> None:
    with pytest.raises(LabError, match="pool 'list': must be rbtree"):
        evaluate_scale(SCALE, pool="rbtree")


def test_an_operation_that_never_ran_is_an_error() -> None:
    with pytest.raises(LabError, match="draw_count 0: must be at least 1"):
        evaluate_scale({**SCALE, "draw_count": 0})


def test_a_job_without_output_is_an_error() -> None:
    with pytest.raises(LabError, match="no result of scale-20-1") as caught:
        evaluate([Finished(scale_boot(), {})])
    assert caught.value.exit_code == 1


def test_share_error_is_the_worst_task_of_the_worst_run() -> None:
    job = Job("share", "share-2:1", ("lottery-share", "2:1"), 1)
    row = {"tool": "lottery-share", "case": "2:1", "total": 3, "lotteries": 9, "wins": 6.0}
    row = {**row, "expected": 6.0}
    done = []
    for seed, errors in ((1, (0.5, -0.7)), (2, (-1.5, 0.1))):
        rows = [
            {**row, "tickets": tickets, "sigma_error": error}
            for tickets, error in zip((2, 1), errors, strict=True)
        ]
        boot = Boot(f"share-{seed}", seed, ("lottery_pool=rbtree",), (job,))
        done.append(Finished(boot, {job.name: [json.dumps(row) for row in rows]}))
    (record,) = evaluate(done).records
    assert record.value == 1.5
    assert record.n == 2
    assert record.params == {"ratio": "2:1"}


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([], "no output"),
        (["not json"], "must be a JSON object"),
        (['{"tool": "lottery-scale"}'], "must be a JSON object of this tool"),
        (['{"tool": "lottery-floor", "seconds": 1}'], "fair_pct None: must be float"),
        (['{"tool": "lottery-floor", "fair_pct": true, "seconds": 1}'], "fair_pct True"),
    ],
)
def test_output_that_is_not_right_is_named(lines: list[str], words: str) -> None:
    with pytest.raises(LabError, match=words):
        read_rows(FloorRow, lines)


def test_numbers_keep_their_types() -> None:
    (row,) = read_rows(FloorRow, ['{"tool": "lottery-floor", "fair_pct": 5, "seconds": 20}', ""])
    assert row == FloorRow(5.0, 20.0)
    with pytest.raises(LabError, match=r"tasks 20\.5: must be int"):
        read_rows(ScaleRow, [json.dumps({**SCALE, "tasks": 20.5})])


# Goals


def goal(records: Sequence[Record], what: str) -> Goal:
    (found,) = [goal for goal in lottery_goals.goals(records) if what in goal.what]
    return found


def with_values(records: Sequence[Record], metric: str, factor: float) -> list[Record]:
    """Records with one metric of the tree and of the class multiplied."""
    return [
        replace(r, value=r.value * factor)
        if r.metric == metric and r.variant in ("rbtree", "lottery")
        else r
        for r in records
    ]


def test_good_records_meet_every_goal(full: list[Record]) -> None:
    assert [goal.met for goal in lottery_goals.goals(full)] == [True] * 8


@pytest.mark.parametrize(
    ("what", "metric", "factor"),
    [
        ("list / rbtree", "cycle_ns", 30.0),
        ("100 tasks and above", "cycle_ns", 30.0),
        ("enqueue_ns at 3000", "enqueue_ns", 30.0),
        ("share_error_sigma", "share_error_sigma", 10.0),
        ("ratio_10_1", "ratio_10_1", 2.0),
        ("pipe_roundtrip_ns", "pipe_roundtrip_ns", 1.05),
        ("fair_floor_pct", "fair_floor_pct", 0.5),
    ],
)
def test_a_goal_that_is_missed_says_no(
    full: list[Record], what: str, metric: str, factor: float
) -> None:
    assert goal(with_values(full, metric, factor), what).met is False


def test_growth_is_judged_between_100_and_3000(full: list[Record]) -> None:
    grown = [
        replace(r, value=r.value * 3)
        if (r.metric, r.variant, r.params.get("tasks")) == ("cycle_ns", "rbtree", 3000)
        else r
        for r in full
    ]
    assert goal(grown, "3000 / 100").met is False


def test_what_was_not_measured_is_neither_met_nor_missed() -> None:
    table = lottery_goals.goals([])
    assert [goal.met for goal in table] == [None] * len(table)
    assert {goal.verdict() for goal in table} == {"-"}
    assert {goal.measured for goal in table} == {"not measured"}


def test_tables_are_aligned() -> None:
    assert format_table(("a", "long"), [("wide cell", "b")]) == (
        "a          long\n---------  ----\nwide cell  b\n"
    )
    assert (
        goals_table([Goal("x", "< 1", "2", False)]).splitlines()[2] == "x     < 1     2         no"
    )


# The verb


def test_bench_writes_everything(paths: Paths, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(make_bench("lottery", True, None, 1, 1), paths, FakeRunner()) == 0
    stems = sorted(path.name for path in paths.results.iterdir())
    assert stems == sorted(
        f"lottery-quick{end}"
        for end in (
            ".json",
            ".txt",
            ".bench",
            "-samples.csv",
            *(f"-{name}.csv" for name in ("fair", "floor", "pipe", "scale", "share")),
        )
    )
    assert read_json(paths.results / "lottery-quick.json")
    raw = read_csv(paths.results / "lottery-quick-scale.csv")
    assert {row["pool"] for row in raw} == {"list", "rbtree"}
    printed = capsys.readouterr().out
    assert (paths.results / "lottery-quick.txt").read_text() in printed
    for number in (1, 2, 3):
        assert str(paths.plots / f"lottery-quick-figure-{number}.png") in printed


def test_a_partial_run_leaves_the_full_one_alone(paths: Paths) -> None:
    assert bench(quick=False).stem == "lottery"
    assert bench(quick=False, only="cycle_ns").stem == "lottery-quick"
    assert bench(quick=True).stem == "lottery-quick"


def test_raw_tables_of_an_earlier_run_do_not_stay(paths: Paths) -> None:
    run(bench(), paths, FakeRunner())
    run(bench(only="fair_floor_pct"), paths, FakeRunner())
    tables = sorted(path.name for path in paths.results.glob("*.csv"))
    assert tables == ["lottery-quick-floor.csv", "lottery-quick-samples.csv"]


def test_two_runs_are_compared_byte_for_byte(
    paths: Paths, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(bench(repeat=2), paths, FakeRunner()) == 0
    assert "2 runs, all files identical" in capsys.readouterr().out


def test_a_run_that_differs_fails_and_is_shown(
    paths: Paths, capsys: pytest.CaptureFixture[str]
) -> None:
    seen = []

    def drift(_boot: Boot, _job: Job, rows: Rows) -> Rows:
        seen.append(rows)
        return [{**row, "fair_pct": row["fair_pct"] + len(seen) / 1000} for row in rows]

    runner = FakeRunner(change=drift)
    assert run(bench(only="fair_floor_pct", repeat=2), paths, runner) == 1
    printed = capsys.readouterr().out
    assert "run 2 differs: lottery-quick.json:2: " in printed
    assert "same figures" in printed
    assert " no\n" in printed


def test_difference_names_file_and_line() -> None:
    one, two = {"a": "x\ny\n"}, {"a": "x\nz\n", "b": "new\n"}
    assert differing([one, two]) == ["a", "b"]
    assert first_difference("a", one, two) == "a:2: 'y' against 'z'"
    assert first_difference("b", one, two) == "b:1: '(end)' against 'new'"
    assert repeat_goal([one]).met is None
    assert repeat_goal([one, one]).met is True
    assert repeat_goal([one, two]).met is False


@pytest.mark.parametrize(
    ("exp", "only", "repeat", "workers", "words"),
    [
        ("lotery", None, 1, 1, "EXP 'lotery': allowed are ipc, livelock, lottery, udp, wrais"),
        ("lottery", "speed", 1, 1, "metric 'speed': allowed are enqueue_ns, "),
        ("lottery", None, 0, 1, "repeat 0: must be 1 to 10"),
        ("lottery", None, 11, 1, "repeat 11: must be 1 to 10"),
        ("lottery", None, 1, 0, "jobs 0: must be 1 to "),
    ],
)
def test_bad_input_is_one_line(
    exp: str, only: str | None, repeat: int, workers: int, words: str
) -> None:
    with pytest.raises(LabError) as caught:
        make_bench(exp, False, only, repeat, workers)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 2


# Boots


def test_boots_run_side_by_side_and_come_back_in_order() -> None:
    boots = plan.boots(plan.FULL)
    runner = FakeRunner()
    finished = run_boots(boots, runner, workers=3, label="test")
    assert [done.boot for done in finished] == boots
    assert sorted(boot.name for boot in runner.booted) == sorted(boot.name for boot in boots)


def test_a_failed_boot_ends_the_run() -> None:
    def broken(boot: Boot) -> Outputs:
        raise LabError(f"{boot.name}: panic", exit_code=1)

    with pytest.raises(LabError, match="panic"):
        run_boots(plan.boots(plan.QUICK), broken, workers=1, label="test")


# Statistics


def test_spread_of_one_and_of_more() -> None:
    assert spread([2.0]) == {"sd": 0.0, "min": 2.0, "max": 2.0}
    assert spread([1.0, 3.0]) == {"sd": pytest.approx(2**0.5), "min": 1.0, "max": 3.0}


def test_samples_of_a_key_make_one_record() -> None:
    kinds = [("a", 3.0), ("b", 7.0), ("a", 1.0), ("a", 8.0)]
    samples = [Sample("x", metric, "v", {"k": 1}, value, "s", "1") for metric, value in kinds]
    one, two = summarise(samples, lambda metric: max if metric == "b" else min, {"last": max})
    assert (one.metric, one.value, one.n) == ("a", 1.0, 3)
    assert one.spread == {**spread([3.0, 1.0, 8.0]), "last": 8.0}
    assert (two.metric, two.value, two.n) == ("b", 7.0, 1)


def test_ranks_share_ties() -> None:
    assert ranks([30.0, 10.0, 30.0]) == [2.5, 1.0, 2.5]


def test_rank_correlation() -> None:
    assert rank_correlation([1.0, 2.0, 3.0], [30.0, 20.0, 10.0]) == pytest.approx(-1)
    assert rank_correlation([1.0, 2.0, 3.0], [1.0, 4.0, 9.0]) == pytest.approx(1)
    assert rank_correlation([1.0, 1.0], [1.0, 2.0]) == 0.0
    with pytest.raises(ValueError, match="same length"):
        rank_correlation([1.0], [1.0])

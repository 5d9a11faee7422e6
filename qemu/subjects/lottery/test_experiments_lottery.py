# SPDX-License-Identifier: GPL-2.0
"""The lottery experiment: what it runs, and the arithmetic from rows to records."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from lab import LabError
from lab.guest.boot import Boot, Program
from lab.guest.machine import Machine
from lab.report.goals import judge
from lab.report.records import Record
from lab.report.rows import read_rows
from subjects.lottery import experiment
from subjects.lottery.experiment import FULL, KINDS
from subjects.lottery.goals import GOALS
from subjects.lottery.law import at_the_end, shares, trials_by_law
from subjects.lottery.metrics import evaluate
from subjects.lottery.output import (
    CyclictestRow,
    FloorRow,
    MonteCarloRow,
    ViewersRow,
    cyclictest_row,
    hackbench_row,
)
from tests.host.recorded import TEXT, Recorded, Rows, printed, printing

EVERY = [(boot, p) for boot in experiment.boots(FULL) for p in boot.programs]


def test_time_is_virtual_but_for_shares_of_several_cpus() -> None:
    """Without the root image, whose disk completes in host time; its programs are in memory.

    Where code is timed, an instruction is a nanosecond.
    """
    for boot, program in EVERY:
        timed = program.what in ("scale", "pipe", "hackbench", "cyclictest")
        assert not timed or boot.machine.icount_shift == 0
        assert boot.machine.real_time == boot.name.startswith("smp-")
        assert not boot.machine.root
        named = [word for word in program.argv if word in ("hackbench", "cyclictest")]
        assert [Path(name).name for name in program.image[:1]] == named


def test_hackbench_takes_turns() -> None:
    """A run of each policy, again and again: what changes with time is in both."""
    for cpus in experiment.HACKBENCH_CPUS:
        programs = experiment.hackbench_programs(FULL, cpus)
        runs = [p for p in programs if p.argv[0] != "@cat"]
        assert [p.argv[0] for p in runs] == ["lottery", "hackbench"] * FULL.hackbench_runs
        assert {p.argv[p.argv.index("hackbench") :] for p in runs} == {runs[1].argv}


@pytest.mark.parametrize("metric", sorted(KINDS))
def test_only_runs_what_the_metric_needs(metric: str) -> None:
    boots = experiment.boots(experiment.QUICK, metric)
    assert {p.what for boot in boots for p in boot.programs} == {KINDS[metric]}


def records_of(
    kind: str, rows: Iterable[dict[str, Any]], pool: str = "list", *others: Rows
) -> list[Record]:
    program = Program(f"{kind}-1", ("lottery-bench", kind), what=kind)
    boots = [
        Boot("boot", Machine(seed=seed, append=(f"lottery_pool={pool}",)), (program,))
        for seed in range(1, 2 + len(others))
    ]
    return evaluate(
        [printing(boot, some) for boot, some in zip(boots, (rows, *others), strict=True)]
    ).records


SCALE = {
    **{"enqueue_count": (10,), "enqueue_ns": (1000,), "dequeue_count": (5,)},
    **{"dequeue_ns": (1000,), "draw_count": (100,), "draw_ns": (5000,)},
}
FRAMES = (0, 0, 0, 3000, 2000, 1250, 6000, 3000, 3250)
VIEWERS = {
    **{"viewers_ratio A before": 2.4, "viewers_ratio B after": 1, "viewers_ratio C after": 2},
    **{"viewers_error_pct before": 20, "viewers_error_pct after": 0},
}
COSTS = {"enqueue_ns 20": 100, "dequeue_ns 20": 200, "draw_ns 20": 50, "cycle_ns 20": 350}


@pytest.mark.parametrize(
    ("kind", "change", "wanted"),
    [
        ("scale", SCALE, COSTS),
        ("ratio", {"tickets": (10, 1), "wins": (84.0, 8.0)}, {"ratio_10_1": 10.5}),
        ("yield", {"wins": (90.0, 100.0)}, {"yield_ratio": 0.9}),
        ("draws", {"wins": (7.0, 9.0), "expected": (8.0, 6.5)}, {"draw_error": 2.5}),
        ("fair", {"tickets": (300, 200), "order": (1, 2)}, {"order_correlation 2": -1}),
        # the worst task of each case
        (
            "smp",
            {"case": ("a", "a", "b"), "due_pct": (50.0, 50.0, 75.0), "got_pct": (51.0, 47.5, 75.0)},
            {"smp_share_error_pct a 2": 2.5, "smp_share_error_pct b 1": 0},
        ),
        # the mean of the rounds
        (
            "displaced",
            {"due_pct": (75.0, 75.0), "got_pct": (75.0, 37.5)},
            {"displaced_share_pct": 75},
        ),
        ("transfers", {"tickets": (3, 1), "queries": (6, 4)}, {"transfer_error_pct": 60}),
        ("montecarlo", {"error": (*[1.0] * 8, 2.0, 3.0, 2.5)}, {"montecarlo_error_ratio": 1.5}),
        ("viewers", {"frames": FRAMES}, VIEWERS),
        ("floor", {"wait_ms": (9.0,)}, {"fair_floor_pct": 5.08582115, "fair_wait_ms": 9}),
        (
            "currencies",
            {"cpu_s": (9.0, 10.0, 10.0, 10.0)},
            {"currency_ratio before": 0.9, "currency_ratio after": 1},
        ),
    ],
)
def test_what_becomes_of_rows(
    kind: str, change: dict[str, tuple[object, ...]], wanted: dict[str, float]
) -> None:
    """Each field has its values in the rows; a record is named by its metric and parameters."""
    some = printed(kind) * len(next(iter(change.values())))
    fields = [
        dict(zip(change, values, strict=True)) for values in zip(*change.values(), strict=True)
    ]
    records = records_of(kind, [row | new for row, new in zip(some, fields, strict=False)])
    found = {" ".join([r.metric, *map(str, r.params.values())]): r.value for r in records}
    assert {name: found[name] for name in wanted} == pytest.approx(wanted)


def test_share_error_is_the_worst_task_of_the_worst_run() -> None:
    (row,) = printed("share")
    first, second = ([{**row, "sigma_error": e} for e in pair] for pair in ((0.5, -0.7), (-1.5, 0)))
    (record,) = records_of("share", first, "rbtree", second)
    assert (record.value, record.n, record.params) == (1.5, 2, {"ratio": "2:1"})


@pytest.mark.parametrize(
    ("kind", "change", "pool", "told"),
    [
        ("scale", {}, "rbtree", "pool 'list': must be rbtree"),
        ("scale", {"draw_count": 0}, "list", "draw_count 0: must be at least 1"),
        ("scale", {"tasks": 20.5}, "list", r"\.tasks"),
        ("floor", {"fair_pct": True}, "list", "fair_pct"),
        ("ratio", {"wins": 0.0}, "list", "the task with fewest tickets never ran"),
        ("currencies", {"cpu_s": 0.0}, "list", "currencies-1: B has nothing before"),
        ("transfers", {"queries": 0}, "list", "transfers-1: a client was not served"),
        ("viewers", {"frames": 0}, "list", "viewers-1: a viewer has no frames"),
    ],
)
def test_what_measures_nothing_is_an_error(
    kind: str, change: dict[str, object], pool: str, told: str
) -> None:
    with pytest.raises(LabError, match=told):
        records_of(kind, [{**row, **change} for row in printed(kind)], pool)


def test_what_cpus_were_not_idle_is_beside_the_time_of_hackbench() -> None:
    """The median of the runs; idle time is the sum of four CPUs."""
    programs, said = [], []
    for number, (time, idle) in enumerate((("1.250", 42), ("1.000", 40), ("9.000", 44)), 1):
        name = f"hackbench-lottery-{number}"
        tools = {f"{name}-before": "@cat", name: "lottery", f"{name}-after": "@cat"}
        for each, tool in tools.items():
            programs.append(Program(each, (tool,), what="hackbench", repeat=number))
        said += [["10.00 40.00"], ["Running in process mode", f"Time: {time}"], [f"12.00 {idle}"]]
    machine = Machine(cpus=4, append=("lottery_pool=sums",))
    boot = Boot("boot", machine, tuple(programs))
    done = printing(boot, *([{TEXT: line} for line in lines] for lines in said))
    found = {r.metric: r for r in evaluate([done]).records}
    assert (found["hackbench_ms"].value, found["hackbench_ms"].n) == (1250.0, 3)
    assert found["hackbench_busy_pct"].value == 75.0


CYCLICTEST = "T: 0 (   44) P:80 I:199 C:  25000 Min:   3687 Act:    4215 Avg:    3960 Max:   11355"


def test_cyclictest_is_read_by_name() -> None:
    found = cyclictest_row("idle", ["# a note", f"{CYCLICTEST} "])
    assert found == CyclictestRow("idle", 25000, 3687, 3960, 11355)


@pytest.mark.parametrize(
    ("read", "told"),
    [
        (lambda: hackbench_row("other", 1, ["SENDER: write (error: Broken pipe)"]), "0 lines with"),
        (lambda: hackbench_row("other", 1, ["Time: 1.0", "Time: 1.0"]), "2 lines with a result"),
        (lambda: hackbench_row("other", 1, ["Time: 1.0 s"]), "0 lines with a result: must be 1"),
        (lambda: cyclictest_row("idle", [CYCLICTEST.replace("T: 0", "T: 1")]), "0 lines with"),
    ],
)
def test_a_result_that_is_none_is_named(read: Callable[[], object], told: str) -> None:
    with pytest.raises(LabError, match=told):
        read()


def test_numbers_keep_their_types() -> None:
    line = '{"tool": "lottery-floor", "fair_pct": 5, "wait_ms": 9.5, "seconds": 20}'
    (row,) = read_rows(FloorRow, [line, ""])
    assert row == FloorRow(5.0, 9.5, 20.0)


def test_the_law_of_inflation() -> None:
    """n dn is the same for all: after the start of the second, n1^2 - n2^2 stays what it was."""
    assert trials_by_law(1.0, [0.0]) == pytest.approx([1.0])
    assert trials_by_law(3.0, [0.0, 0.0, 0.0]) == pytest.approx([1.0, 1.0, 1.0])
    assert trials_by_law(2.0, [0.0, 1.0]) == pytest.approx([1.25, 0.75])
    first, second, third = trials_by_law(6.0, [0.0, 1.0, 2.0])
    assert first + second + third == pytest.approx(6.0)
    assert (first**2 - second**2, first**2 - third**2) == pytest.approx((1.0, 1.25**2))


def test_integrations_begin_where_the_others_were() -> None:
    """Those that share equally from a late start on are off the law by what it gives them."""

    def row(time_ms: int, task: int, trials: int) -> MonteCarloRow:
        return MonteCarloRow(time_ms, task, 1, trials, 3.0, 1.0)

    lawful = [row(1, 1, 50), row(2, 1, 100), row(3, 1, 112), row(3, 2, 38), row(4, 1, 125)]
    assert at_the_end([*lawful, row(4, 2, 75)])[1] == pytest.approx([125, 75])


def test_frames_of_a_phase_are_those_since_the_last_one() -> None:
    def row(phase: str, viewer: int, tickets: int, frames: int) -> ViewersRow:
        return ViewersRow(0, phase, viewer, tickets, frames)

    rows = [row("before", 1, 2, 0), row("before", 2, 1, 0), row("before", 1, 2, 20),
            row("before", 2, 1, 10), row("after", 1, 1, 25), row("after", 2, 4, 30)]  # fmt: skip
    found = shares(rows)
    assert found["before"] == [row("before", 1, 2, 20), row("before", 2, 1, 10)]
    assert found["after"] == [row("after", 1, 1, 5), row("after", 2, 4, 20)]


def test_a_size_that_was_not_measured_is_noticed() -> None:
    boots = experiment.boots(FULL, "cycle_ns")
    (goal,) = [goal for goal in GOALS if "100 tasks and above" in goal.name]
    full = evaluate(Recorded().all(boots)).records
    for size in (100, 300, 1000, 3000):
        verdict = judge(goal, [r for r in full if r.params["tasks"] != size], whole=True)
        assert verdict.met is None and f"{size} -" in verdict.measured

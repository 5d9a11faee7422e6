# SPDX-License-Identifier: GPL-2.0
"""The livelock experiment with canned tool output: no VM."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lab.experiments import guest
from lab.experiments.boots import Finished

from lab import LabError
from lab.bench import make_bench, run
from lab.paths import Paths
from lab.report.goals import Goal, find, value
from lab.report.measured import Measured
from lab.report.records import Record, read_csv, read_json, write_json
from lab.subjects.livelock import goals as livelock_goals
from lab.subjects.livelock import variants as v
from lab.subjects.livelock.figures import draw
from lab.subjects.livelock.metrics import UNITS, evaluate
from tests.host.canned import unchanged
from tests.host.fake_livelock import Change, FakeRunner, row

SCOPES = {"full": plan.FULL, "quick": plan.QUICK, "demo": plan.DEMO}
CURVE = plan.Curve(v.HYBRID, 1, plan.CONSTANT, "off", (2000, 60000))


def measured(scope: plan.Scope, change: Change = unchanged) -> Measured:
    """What a run of the scope measures on the fake guest."""
    runner = FakeRunner(change)
    return evaluate([Finished(boot, runner(boot)) for boot in plan.boots(scope)])


@pytest.fixture(scope="module")
def full() -> list[Record]:
    return measured(plan.FULL).records


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return Paths(top=tmp_path, out=tmp_path / "build")


# The plan


def curves(scope: plan.Scope) -> list[plan.Curve]:
    return [curve for group in scope for curve in group.curves()]


def test_full_plan_covers_the_issue() -> None:
    found = curves(plan.FULL)
    names = {"interrupt", "poll", "napi", "napi-threaded", "hybrid", "e1000", "e1000-threaded"}
    for ports in (1, 3):
        mine = [curve for curve in found if curve.ports == ports and curve.rates == plan.RATES]
        assert {curve.variant.name for curve in mine} == names
    assert min(plan.RATES) == 1000 and max(plan.RATES) == 300000
    assert {curve.function for curve in found} == set(plan.FUNCTIONS)
    assert {curve.mitigation for curve in found} == {"on", "off"}
    assert {curve.variant.limit_pct for curve in found} >= set(livelock_goals.LIMITS)


@pytest.mark.parametrize("scope", SCOPES.values(), ids=SCOPES)
def test_boots_are_plans_of_a_guest_with_cards(scope: plan.Scope) -> None:
    boots = plan.boots(scope)
    assert len({boot.name for boot in boots}) == len(boots)
    for boot, curve in zip(boots, curves(scope), strict=True):
        machine = guest.machine(boot)
        assert guest.plan(boot).render()
        assert not machine.root and machine.accel == "icount" and machine.icount_shift == 3
        assert machine.modules == ("nll_source", curve.variant.driver)
        assert len(machine.nics) == 2 * curve.ports
        assert {nic.mitigation for nic in machine.nics} == {curve.mitigation == "on"}


def words(curve: plan.Curve) -> str:
    return " ".join(curve.argv())


def test_commands() -> None:
    assert "--driver napi_livelock" in words(CURVE) and "--set nll/mode=hybrid" in words(CURVE)
    assert words(CURVE).endswith(" 2000 60000")
    assert "--set threaded=1 --set nll/mode=napi" in words(replace(CURVE, variant=v.THREADED))
    assert "--driver e1000 --set threaded=0 " in words(replace(CURVE, variant=v.E1000))
    assert "--set nll/limit=40" in words(replace(CURVE, variant=v.limited(40)))
    assert "--ports 3 --function ramp" in words(replace(CURVE, ports=3, function="ramp"))


def test_low_rates_are_measured_in_turns() -> None:
    short = replace(CURVE, turns=3)
    assert short.windows == ((2000, 1), (2000, 2), (2000, 3), (60000, 1))
    assert words(short).endswith(" 2000 2000 2000 60000")
    rows = [{**row(short, rate), "latency_p99_us": us} for (rate, _), us in
            zip(short.windows, (900.0, 300.0, 500.0, 7.0), strict=True)]  # fmt: skip
    found = find(records_of(rows, short), "latency_us", "hybrid", quantile="p99")
    assert [(record.value, record.n) for record in found] == [(500.0, 3), (7.0, 1)]
    assert found[0].spread == {"sd": pytest.approx(305.505, abs=0.001), "min": 300, "max": 900}


def test_no_guest_is_ever_idle() -> None:
    """QEMU lets an idle guest's time leap a little differently now and then."""
    assert "--never-idle" in CURVE.argv()
    assert "idle=poll" in guest.machine(CURVE.boot()).command_line().split()


def test_low_rates_last_until_there_are_enough_frames() -> None:
    short = replace(CURVE, duration_ms=1200, frames=6001)
    assert "--duration 1200 --warmup 200 --frames 6001 " in words(short)
    assert [short.lasts_ms(rate) for rate in (1000, 2000, 60000)] == [6201, 3201, 1200]
    assert replace(short, frames=0).lasts_ms(1) == 1200


# From output to records


def records_of(rows: Sequence[dict[str, Any]], curve: plan.Curve = CURVE) -> list[Record]:
    """Records of one boot."""
    lines = {"curve": [json.dumps(item) for item in rows]}
    return evaluate([Finished(curve.boot(), lines)]).records


ROWS = [row(CURVE, rate) for rate in CURVE.rates]


def test_metrics_and_their_parameters(full: list[Record]) -> None:
    assert {record.metric for record in full} == set(UNITS)
    keys = {"offered_pps", "ports", "rate_function", "mitigation"}
    more = {"latency_us": {"quantile"}, "lost_pps": {"place"}}
    for record in full:
        assert set(record.params) == keys | more.get(record.metric, set())
    key = livelock_goals.point(1, 60000)
    places = [record.params["place"] for record in find(full, "lost_pps", "hybrid", **key)]
    assert set(places) == set(plan.PLACES) and len(places) == len(plan.PLACES)
    assert value(full, "lost_pps", "e1000", place="tail", **key) == 60000 - 50


def test_losses_are_rates() -> None:
    lost = {**ROWS[1], "duration_ms": 1200, "lost_tail": 600, "lost_socket": 1200}
    records = records_of([ROWS[0], lost])
    assert value(records, "lost_pps", "hybrid", offered_pps=60000, place="tail") == 500
    assert value(records, "lost_pps", "hybrid", offered_pps=60000, place="socket") == 1000


def test_without_a_frame_there_is_no_latency() -> None:
    empty = {**ROWS[1], "latencies": 0, "latency_ns": "", "goodput_pps": 0, "port_most_pps": 0}
    records = records_of([ROWS[0], empty])
    assert {r.params["offered_pps"] for r in find(records, "latency_us")} == {2000}
    assert value(records, "goodput_pps", "hybrid", offered_pps=60000) == 0
    assert find(records, "port_split") == []


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"missing": 3}, "60000 packets/s: 3 frames missing"),
        ({"lost_ring": -1}, "-1 lost in the ring: every frame must be received or lost"),
        ({"disorder": 1}, "1 frames out of order"),
        ({"strange": 2}, "2 strange: must be 0"),
        ({"offered_pps": 30000}, r"rates \(2000, 30000\): must be \(2000, 60000\)"),
        ({"goodput_pps": None}, "goodput_pps None: must be float"),
        ({"latency_ns": "1:x"}, "latency_ns '1:x': must be BOUND:COUNT"),
        ({"tool": "livelock-apps"}, "must be a JSON object of this tool"),
    ],
)
def test_output_that_is_not_right_is_named(change: dict[str, Any], told: str) -> None:
    with pytest.raises(LabError, match=told) as error:
        records_of([ROWS[0], {**ROWS[1], **change}])
    assert error.value.exit_code == 1


def test_the_best_is_named_where_it_is_not_the_hybrid() -> None:
    table = measured(plan.FULL).raw["best"]
    rows = [dict(zip(table.header, item, strict=True)) for item in table.rows]
    mine = {"ports": 1, "rate_function": "constant", "mitigation": "off", "offered_pps": 60000}
    found = {
        str(item["metric"]): item
        for item in rows
        if all(item[k] == text for k, text in mine.items())
    }
    assert found["goodput_pps"]["best"] == "hybrid"
    assert found["user_share_pct"]["best"] == "hybrid"
    slow = measured(
        plan.FULL,
        lambda curve, rows: (
            [{**item, "latency_p50_us": 90.0} for item in rows]
            if curve.variant == v.HYBRID
            else rows
        ),
    )
    names = {item[5] for item in slow.raw["best"].rows if item[4] == "latency_us"}
    assert "hybrid" not in names


# Goals


def goal(records: Sequence[Record], what: str) -> Goal:
    (found,) = [goal for goal in livelock_goals.goals(records) if what in goal.what]
    return found


def test_good_records_meet_every_goal(full: list[Record]) -> None:
    table = livelock_goals.goals(full)
    assert [(goal.what, goal.met) for goal in table if not goal.met] == []
    assert len({(goal.what, goal.wanted) for goal in table}) == len(table) == 10


@pytest.mark.parametrize(
    ("what", "metric", "variant", "key", "factor"),
    [
        ("10 x", "goodput_pps", "hybrid", {"ports": 3, "offered_pps": 200000}, 0.9),
        ("hybrid / e1000", "goodput_pps", "e1000", {"offered_pps": 60000}, 20.0),
        ("points", "user_share_pct", "hybrid-limit80", {"ports": 1, "offered_pps": 60000}, 0.1),
        ("median", "latency_us", "hybrid", {"offered_pps": 6000, "quantile": "p50"}, 1.1),
        ("p99", "latency_us", "hybrid", {"offered_pps": 12000, "quantile": "p99"}, 1.2),
        ("3 ports, small", "port_split", "hybrid", {"offered_pps": 200000}, 0.9),
        ("switches", "switches_per_s", "hybrid", {"rate_function": "peaks"}, 60.0),
    ],
)
def test_a_goal_that_is_missed_says_no(
    full: list[Record], what: str, metric: str, variant: str, key: dict[str, Any], factor: float
) -> None:
    spoiled = find(full, metric, variant, **key)
    assert spoiled
    changed = [replace(r, value=r.value * factor) if r in spoiled else r for r in full]
    assert goal(changed, what).met is False
    assert sum(goal.met is False for goal in livelock_goals.goals(changed)) == 1


def test_threads_are_beaten_only_by_who_leaves_as_much(full: list[Record]) -> None:
    what = "hybrid / threaded, 1 port, stretch"
    assert "1.333" in goal(full, what).measured
    greedy = [
        replace(r, value=19.0)
        if r.metric == "user_share_pct" and r.variant.startswith("hybrid")
        else r
        for r in full
    ]
    assert goal(greedy, what).met is False and "0.000" in goal(greedy, what).measured


def test_loss_free_rate_ends_at_the_first_loss(full: list[Record]) -> None:
    assert livelock_goals.loss_free(full, "hybrid", 1) == 20000
    lossy = [
        replace(r, value=12.1)
        if r.metric == "lost_pps"
        and r.params["offered_pps"] == 12000
        and r.params["place"] == "socket"
        else r
        for r in full
    ]
    assert livelock_goals.loss_free(lossy, "hybrid", 1) == 10000
    assert livelock_goals.flatness(lossy, "hybrid", 1) == 1.0


def test_what_was_not_measured_is_neither_met_nor_missed(full: list[Record]) -> None:
    assert {goal.verdict() for goal in livelock_goals.goals([])} == {"-"}
    without = [r for r in full if r.variant != "hybrid-limit20"]
    assert goal(without, "points").met is None


# The verb and the figures


def test_bench_writes_everything(paths: Paths, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(make_bench("livelock", False, None, 1, 1), paths, FakeRunner()) == 0
    names = {path.name for path in paths.results.iterdir()}
    raw = ("points", "latencies", "best")
    ends = (".json", ".txt", ".bench", "-samples.csv", *(f"-{name}.csv" for name in raw))
    assert names == {f"livelock{end}" for end in ends}
    assert read_json(paths.results / "livelock.json")
    points = read_csv(paths.results / "livelock-points.csv")
    assert {row["missing"] for row in points} == {"0"}
    printed = capsys.readouterr().out
    for name in ("throughput", "loss", "buffer", "latency", "mogul", "share", "limit"):
        assert str(paths.plots / f"livelock-{name}.png") in printed


def test_figures_are_the_same_bytes_each_time(paths: Paths) -> None:
    write_json(paths.results / "livelock.json", measured(plan.QUICK).records)
    first = {path.name: path.read_bytes() for path in draw(paths.results, paths.plots, "livelock")}
    again = {path.name: path.read_bytes() for path in draw(paths.results, paths.plots, "livelock")}
    assert first and first == again


def test_nothing_is_drawn_of_what_was_not_measured(paths: Paths) -> None:
    records = [r for r in measured(plan.QUICK).records if r.variant == "hybrid"]
    write_json(paths.results / "livelock.json", records)
    assert draw(paths.results, paths.plots, "livelock") == []

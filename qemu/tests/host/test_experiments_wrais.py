# SPDX-License-Identifier: GPL-2.0
"""The I/O experiment with canned tool output: no VM."""

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
from lab.guest import slowdisk
from lab.paths import Paths
from lab.report.goals import Goal, find, value
from lab.report.measured import Measured
from lab.report.records import Record, read_csv, read_json, write_json
from lab.subjects.wrais import goals as wrais_goals
from lab.subjects.wrais import variants as v
from lab.subjects.wrais.figures import draw
from lab.subjects.wrais.metrics import UNITS, evaluate
from tests.host.canned import unchanged
from tests.host.fake_wrais import Change, FakeRunner, probe_row, sqlite_row

SCOPES = {"full": plan.FULL, "quick": plan.QUICK, "demo": plan.DEMO}


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


def test_full_plan_covers_the_issue() -> None:
    cells = plan.cells(plan.FULL)
    assert all(cell.repeats >= 5 for cell in cells)
    assert {cell.probe for cell in cells} == {*plan.PROBES, *plan.SQLITE}
    assert {cell.depth for cell in cells} == {2, 8}
    assert {cell.background for cell in cells} == set(plan.BACKGROUNDS)
    names = {cell.variant.name for cell in cells}
    wanted = {"bfq", "bfq-be0", "bfq-rt0", "rt-simple", "wrais", "mq-deadline", "kyber", "none"}
    assert wanted | {variant.name for variant in v.ABLATIONS} <= names
    for name in wanted:
        rows = {cell.background for cell in cells if cell.variant.name == name}
        assert rows == set(plan.BACKGROUNDS)


@pytest.mark.parametrize("scope", SCOPES.values(), ids=SCOPES)
def test_every_start_has_its_idle_one(scope: plan.Scope) -> None:
    cells = plan.cells(scope)
    idle = {(c.probe, c.depth) for c in cells if c.variant == v.BFQ and c.background == "idle"}
    assert {(c.probe, c.depth) for c in cells if c.probe in plan.STARTUPS} <= idle


@pytest.mark.parametrize("scope", SCOPES.values(), ids=SCOPES)
def test_boots_are_plans_of_a_guest_with_the_slow_disk(scope: plan.Scope) -> None:
    boots = plan.boots(scope)
    assert len({boot.name for boot in boots}) == len(boots)
    for boot in boots:
        assert guest.plan(boot).render()
        machine = guest.machine(boot)
        assert not machine.root and machine.accel == "icount" and boot.shift == 0
        assert boot.jobs[0].argv == slowdisk.DISK and boot.disk == plan.DISK
        assert "null_blk.service_mbps=30" in machine.append
        assert machine.mem_mb > 2 * slowdisk.SIZE_MB
        cells = [job.cell for job in boot.jobs if isinstance(job, plan.CellJob)]
        assert len({plan.group_of(cell) for cell in cells}) == 1


def test_a_start_on_an_idle_disk_is_never_ended() -> None:
    for cell in plan.cells(plan.FULL):
        assert cell.limit_s() >= 2 * plan.PROBES.get(cell.probe, 0)
        assert cell.job().timeout_s() > cell.limit_s() * cell.repeats


def words(cell: plan.Cell) -> str:
    return " ".join(cell.argv())


def test_commands() -> None:
    cell = plan.Cell(v.WRAIS, "fsync", "4r4w", 2, 5)
    assert "--sched bfq --class rt --level 0 --wrais usual" in words(cell)
    assert "-r 4 -w 4" in words(cell) and words(cell).endswith("--probe fsync")
    assert "--tune nr_requests=64 --dirty-bytes 100000000" in words(cell)
    assert "nr_requests" not in words(replace(cell, variant=v.NONE))
    assert "--class be --level 4 --wrais none" in words(replace(cell, variant=v.BFQ))
    assert "--class be --level 0 --wrais none" in words(replace(cell, variant=v.BE0))
    assert "--class rt --level 0 --wrais none" in words(replace(cell, variant=v.RT0))
    assert "--wrais dirty,tags" in words(replace(cell, variant=v.SIMPLE_RT))
    assert "--wrais usual,-tags" in words(replace(cell, variant=v.without("tags")))
    assert "--sched kyber" in words(replace(cell, variant=v.KYBER))
    database = words(replace(cell, probe="sqlite-delete"))
    assert "-- wrais-sqlite --journal delete " in database and "--probe" not in database


@pytest.mark.parametrize("metric", sorted(plan.KINDS))
def test_only_runs_what_the_metric_needs(metric: str) -> None:
    cells = plan.cells(plan.FULL, metric)
    assert cells
    assert {cell.probe for cell in cells} <= set(plan.KINDS[metric])


def test_metrics_have_units() -> None:
    assert set(UNITS) == set(plan.KINDS)


def test_another_kernel_boots_only_for_the_full_run() -> None:
    for scope, kernels in ((plan.FULL, {"guest", "plain"}), (plan.QUICK, {"guest"})):
        assert {boot.kernel for boot in plan.boots(scope)} == kernels
    assert {boot.kernel for boot in plan.boots(plan.DEMO)} == {"guest"}
    for boot in plan.boots(plan.FULL):
        assert (boot.kernel == "plain") == boot.name.startswith(f"{v.PLAIN.name}-")


def test_compiled_out_has_a_switched_off_start_of_the_same_kind_beside_it() -> None:
    cells = plan.cells(plan.FULL)
    plain = [cell for cell in cells if cell.variant == v.PLAIN]
    assert {cell.probe for cell in plain} == {"lprobe", "fsync", "think", "random"}
    for cell in plain:
        off = replace(cell, variant=v.BFQ)
        assert off in cells and off.argv() == cell.argv()


# From output to records


def records_of(cells: Sequence[plan.Cell], rows: dict[str, list[dict[str, Any]]]) -> list[Record]:
    """Records of one boot; rows by the name of the cell's job."""
    lines = {name: [json.dumps(row) for row in found] for name, found in rows.items()}
    return evaluate([Finished(plan.boot(cells), lines)]).records


IDLE = plan.Cell(v.BFQ, "lprobe", "idle", 2, 3)
BUSY = replace(IDLE, background="1r1w")
ROW = probe_row(IDLE, 1)


def starts(*seconds: float, **more: Any) -> list[dict[str, Any]]:
    """Rows of starts that took so long."""
    return [
        {**ROW, "repeat": number, "startup_s": took, **more}
        for number, took in enumerate(seconds, 1)
    ]


def test_the_worst_counts_and_the_median_is_beside_it() -> None:
    records = records_of(
        [IDLE, BUSY],
        {
            IDLE.name: starts(8.0, 8.0, 9.0),
            BUSY.name: starts(10.0, 16.0, 12.0, device_mbps=20, background_mbps=4),
        },
    )
    (over,) = find(records, "startup_over_idle", "bfq", background="1r1w")
    assert (over.value, over.n, over.unit) == (2.0, 3, "ratio")
    assert isinstance(over.spread, dict) and over.spread["median"] == 1.5
    assert over.params == {"background": "1r1w", "depth": 2, "probe": "lprobe"}
    assert value(records, "startup_s", "bfq", background="1r1w") == 16.0
    assert value(records, "background_mbps", "bfq") == 4.0
    assert find(records, "background_mbps", "bfq", background="idle") == []


def test_where_more_is_better_the_least_counts() -> None:
    speeds = (25, 20, 22)
    rows = [{**row, "device_mbps": mbps} for row, mbps in zip(starts(8, 8, 8), speeds, strict=True)]
    assert value(records_of([IDLE], {IDLE.name: rows}), "device_mbps", "bfq") == 20.0


def test_a_start_that_was_ended_is_told() -> None:
    rows = [*starts(9.0), *starts(40.0, 40.0, finished=False)]
    records = records_of([BUSY], {BUSY.name: rows})
    assert value(records, "unfinished", "bfq") == 2
    assert value(records, "startup_s", "bfq") == 40.0
    assert find(records, "startup_over_idle") == []


def test_commits_stand_between_the_lines_of_the_driver() -> None:
    cell = replace(BUSY, probe="sqlite-wal", repeats=2)
    driver = {"tool": "wrais-run", "repeat": 1, "startup_s": 3}
    rows = [sqlite_row(cell, 1), driver, {**sqlite_row(cell, 2), "p99_ms": 9000}, driver]
    records = records_of([cell], {cell.name: rows})
    assert {record.params["quantile"] for record in records} == {"p50", "p90", "p99", "max"}
    assert value(records, "sqlite_commit_ms", "bfq", quantile="p99") == 9000
    assert {record.n for record in records} == {2}


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({**ROW, "finished": 1}, "wrais-run: finished 1: must be bool"),
        ({**ROW, "startup_s": None}, "wrais-run: startup_s None: must be float"),
        ({**ROW, "tool": "lprobe"}, "must be a JSON object of this tool"),
        (ROW, "bfq: lprobe-idle: 1 repeats: must be 3"),
    ],
)
def test_output_that_is_not_right_is_named(row: dict[str, Any], told: str) -> None:
    with pytest.raises(LabError, match=told):
        records_of([IDLE], {IDLE.name: [row]})


# Goals


def goal(records: Sequence[Record], what: str) -> Goal:
    (found,) = [goal for goal in wrais_goals.goals(records) if what in goal.what]
    return found


def test_good_records_meet_every_goal(full: list[Record]) -> None:
    table = wrais_goals.goals(full)
    assert [goal.met for goal in table] == [True] * 11
    assert len({(goal.what, goal.wanted) for goal in table}) == len(table)


@pytest.mark.parametrize(
    ("what", "metric", "key", "factor"),
    [
        ("max_stall_ms", "max_stall_ms", {"background": "4r4w", "depth": 8}, 2.0),
        ("wrais, 1r1w", "startup_over_idle", {"probe": "fsync", "background": "1r1w"}, 1.2),
        ("wrais, 4r4w", "startup_over_idle", {"probe": "write70", "background": "4r4w"}, 1.3),
        ("endless", "background_mbps", {"probe": "endless"}, 0.5),
        ("device_mbps", "device_mbps", {"probe": "random"}, 0.9),
        ("sqlite", "sqlite_commit_ms", {"quantile": "p99", "probe": "sqlite-wal"}, 20.0),
    ],
)
def test_a_goal_that_is_missed_says_no(
    full: list[Record], what: str, metric: str, key: dict[str, Any], factor: float
) -> None:
    spoiled = find(full, metric, "wrais", **key)
    assert spoiled
    changed = [replace(r, value=r.value * factor) if r in spoiled else r for r in full]
    assert goal(changed, what).met is False
    assert sum(goal.met is False for goal in wrais_goals.goals(changed)) == 1


@pytest.mark.parametrize(("depth", "background"), [(2, "1w"), (8, "1r1w"), (2, "4r4w")])
def test_starts_are_judged_by_depth_and_load(
    full: list[Record], depth: int, background: str
) -> None:
    key: dict[str, Any] = {"depth": depth, "background": background, "probe": "lprobe"}
    spoiled = find(full, "startup_over_idle", "wrais", **key)
    changed = [replace(r, value=1.06) if r in spoiled else r for r in full]
    missed = [goal for goal in wrais_goals.goals(changed) if goal.met is False]
    assert len(missed) == 1
    assert f"depth {depth}" in missed[0].what and f"{background} 1.060" in missed[0].measured


def test_what_was_not_measured_is_neither_met_nor_missed(full: list[Record]) -> None:
    assert {goal.verdict() for goal in wrais_goals.goals([])} == {"-"}
    without = [r for r in full if r.params["probe"] != "write70"]
    assert goal(without, "wrais, 1r1w").met is None
    bad = [replace(r, value=2.0) if r.metric == "startup_over_idle" else r for r in without]
    assert goal(bad, "wrais, 1r1w").met is False


def test_switched_off_against_compiled_out() -> None:
    cells = [replace(IDLE, variant=variant, repeats=1) for variant in (v.BFQ, v.PLAIN)]
    for plain, met in ((8.0, True), (7.9, False), (8.1, False)):
        records = [
            record
            for cell, took in zip(cells, (8.0, plain), strict=True)
            for record in records_of([cell], {cell.name: starts(took)})
        ]
        assert goal(records, "compiled out").met is met


# The verb and the figures


def test_bench_writes_everything(paths: Paths, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(make_bench("wrais", False, None, 1, 1), paths, FakeRunner()) == 0
    names = {path.name for path in paths.results.iterdir()}
    ends = (".json", ".txt", ".bench", "-samples.csv", "-probe.csv", "-sqlite.csv")
    assert names == {f"wrais{end}" for end in ends}
    assert read_json(paths.results / "wrais.json")
    raw = read_csv(paths.results / "wrais-probe.csv")
    assert {row["finished"] for row in raw} == {"0", "1"}
    printed = capsys.readouterr().out
    for name in ("start-up", "schedulers", "stalls", "parts", "applications", "sqlite"):
        assert str(paths.plots / f"wrais-{name}-depth2.png") in printed
    assert str(paths.plots / "wrais-start-up-depth8.svg") in printed


def test_figures_are_the_same_bytes_each_time(paths: Paths) -> None:
    write_json(paths.results / "wrais.json", measured(plan.QUICK).records)
    first = {path.name: path.read_bytes() for path in draw(paths.results, paths.plots, "wrais")}
    again = {path.name: path.read_bytes() for path in draw(paths.results, paths.plots, "wrais")}
    assert first and first == again


def test_nothing_is_drawn_of_what_was_not_measured(paths: Paths) -> None:
    records = [r for r in measured(plan.QUICK).records if r.variant == "bfq"]
    write_json(paths.results / "wrais.json", records)
    assert draw(paths.results, paths.plots, "wrais") == []

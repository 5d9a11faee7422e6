# SPDX-License-Identifier: GPL-2.0
"""The I/O experiment on what its tools have printed in a guest."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lab import LabError
from lab.experiment import fault
from lab.guest import places, slowdisk
from lab.guest.ktap import Status
from lab.guest.result import BootResult, ProgramResult
from lab.report.goals import Verdict, find, judge_all, value
from lab.report.records import Record, write_json
from lab.subjects.wrais import applications as a
from lab.subjects.wrais import experiment, pgbench
from lab.subjects.wrais import variants as v
from lab.subjects.wrais.figures import draw
from lab.subjects.wrais.goals import GOALS
from lab.subjects.wrais.metrics import UNITS, evaluate
from tests.host.recorded import Change, Recorded, Rows

SCOPES = {"full": experiment.FULL, "quick": experiment.QUICK, "demo": experiment.DEMO}
SCOPE = (
    *experiment.DEMO,
    experiment.Rows((v.DEADLINE,), ("lprobe",), ("1r1w",), 2, 1),
    experiment.Rows((v.BFQ,), ("lprobe",), ("idle",), 8, 1),
    experiment.Rows((v.WRAIS,), ("lprobe",), ("1r1w",), 8, 1),
    experiment.Rows((v.BFQ,), ("fsync",), ("idle",), 2, 1),
    experiment.Rows((v.WRAIS,), ("fsync",), experiment.HARD, 2, 1),
    experiment.Rows((v.WRAIS,), ("endless",), ("1r1w",), 2, 1),
    experiment.Rows((v.BFQ, v.WRAIS), ("sqlite-wal",), ("1r1w",), 2, 1),
    *experiment.elsewhere((v.BFQ,), experiment.IDLE_1R1W, 1, places.SEEK),
    *experiment.elsewhere((v.WRAIS,), experiment.HARD, 1, places.SEEK),
)
"""What was recorded: what the demo measures, one start that never ends, harder ones, and
some on a disk with seeks.
"""
UNENDED = experiment.Cell(v.DEADLINE, "lprobe", "1r1w", 2, 1)


def records_with(change: Change | None = None) -> list[Record]:
    return evaluate(Recorded("wrais", change).all(experiment.boots(SCOPE))).records


@pytest.fixture(scope="module")
def recorded() -> list[Record]:
    return records_with()


# What runs


def test_full_plan_covers_the_issue() -> None:
    cells = experiment.cells(experiment.FULL)
    assert all(cell.repeats >= 5 for cell in cells)
    assert {cell.probe for cell in cells} == {*experiment.PROBES, *experiment.DATABASES}
    assert {cell.depth for cell in cells if cell.place == places.FLASH} == {2, 8}
    assert {cell.background for cell in cells} == set(experiment.BACKGROUNDS)
    names = {cell.variant.name for cell in cells}
    wanted = {"bfq", "bfq-be0", "bfq-rt0", "rt-simple", "wrais", "mq-deadline", "kyber", "none"}
    assert wanted | {variant.name for variant in v.ABLATIONS} <= names
    for name in wanted:
        rows = {cell.background for cell in cells if cell.variant.name == name}
        assert rows == set(experiment.BACKGROUNDS)


def test_the_baseline_is_in_every_table() -> None:
    """What the privileged do, the real-time class with two parts does as well."""
    cells = experiment.cells(experiment.FULL)
    baseline = {
        v.WRAIS: v.SIMPLE_RT,
        v.GROUPED: v.SIMPLE_RT_GROUPED,
        v.MEMBER: v.SIMPLE_RT_GROUPED,
        a.PAIR: a.PAIR_SIMPLE,
        a.BESIDE: a.BESIDE_SIMPLE,
    }
    for cell in cells:
        base = baseline.get(cell.variant)
        if base == v.SIMPLE_RT_GROUPED and cell.place != places.FLASH:
            base = v.SIMPLE_RT
        assert base is None or replace(cell, variant=base) in cells, cell


@pytest.mark.parametrize("scope", SCOPES.values(), ids=SCOPES)
def test_every_start_has_its_idle_one(scope: experiment.Scope) -> None:
    cells = experiment.cells(scope)
    started = [cell for cell in cells if cell.probe in experiment.STARTUPS]
    idle = [cell for cell in cells if cell.variant == v.BFQ and cell.background == "idle"]
    where = [{(c.probe, c.depth, c.place) for c in some} for some in (started, idle)]
    assert where[0] <= where[1]


@pytest.mark.parametrize("scope", SCOPES.values(), ids=SCOPES)
def test_boots_have_the_slow_disk(scope: experiment.Scope) -> None:
    boots = experiment.boots(scope)
    assert len({boot.name for boot in boots}) == len(boots)
    for boot in boots:
        machine = boot.machine
        assert boot.defer and not machine.root
        assert machine.accel == "icount" and machine.icount_shift == 0
        cells = [p.what for p in boot.programs if isinstance(p.what, experiment.Cell)]
        (place,) = {cell.place for cell in cells}
        assert boot.disk == place.disk
        assert f"null_blk.service_mbps={place.timing.mbps}" in machine.append
        assert machine.mem_mb > 2 * place.disk_mb
        assert len(cells) == len(boot.programs) - len(list(place.programs()))
        assert len({experiment.group_of(cell) for cell in cells}) == 1


def test_a_device_is_ready_before_the_first_start() -> None:
    """Its file system is made and mounted there; wrais-run mounts that of a bare disk."""
    for place in (places.FLASH, *places.OTHERS):
        cell = experiment.Cell(v.WRAIS, "lprobe", "1r1w", place.depth or 2, 1, place)
        names = [program.name for program in experiment.boot([cell]).programs]
        assert names[-1] == cell.name
        ours = bool(place.device or place.other)
        assert ("mount-wrais" in names) == ours == ("--mount" not in cell.argv())
        assert ("disk" in names) == (place.disk is not None)
        assert f"--disk {slowdisk.DEVICE} " in words(cell)
    assert any("dm-mod.create" in word for word in places.CRYPT.words(2))
    assert places.LOOP.disk is not None and places.LOOP.disk.size_mb > places.FS.size_mb


def test_a_file_system_has_its_modules_before_its_mount() -> None:
    for place in places.FILE_SYSTEMS:
        assert place.other is not None and place.disk == place.other
        boot = experiment.boot([experiment.Cell(v.WRAIS, "lprobe", "1r1w", 2, 1, place)])
        *before, mount, start = boot.programs
        loads = [program.argv for program in before if program.argv[0] == "@insmod"]
        assert loads == [("@insmod", name) for name in boot.machine.modules]
        assert mount.argv[:4] == ("busybox", "mount", "-t", place.other.type)
        assert isinstance(start.what, experiment.Cell)


def test_a_database_is_there_before_the_first_start() -> None:
    cell = experiment.Cell(v.WRAIS, experiment.PGBENCH, "1r1w", 2, 1, pgbench.PLACE)
    boot = experiment.boot([cell])
    *_, mount, cluster, start = boot.programs
    assert mount.argv[:4] == ("busybox", "mount", "-t", "ext4")
    assert cluster.argv[:2] == ("wrais-pgbench", "--make")
    assert cluster.argv[-1] == start.argv[-1] == pgbench.CLUSTER_DIR
    assert "--mount" not in start.argv and "--class rt" in words(cell)
    assert "usr/lib/postgresql/15/bin/postgres" in boot.image


def test_other_places_have_goals_and_peers() -> None:
    cells = experiment.cells(experiment.FULL)
    for place in places.OTHERS:
        here = [cell for cell in cells if cell.place == place]
        for variant in (v.WRAIS, v.MEMBER):
            goals = [g for g in GOALS if g.where.get("disk") == place.name]
            beside = {c.background for c in here if c.variant == variant} - {"idle"}
            assert beside == set(experiment.LOADED)
            for name in beside:
                asked = [g for g in goals if name in str(g.where["background"])]
                assert variant.name in {goal.variant for goal in asked}
        for peer in (v.BFQ, v.SIMPLE_RT):
            assert "1r1w" in {c.background for c in here if c.variant == peer}


def test_a_start_on_an_idle_disk_is_never_ended() -> None:
    for cell in experiment.cells(experiment.FULL):
        assert cell.limit_s() >= 2 * experiment.PROBES.get(cell.probe, 0)
        assert cell.program().timeout_s > cell.limit_s() * cell.repeats


def words(cell: experiment.Cell) -> str:
    return " ".join(cell.argv())


def test_commands() -> None:
    cell = experiment.Cell(v.WRAIS, "fsync", "4r4w", 2, 5)
    assert "--sched bfq --class rt --level 0 --wrais all" in words(cell)
    assert "-r 4 -w 4" in words(cell) and words(cell).endswith("--probe fsync")
    assert "--tune nr_requests=64 --dirty-bytes 100000000" in words(cell)
    assert "nr_requests" not in words(replace(cell, variant=v.NONE))
    assert "--class be --level 4 --wrais none" in words(replace(cell, variant=v.BFQ))
    assert "--class be --level 0 --wrais none" in words(replace(cell, variant=v.BE0))
    assert "--class rt --level 0 --wrais none" in words(replace(cell, variant=v.RT0))
    assert "--wrais dirty,tags" in words(replace(cell, variant=v.SIMPLE_RT))
    assert "--wrais all,-tags" in words(replace(cell, variant=v.without("tags")))
    assert "--sched kyber" in words(replace(cell, variant=v.KYBER))
    database = words(replace(cell, probe="sqlite-delete"))
    assert "-- wrais-sqlite --journal delete " in database and "--probe" not in database


@pytest.mark.parametrize("metric", sorted(experiment.KINDS))
def test_only_runs_what_the_metric_needs(metric: str) -> None:
    cells = experiment.cells(experiment.FULL, metric)
    assert cells
    assert {cell.probe for cell in cells} <= set(experiment.KINDS[metric])


def test_metrics_have_units() -> None:
    assert set(UNITS) == set(experiment.KINDS)


def test_another_kernel_boots_only_for_the_full_run() -> None:
    for scope, kernels in ((experiment.FULL, {"guest", "plain"}), (experiment.QUICK, {"guest"})):
        assert {boot.machine.kernel for boot in experiment.boots(scope)} == kernels
    assert {boot.machine.kernel for boot in experiment.boots(experiment.DEMO)} == {"guest"}
    for boot in experiment.boots(experiment.FULL):
        assert (boot.machine.kernel == "plain") == boot.name.startswith(f"{v.PLAIN.name}-")


def test_compiled_out_has_a_switched_off_start_of_the_same_kind_beside_it() -> None:
    cells = experiment.cells(experiment.FULL)
    plain = [cell for cell in cells if cell.variant == v.PLAIN]
    assert {cell.probe for cell in plain} == set(experiment.SWITCHED_OFF)
    for cell in plain:
        off = replace(cell, variant=v.BFQ)
        assert off in cells and off.argv() == cell.argv()


# From output to records


def test_each_metric_has_its_records(recorded: list[Record]) -> None:
    unrecorded = {"switched_off_pct", "background_window_mbps", "fair_share", "pgbench_ms"}
    assert {record.metric for record in recorded} == set(UNITS) - unrecorded
    for metric in UNITS:
        found = find(recorded, metric)
        assert {record.unit for record in found} <= {UNITS[metric]}
        assert {record.params["probe"] for record in found} <= set(experiment.KINDS[metric])
    started = [cell for cell in experiment.cells(SCOPE) if cell.probe in experiment.STARTUPS]
    assert len(find(recorded, "startup_s")) == len(started)


def printed(cells: Sequence[experiment.Cell], rows: dict[str, Rows]) -> list[Record]:
    """Records of one boot; rows by the name of the cell's program."""
    results = [
        ProgramResult(name, Status.OK, output=[json.dumps(row) for row in found])
        for name, found in rows.items()
    ]
    return evaluate([BootResult(experiment.boot(cells), results, Path("console.log"))]).records


IDLE = experiment.Cell(v.BFQ, "lprobe", "idle", 2, 3)
BUSY = replace(IDLE, background="1r1w")
ROW = {
    "tool": "wrais-run",
    "repeat": 1,
    "finished": True,
    "startup_s": 8.0,
    "stalls_over_300ms": 0,
    "max_stall_ms": 50.0,
    "background_mbps": 0,
    "device_mbps": 26.0,
}
COMMITS = {
    "tool": "wrais-sqlite",
    "journal": "wal",
    "commits": 200,
    "elapsed_s": 10,
    "p50_ms": 10,
    "p90_ms": 20,
    "p99_ms": 30,
    "max_ms": 50,
}


def starts(*seconds: float, **more: Any) -> list[dict[str, Any]]:
    """Rows of starts that took these times."""
    return [
        {**ROW, "repeat": number, "startup_s": took, **more}
        for number, took in enumerate(seconds, 1)
    ]


def test_the_worst_counts_and_the_median_is_beside_it() -> None:
    records = printed(
        [IDLE, BUSY],
        {
            IDLE.name: starts(8.0, 8.0, 9.0),
            BUSY.name: starts(10.0, 16.0, 12.0, device_mbps=20, background_mbps=4),
        },
    )
    (over,) = find(records, "startup_over_idle", "bfq", background="1r1w")
    assert (over.value, over.n, over.unit) == (2.0, 3, "ratio")
    assert isinstance(over.spread, dict) and over.spread["median"] == 1.5
    assert over.params == {"background": "1r1w", "depth": 2, "disk": "flash", "probe": "lprobe"}
    assert value(records, "startup_s", "bfq", background="1r1w") == 16.0
    assert value(records, "background_mbps", "bfq") == 4.0
    assert find(records, "background_mbps", "bfq", background="idle") == []


def test_where_more_is_better_the_least_counts() -> None:
    speeds = (25, 20, 22)
    rows = [{**row, "device_mbps": mbps} for row, mbps in zip(starts(8, 8, 8), speeds, strict=True)]
    assert value(printed([IDLE], {IDLE.name: rows}), "device_mbps", "bfq") == 20.0


def test_a_start_that_was_ended_is_told() -> None:
    rows = [*starts(9.0), *starts(40.0, 40.0, finished=False)]
    records = printed([BUSY], {BUSY.name: rows})
    assert value(records, "unfinished", "bfq") == 2
    assert value(records, "startup_s", "bfq") == 40.0
    assert find(records, "startup_over_idle") == []


def test_a_start_that_never_ends_is_measured() -> None:
    boot = experiment.boot([UNENDED])
    result = Recorded("wrais")(boot)
    assert result.program(UNENDED.name).code == 1
    assert fault(result) is None
    records = evaluate([result]).records
    assert value(records, "unfinished", UNENDED.variant.name) == 1
    assert value(records, "startup_s", UNENDED.variant.name) == pytest.approx(40, abs=0.1)


def test_commits_stand_between_the_lines_of_the_driver() -> None:
    cell = replace(BUSY, probe="sqlite-wal", repeats=2)
    driver = {"tool": "wrais-run", "repeat": 1, "startup_s": 3}
    rows = [COMMITS, driver, {**COMMITS, "p99_ms": 9000}, driver]
    records = printed([cell], {cell.name: rows})
    assert {record.params["quantile"] for record in records} == {"p50", "p90", "p99", "max"}
    assert value(records, "sqlite_commit_ms", "bfq", quantile="p99") == 9000
    assert {record.n for record in records} == {2}


def test_transactions_have_quantiles() -> None:
    cells = [
        replace(cell, probe=experiment.PGBENCH, place=pgbench.PLACE, repeats=1)
        for cell in (IDLE, BUSY)
    ]
    row = {**COMMITS, "tool": "wrais-pgbench", "clients": 4, "transactions": 900}
    del row["journal"], row["commits"]
    driver = {"tool": "wrais-run", "repeat": 1, "startup_s": 3}
    rows = {
        cell.name: [{**row, "p99_ms": took}, driver]
        for cell, took in zip(cells, (30, 90), strict=True)
    }
    records = printed(cells, rows)
    where = {"background": "1r1w", "quantile": "p99", "disk": "database", "probe": "pgbench"}
    assert value(records, "pgbench_ms", "bfq", **where) == 90
    privileged = [replace(r, variant="wrais") for r in records if r.params["background"] != "idle"]
    (name,) = [goal.name for goal in GOALS if goal.metric == "pgbench_ms"]
    for most, met in ((90, True), (91, False)):
        at_most = [
            replace(r, value=most) if r.params["quantile"] == "p99" else r for r in privileged
        ]
        assert verdicts([*records, *at_most])[name].met is met


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({**ROW, "finished": 1}, "Expected `bool`, got `int`.*finished"),
        ({**ROW, "startup_s": None}, "Expected `float`, got `null`.*startup_s"),
        ({**ROW, "tool": "lprobe"}, "must be a JSON object of this tool"),
        (ROW, "bfq: lprobe-idle: 1 repeats: must be 3"),
    ],
)
def test_output_that_is_not_right_is_named(row: dict[str, Any], told: str) -> None:
    with pytest.raises(LabError, match=told):
        printed([IDLE], {IDLE.name: [row]})


# Goals


def verdicts(records: Sequence[Record], whole: bool = False) -> dict[str, Verdict]:
    return {verdict.name: verdict for verdict in judge_all(GOALS, records, whole)}


def missed(records: Sequence[Record]) -> list[str]:
    return [name for name, verdict in verdicts(records).items() if verdict.met is False]


NOT_RECORDED = (
    "99 % quantile of SQLite's commits, privileged 1r1w / idle",
    "99 % quantile of PostgreSQL's transactions, privileged 1r1w / idle",
    "what the disk does, privileged / stock, think, 1r1w",
    "what the disk does, privileged / stock, random, 1r1w",
    "start / idle, privileged, depth 8, 4r4w",
    "start / idle, privileged, depth 2, 4r4w",
    "start, switched off against compiled out, idle, in %",
    "start / idle, privileged, write70",
    "start / idle, privileged, applications, 1r1w",
    "start / idle, privileged, mean of the applications, 1r1w",
    "left to others in any 30 s by who never ends, in % of the disk",
)
RECORDED = {variant.name for variant in (v.BFQ, v.WRAIS)}
RECORDED_DISKS = {None, *(place.name for place in (places.FLASH, places.SEEK))}
JUDGED = {
    goal.name: goal
    for goal in GOALS
    if goal.judged and goal.variant in RECORDED and goal.name not in NOT_RECORDED
    if goal.where.get("disk") in RECORDED_DISKS
}


def test_names_are_told_apart() -> None:
    assert len({goal.name for goal in GOALS}) == len(GOALS)


def test_what_a_guest_printed_meets_the_goals(recorded: list[Record]) -> None:
    found = verdicts(recorded)
    assert {name: verdict.met for name, verdict in found.items() if verdict.met is not None} == (
        dict.fromkeys(JUDGED, True)
    )


@pytest.mark.parametrize("name", JUDGED)
def test_every_row_of_a_goal_counts(recorded: list[Record], name: str) -> None:
    """Each of its rows beyond the bound, alone, spoils the goal."""
    goal = JUDGED[name]
    rows = find(recorded, goal.metric, goal.variant, **goal.where)
    assert rows
    for row in rows:
        bad = replace(row, value=row.value * (0.01 if goal.low > 0 else 100))
        changed = [bad if record is row else record for record in recorded]
        assert name in missed(changed), row.params


def test_what_was_not_measured_is_neither_met_nor_missed(recorded: list[Record]) -> None:
    assert {verdict.met for verdict in verdicts([]).values()} == {None}
    name = "start / idle, privileged, depth 8, 1r, 1w, 1r1w"
    assert verdicts(recorded, whole=True)[name].met is None
    assert "1w -" in verdicts(recorded, whole=True)[name].measured


def test_switched_off_against_compiled_out() -> None:
    cells = [replace(IDLE, variant=variant, repeats=1) for variant in (v.BFQ, v.PLAIN)]
    (name,) = [goal.name for goal in GOALS if goal.metric == "switched_off_pct"]
    for plain, met in ((8.0, True), (7.9, False), (8.1, False)):
        results = [
            BootResult(
                experiment.boot([cell]),
                [ProgramResult(cell.name, Status.OK, output=[json.dumps({**ROW, "startup_s": s})])],
                Path("console.log"),
            )
            for cell, s in zip(cells, (8.0, plain), strict=True)
        ]
        records = evaluate(results).records
        assert verdicts(records)[name].met is met
        (record,) = find(records, "switched_off_pct")
        assert (record.unit, record.n) == ("%", 1)


def idle_and_busy(cells: Sequence[experiment.Cell], idle_s: float) -> BootResult:
    """A boot of one start on an idle disk, and one of 12 s beside load."""
    programs = [
        ProgramResult(cell.name, Status.OK, output=[json.dumps(row) for row in starts(took)])
        for cell, took in zip(cells, (idle_s, 12.0), strict=True)
    ]
    return BootResult(experiment.boot(cells), programs, Path("console.log"))


def test_each_place_has_its_own_idle_start() -> None:
    results = []
    for place, idle in ((places.FLASH, 8.0), (places.CRYPT, 6.0)):
        cells = [replace(cell, place=place, repeats=1) for cell in (IDLE, BUSY)]
        results.append(idle_and_busy(cells, idle))
    records = evaluate(results).records
    assert value(records, "startup_over_idle", "bfq", disk="flash", background="1r1w") == 1.5
    assert value(records, "startup_over_idle", "bfq", disk="crypt", background="1r1w") == 2.0


def test_an_idle_disk_is_what_the_faster_has_of_it() -> None:
    """Nobody gains by a stock scheduler that keeps an idle disk waiting."""
    results = []
    for variant, idle in ((v.BFQ, 8.0), (v.WRAIS, 6.0)):
        cells = [replace(cell, variant=variant, repeats=1) for cell in (IDLE, BUSY)]
        results.append(idle_and_busy(cells, idle))
    records = evaluate(results).records
    assert value(records, "startup_over_idle", "bfq", background="1r1w") == 2.0
    assert value(records, "startup_over_idle", "wrais", background="1r1w") == 2.0


# The figures


def test_figures_are_the_same_bytes_each_time(recorded: list[Record], tmp_path: Path) -> None:
    results, plots = tmp_path / "results", tmp_path / "plots"
    write_json(results / "wrais.json", recorded)
    first = {path.name: path.read_bytes() for path in draw(results, plots, "wrais")}
    again = {path.name: path.read_bytes() for path in draw(results, plots, "wrais")}
    assert first and first == again
    for name in ("start-up-depth2", "stalls-depth2"):
        assert f"wrais-{name}.png" in first and f"wrais-{name}.svg" in first


def test_nothing_is_drawn_of_what_was_not_measured(recorded: list[Record], tmp_path: Path) -> None:
    results, plots = tmp_path / "results", tmp_path / "plots"
    write_json(results / "wrais.json", [r for r in recorded if r.variant == "bfq"])
    assert draw(results, plots, "wrais") == []

# SPDX-License-Identifier: GPL-2.0
"""The I/O experiment: what it runs, and the arithmetic from rows to records."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from lab import LabError
from lab.guest import places, slowdisk
from lab.report.goals import find, judge, value
from lab.report.records import Record
from subjects.wrais import applications as a
from subjects.wrais import experiment, pgbench
from subjects.wrais import variants as v
from subjects.wrais.experiment import FULL, Cell
from subjects.wrais.goals import GOALS
from subjects.wrais.metrics import UNITS, evaluate
from tests.host.recorded import printed, printing

SCOPES = {"full": FULL, "quick": experiment.QUICK, "demo": experiment.DEMO}
each_scope = pytest.mark.parametrize("scope", SCOPES.values(), ids=SCOPES)
CELLS = experiment.cells(FULL)


def test_the_baseline_is_in_every_table() -> None:
    """What the privileged do, the real-time class with two parts does as well."""
    baseline = {
        v.WRAIS: v.SIMPLE_RT,
        v.GROUPED: v.SIMPLE_RT_GROUPED,
        v.MEMBER: v.SIMPLE_RT_GROUPED,
        a.PAIR: a.PAIR_SIMPLE,
        a.BESIDE: a.BESIDE_SIMPLE,
    }
    for cell in CELLS:
        base = baseline.get(cell.variant)
        if base == v.SIMPLE_RT_GROUPED and cell.place != places.FLASH:
            base = v.SIMPLE_RT
        assert base is None or replace(cell, variant=base) in CELLS, cell


@each_scope
def test_every_start_has_its_idle_one(scope: experiment.Scope) -> None:
    cells = experiment.cells(scope)
    started = [cell for cell in cells if cell.probe in experiment.STARTUPS]
    idle = [cell for cell in cells if cell.variant == v.BFQ and cell.background == "idle"]
    where = [{(c.probe, c.depth, c.place) for c in some} for some in (started, idle)]
    assert where[0] <= where[1]


@each_scope
def test_boots_have_the_slow_disk(scope: experiment.Scope) -> None:
    for boot in experiment.boots(scope):
        machine = boot.machine
        assert boot.defer and not machine.root
        assert machine.accel == "icount" and machine.icount_shift == 0
        cells = [p.what for p in boot.programs if isinstance(p.what, Cell)]
        (place,) = {cell.place for cell in cells}
        assert boot.disk == place.disk
        assert f"null_blk.service_mbps={place.timing.mbps}" in machine.append
        assert machine.mem_mb > 2 * place.disk_mb
        assert len(cells) == len(boot.programs) - len(list(place.programs()))
        assert len({experiment.group_of(cell) for cell in cells}) == 1
        plain = boot.name.startswith(f"{v.PLAIN.name}-")
        assert machine.kernel == ("plain" if plain else "guest")


def test_a_device_is_ready_before_the_first_start() -> None:
    """Its file system is made and mounted there; wrais-run mounts that of a bare disk."""
    for place in (places.FLASH, *places.OTHERS):
        cell = Cell(v.WRAIS, "lprobe", "1r1w", place.depth or 2, 1, place)
        names = [program.name for program in experiment.boot([cell]).programs]
        assert names[-1] == cell.name
        ours = bool(place.device or place.other)
        assert ("mount-wrais" in names) == ours == ("--mount" not in cell.argv())
        assert ("disk" in names) == (place.disk is not None)
        assert f"--disk {slowdisk.DEVICE} " in words(cell)
    assert any("dm-mod.create" in word for word in places.CRYPT.words(2))
    assert places.LOOP.disk is not None and places.LOOP.disk.size_mb > places.FS.size_mb


def test_percents_are_of_what_the_disk_can_do() -> None:
    scaled = [goal.scale for goal in GOALS if "in % of the disk" in goal.name]
    assert scaled == [pytest.approx(100 / slowdisk.FLASH.mbps)] * 2


def test_a_file_system_has_its_modules_before_its_mount() -> None:
    for place in places.FILE_SYSTEMS:
        assert place.other is not None and place.disk == place.other
        boot = experiment.boot([Cell(v.WRAIS, "lprobe", "1r1w", 2, 1, place)])
        *before, mount, start = boot.programs
        loads = [program.argv for program in before if program.argv[0] == "@insmod"]
        assert loads == [("@insmod", name) for name in boot.machine.modules]
        assert mount.argv[:4] == ("busybox", "mount", "-t", place.other.type)
        assert isinstance(start.what, Cell)


def test_a_database_is_there_before_the_first_start() -> None:
    cell = Cell(v.WRAIS, experiment.PGBENCH, "1r1w", 2, 1, pgbench.PLACE)
    boot = experiment.boot([cell])
    *_, mount, cluster, start = boot.programs
    assert mount.argv[:4] == ("busybox", "mount", "-t", "ext4")
    assert cluster.argv[:2] == ("wrais-pgbench", "--make")
    assert cluster.argv[-1] == start.argv[-1] == pgbench.CLUSTER_DIR
    assert "--mount" not in start.argv and "--class rt" in words(cell)
    assert "usr/lib/postgresql/15/bin/postgres" in boot.image


def test_other_places_have_goals_and_peers() -> None:
    for place in places.OTHERS:
        here = [cell for cell in CELLS if cell.place == place]
        for variant, load in product((v.WRAIS, v.MEMBER), experiment.LOADED):
            assert (variant, load) in {(c.variant, c.background) for c in here}
            goals = [g for g in GOALS if g.where.get("disk") == place.name]
            asked = [g for g in goals if load in str(g.where["background"])]
            assert variant.name in {goal.variant for goal in asked}
        for peer in (v.BFQ, v.SIMPLE_RT):
            assert "1r1w" in {c.background for c in here if c.variant == peer}


def test_a_start_on_an_idle_disk_is_never_ended() -> None:
    for cell in CELLS:
        assert cell.limit_s() >= 2 * experiment.PROBES.get(cell.probe, 0)
        assert cell.program().timeout_s > cell.limit_s() * cell.repeats


def words(cell: Cell) -> str:
    return " ".join(cell.argv())


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({}, "--sched bfq --class rt --level 0 --wrais all"),
        ({}, "-r 4 -w 4"),
        ({}, "--tune nr_requests=64 --dirty-bytes 100000000"),
        ({}, "--probe fsync"),
        ({"variant": v.BFQ}, "--class be --level 4 --wrais none"),
        ({"variant": v.BE0}, "--class be --level 0 --wrais none"),
        ({"variant": v.RT0}, "--class rt --level 0 --wrais none"),
        ({"variant": v.SIMPLE_RT}, "--wrais dirty,tags"),
        ({"variant": v.without("tags")}, "--wrais all,-tags"),
        ({"variant": v.KYBER}, "--sched kyber"),
        ({"probe": "sqlite-delete"}, "-- wrais-sqlite --journal delete "),
    ],
)
def test_commands(change: dict[str, Any], told: str) -> None:
    cell = Cell(v.WRAIS, "fsync", "4r4w", 2, 5)
    assert told in words(replace(cell, **change))
    assert "nr_requests" not in words(replace(cell, variant=v.NONE))


@pytest.mark.parametrize("metric", sorted(experiment.KINDS))
def test_only_runs_what_the_metric_needs(metric: str) -> None:
    cells = experiment.cells(FULL, metric)
    assert cells and {cell.probe for cell in cells} <= set(experiment.KINDS[metric])
    assert set(UNITS) == set(experiment.KINDS)


def test_compiled_out_has_a_switched_off_start_of_the_same_kind_beside_it() -> None:
    plain = [cell for cell in CELLS if cell.variant == v.PLAIN]
    on = [cell for cell in CELLS if cell.variant == v.ON and cell.background == "idle"]
    for cells in (plain, on):
        assert {cell.probe for cell in cells} == set(experiment.SWITCHED_OFF)
    for cell in plain:
        off = replace(cell, variant=v.BFQ)
        assert off in CELLS and off.argv() == cell.argv()


IDLE = Cell(v.BFQ, "lprobe", "idle", 2, 1)
BUSY = replace(IDLE, background="1r1w")
(ROW,) = printed("loaded")
(COMMITS,) = printed("sqlite")


def records_of(*pairs: tuple[Cell, Sequence[dict[str, Any]]]) -> list[Record]:
    """Records of a boot for each cell; a row is a repeat."""
    done = []
    for cell, rows in pairs:
        # What makes a device ready says nothing.
        boot = experiment.boot([cell])
        before: list[list[dict[str, Any]]] = [[] for _ in boot.programs[1:]]
        done.append(printing(boot, *before, rows))
    return evaluate(done).records


def starts(cell: Cell, *seconds: float, **more: Any) -> tuple[Cell, list[dict[str, Any]]]:
    rows = [{**ROW, "repeat": n, "startup_s": took, **more} for n, took in enumerate(seconds, 1)]
    return replace(cell, repeats=len(rows)), rows


@pytest.mark.parametrize(
    ("change", "metric", "number"),
    [
        ({"startup_s": (10.0, 16.0, 12.0)}, "startup_s", 16.0),
        ({"stalls_over_300ms": (1, 2, 0)}, "stalls_over_300ms", 2),
        # where more is better the least counts
        ({"device_mbps": (25.0, 20.0, 22.0)}, "device_mbps", 20.0),
        ({"background_mbps": (5.0, 4.0, 6.0)}, "background_mbps", 4.0),
        # a start that was ended is told
        ({"finished": (True, False, False)}, "unfinished", 2),
    ],
)
def test_the_worst_of_three_starts_counts(
    change: dict[str, tuple[object, ...]], metric: str, number: float
) -> None:
    cell, rows = starts(BUSY, 9.0, 9.0, 9.0)
    new = (dict(zip(change, row, strict=True)) for row in zip(*change.values(), strict=True))
    records = records_of((cell, [old | row for old, row in zip(rows, new, strict=True)]))
    assert value(records, metric, "bfq") == number
    assert find(records, "startup_over_idle") == []


def test_a_start_is_compared_with_an_idle_one() -> None:
    """The worst with the median of the idle ones, and the median as well."""
    records = records_of(starts(IDLE, 8.0, 8.0, 9.0), starts(BUSY, 10.0, 16.0, 12.0))
    (over,) = find(records, "startup_over_idle", "bfq", background="1r1w")
    assert (over.value, over.n, over.unit) == (2.0, 3, "ratio")
    assert isinstance(over.spread, dict) and over.spread["median"] == 1.5
    assert over.params == {"background": "1r1w", "depth": 2, "disk": "flash", "probe": "lprobe"}
    assert find(records, "background_mbps", "bfq", background="idle") == []


@pytest.mark.parametrize(
    ("change", "variant", "disk", "stock"),
    [
        # each place has its own idle start
        ({"place": places.CRYPT}, "bfq", "crypt", 1.5),
        # an idle disk is what the faster has of it: one that keeps it waiting is no gain
        ({"variant": v.WRAIS}, "wrais", "flash", 2.0),
    ],
)
def test_which_idle_start_counts(
    change: dict[str, Any], variant: str, disk: str, stock: float
) -> None:
    others = [replace(cell, **change) for cell in (IDLE, BUSY)]
    pairs = zip((IDLE, BUSY, *others), (8.0, 12.0, 6.0, 12.0), strict=True)
    records = find(records_of(*(starts(*pair) for pair in pairs)), "startup_over_idle")
    for name, place, number in (("bfq", "flash", stock), (variant, disk, 2.0)):
        assert value(records, "startup_over_idle", name, disk=place, background="1r1w") == number


def test_commits_stand_between_the_lines_of_the_driver() -> None:
    cell = replace(BUSY, probe="sqlite-wal", repeats=2)
    records = records_of((cell, [COMMITS, ROW, {**COMMITS, "p99_ms": 9000}, ROW]))
    assert {record.params["quantile"] for record in records} == {"p50", "p90", "p99", "max"}
    assert value(records, "sqlite_commit_ms", "bfq", quantile="p99") == 9000
    assert {record.n for record in records} == {2}


def met(records: Iterable[Record], metric: str) -> bool | None:
    (goal,) = [goal for goal in GOALS if goal.metric == metric]
    return judge(goal, list(records), whole=False).met


@pytest.mark.parametrize(("most", "good"), [(90, True), (91, False)])
def test_transactions_have_quantiles(most: float, good: bool) -> None:
    row = {**COMMITS, "tool": "wrais-pgbench", "clients": 4, "transactions": 900}
    idle, busy = (
        Cell(variant, experiment.PGBENCH, load, 2, 1, pgbench.PLACE)
        for variant, load in ((v.BFQ, "idle"), (v.WRAIS, "1r1w"))
    )
    records = records_of((idle, [{**row, "p99_ms": 30}]), (busy, [{**row, "p99_ms": most}, ROW]))
    where = {"background": "1r1w", "quantile": "p99", "disk": "database", "probe": "pgbench"}
    assert value(records, "pgbench_ms", "wrais", **where) == most
    assert met(records, "pgbench_ms") is good


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({**ROW, "finished": 1}, "Expected `bool`, got `int`.*finished"),
        ({**ROW, "startup_s": None}, "Expected `float`, got `null`.*startup_s"),
        (ROW, "bfq: lprobe-idle: 1 repeats: must be 3"),
    ],
)
def test_output_that_is_not_right_is_named(row: dict[str, Any], told: str) -> None:
    with pytest.raises(LabError, match=told):
        records_of((replace(IDLE, repeats=3), [row]))


@pytest.mark.parametrize(("plain", "good"), [(8.0, True), (7.9, False), (8.1, False)])
def test_switched_off_against_compiled_out(plain: float, good: bool) -> None:
    records = records_of(starts(IDLE, 8.0), starts(replace(IDLE, variant=v.PLAIN), plain))
    assert met(records, "switched_off_pct") is good


@pytest.mark.parametrize(("on", "good"), [(8.0, True), (7.9, False), (8.1, False)])
def test_switched_on_for_no_task_against_off(on: float, good: bool) -> None:
    records = records_of(starts(IDLE, 8.0), starts(replace(IDLE, variant=v.ON), on))
    assert met(records, "switched_on_pct") is good


def test_two_readers_are_held_against_each_other() -> None:
    """The load reads 9 of 19 MB/s."""
    pair = replace(BUSY, variant=a.PAIR, probe="endless", background=a.FAIR_LOAD)
    mine = starts(pair, 60.0, device_read_mbps=19.0, background_read_mbps=9.0)
    assert value(records_of(mine), "fair_share", a.PAIR.name) == 0.9

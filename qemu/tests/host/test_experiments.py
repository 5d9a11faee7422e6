# SPDX-License-Identifier: GPL-2.0
"""What all experiments have in common, on what their programs have printed."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

from lab import LabError
from lab.bench import Bench, run
from lab.experiment import FULL, QUICK
from lab.guest.boot import Boot, Program
from lab.paths import Paths
from lab.registry import EXPERIMENTS, names
from lab.report.goals import Goal, find, judge, rows
from lab.report.measured import Measured
from lab.report.records import Record, read_json, write_text
from tests.host.recorded import TEXT, Recorded, Rows

GOALS: dict[str, tuple[Goal, ...]] = {
    name: import_module(f"subjects.{name}.goals").GOALS for name in names()
}
each = pytest.mark.parametrize("name", names())


@cache
def measured(name: str) -> Measured:
    experiment = EXPERIMENTS[name]
    return experiment.evaluate(Recorded().all(experiment.boots(FULL, None)))


@each
def test_all_that_there_is_is_measured(name: str) -> None:
    experiment, found = EXPERIMENTS[name], measured(name)
    units = {(record.metric, record.unit) for record in found.records}
    assert len(units) == len(dict(units))
    assert {*experiment.metrics} <= {*dict(units)}
    assert all(table.rows for table in found.raw.values())
    assert {*experiment.raw} == {*found.raw}
    judged = experiment.judge(found.records, True)
    assert [v.name for v in judged] == [goal.name for goal in GOALS[name]]
    assert len({v.name for v in judged}) == len(judged)
    assert not [v for v in judged if v.measured == "not measured"]
    assert {v.name for v in judged if v.met is None} == {
        g.name for g in GOALS[name] if not g.judged
    }


@each
def test_what_was_not_measured_is_neither_met_nor_missed(name: str) -> None:
    assert {v.met for v in EXPERIMENTS[name].judge([], True)} == {None}


CLOSE = 0.001
"""How far from its bound a number is, inside or outside."""


def with_numbers(goal: Goal, records: Sequence[Record], numbers: Sequence[float]) -> list[Record]:
    """The records, with these numbers in the goal's rows, and enough samples."""
    mine = find(records, goal.metric, goal.variant, **goal.where)
    # those without a divisor are no rows
    pairs = [
        (record, row)
        for record in mine
        for row in rows(replace(goal, variant=record.variant, where=record.params), records)
    ]
    assert len(pairs) == len(numbers)
    moved = {
        id(record): number * record.value / row.value
        for (record, row), number in zip(pairs, numbers, strict=True)
    }
    return [replace(r, n=max(r.n, goal.least_n), value=moved.get(id(r), r.value)) for r in records]


@pytest.mark.parametrize(
    ("name", "goal"), [pytest.param(n, goal, id=goal.name) for n in names() for goal in GOALS[n]]
)
def test_goals_at_their_bounds(name: str, goal: Goal) -> None:
    """Each finds what was measured, and a row beyond its bound spoils it."""
    # With a value in each row of the goal.
    records = [replace(r, value=r.value or 1.0) for r in find(measured(name).records, goal.metric)]
    count = len(rows(goal, records))
    assert count, f"{goal.name}: finds nothing"
    if not goal.judged:
        assert judge(goal, records, False).met is None
        return
    ends = []
    if goal.high < math.inf:
        ends.append((goal.high - CLOSE, goal.high + CLOSE))
    if goal.low > -math.inf:
        ends.append((goal.low + CLOSE, goal.low - CLOSE))
    if goal.magnitude:
        ends.append((CLOSE - goal.high, -goal.high - CLOSE))
    assert ends, f"{goal.name}: has no bound"
    for inside, outside in ends:
        good = with_numbers(goal, records, [inside] * count)
        assert judge(goal, good, True).met is True, goal.name
        for spoilt in (0, count - 1):
            numbers = [outside if number == spoilt else inside for number in range(count)]
            bad = with_numbers(goal, records, numbers)
            assert judge(goal, bad, False).met is False, goal.name
        few = [replace(record, n=goal.least_n - 1) for record in bad if goal.least_n > 1]
        assert not few or judge(goal, few, False).met is None, goal.name


@each
@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ([], ": (no output|0 lines)"),
        ([{TEXT: "soup"}], "'soup': must be a JSON object of this tool"),
        ([{"tool": "soup"}], "of this tool"),
        (None, "missing required field|Expected `array`"),
    ],
)
def test_output_that_is_not_right_is_named(name: str, lines: Rows | None, told: str) -> None:
    """None is an object of the tool without all that it must have."""

    def change(_boot: Boot, program: Program, rows: Rows) -> Rows:
        if program.what is None or lines is not None:
            return lines if program.what and lines is not None else rows
        return [{key: row[key] for key in ("tool", "schema") if key in row} for row in rows]

    first = EXPERIMENTS[name].boots(QUICK, None)[0]
    with pytest.raises(LabError, match=told) as error:
        EXPERIMENTS[name].evaluate(Recorded(change).all([first]))
    assert error.value.exit_code == 1


@each
def test_bench_writes_everything_the_same_each_time(name: str, tmp_path: Path) -> None:
    """Records, raw tables and figures; nothing is drawn of what was not measured."""
    paths, bench = Paths(top=tmp_path, out=tmp_path / "build"), Bench(EXPERIMENTS[name], QUICK)
    run(bench, paths, Recorded())
    records = read_json(paths.results / f"{bench.stem}.json")
    assert records
    nothing = tmp_path / "nothing"
    write_text(nothing / "none.json", "[]\n")
    for table in bench.experiment.raw:
        header, rows, _ = (paths.results / f"{bench.stem}-{table}.csv").read_text().split("\n", 2)
        assert header and rows
        if table == "histograms":
            (nothing / f"none-{table}.csv").write_text(f"{header}\n")
    first = {path: path.read_bytes() for path in paths.plots.iterdir()}
    pictures = {path.stem for path in first if path.suffix in (".png", ".svg")}
    assert pictures and all((paths.plots / f"{stem}.png") in first for stem in pictures)
    assert bench.experiment.draw(paths.results, paths.plots, bench.stem)
    assert {path: path.read_bytes() for path in paths.plots.iterdir()} == first
    drawn = bench.experiment.draw(nothing, paths.plots, "none")
    assert not [file for file in drawn if file.suffix != ".txt"]

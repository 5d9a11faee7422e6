# SPDX-License-Identifier: GPL-2.0
"""What all experiments have in common, on what their programs have printed."""

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
from lab.report.goals import Goal
from lab.report.measured import Measured
from lab.report.records import read_json, write_text
from tests.host.bounds import check
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


@pytest.mark.parametrize(
    ("name", "goal"), [pytest.param(n, goal, id=goal.name) for n in names() for goal in GOALS[n]]
)
def test_goals_at_their_bounds(name: str, goal: Goal) -> None:
    check(goal, measured(name).records)


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

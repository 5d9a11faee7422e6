# SPDX-License-Identifier: GPL-2.0
"""The long tests: what is run how often, and what the file says of it."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from lab import LabError, ledger, long
from lab.guest.boot import Boot, Program
from lab.guest.ktap import Case, Status
from lab.guest.machine import Machine
from lab.guest.result import BootResult, ProgramResult
from lab.paths import Paths

REAL = Boot("real", Machine(), (Program("one", ("one",)), Program("rate", ("rate",), timed=True)))
VIRTUAL = replace(REAL, name="virtual", machine=Machine(accel="icount", root=False))


def result(boot: Boot, *failed: str, seconds: float = 1.0) -> BootResult:
    programs = [
        ProgramResult(
            p.name,
            Status.FAIL if p.name in failed else Status.OK,
            reason="exit 1",
            seconds=seconds,
        )
        for p in boot.programs
    ]
    return BootResult(boot, programs, Path("console"), seconds=100)


def test_what_is_timed_is_run_five_times_without_the_rest() -> None:
    boots = long.timed_boots([REAL, replace(REAL, name="calm", programs=REAL.programs[:1])])
    assert [boot.name for boot in boots] == [f"real.{n}" for n in range(1, 6)]
    assert all([p.name for p in boot.programs] == ["rate"] for boot in boots)


def test_each_suite_in_virtual_time_has_five_seeds() -> None:
    boots = long.seeded_boots([REAL, VIRTUAL])
    assert [(boot.name, boot.machine.seed) for boot in boots] == [
        (f"virtual.{n}", n) for n in range(1, 6)
    ]


@pytest.mark.parametrize(("bad", "ok"), [(2, True), (3, False)])
def test_most_of_the_runs_have_to_pass(bad: int, ok: bool) -> None:
    boots = long.timed_boots([REAL])
    results = [
        result(boot, *(["rate"] if n < bad else []), seconds=n) for n, boot in enumerate(boots)
    ]
    (row,) = long.rows_of(results, long.MOST_PASS)
    assert row.name == "real-rate" and row.n == 5 and row.passed == 5 - bad and row.ok is ok
    assert row.seconds == long.Spread(5, 0, 2, 4)
    assert row.said == ("exit 1",) * bad
    assert bool(long.judge([row])) is not ok


def test_a_fault_of_the_boot_is_one_of_each_run() -> None:
    boots = long.timed_boots([REAL])
    results = [replace(result(boot), errors=("no power off",)) for boot in boots]
    (row,) = long.rows_of(results, long.MOST_PASS)
    assert row.passed == 0 and row.said[0].endswith("no power off")


@pytest.mark.parametrize(
    ("status", "own", "said"),
    [("ok", 0, 0), ("timeout", 3, 3), ("timeout", 0, 100), ("crash", 0, 100)],
)
def test_what_came_to_no_end_has_the_seconds_of_its_boot(
    status: str, own: float, said: float
) -> None:
    program = ProgramResult("rate", Status(status), seconds=own)
    (row,) = long.rows_of([BootResult(REAL, [program], Path("console"), seconds=100)], 1)
    assert row.seconds == long.Spread(1, said, said, said)


def test_numbers_of_json_are_figures() -> None:
    """Of the rate that was offered, if one was; a line that is cut off has none."""
    lines = [
        '{"offered_pps":2000,"goodput_pps":1999.5,"good":true,"driver":"e1000","lost":null}',
        '{"offered_pps":60000,"goodput_pps":2e-05,"stats":{"lost":1}}',
        '{"lost":3}',
        '{"lost":4',
    ]
    assert long.figures(ProgramResult("run", Status.OK, (), lines)) == {
        "2000: offered_pps: #": [2000],
        "2000: goodput_pps: #": [1999.5],
        "60000: offered_pps: #": [60000],
        "60000: goodput_pps: #": [2e-05],
        "lost: #": [3],
    }


def test_figures_are_what_programs_note() -> None:
    """Numbers of each line over the runs, below the test that printed it."""

    def program(ms: int, share: str) -> ProgramResult:
        lines = [f"# task 1: {share} of 3:1 at cpu0", "# task 2: 7", "no figure 3"]
        part = Case(1, "fsync", Status.OK, output=[f"# the longest took {ms} ms, -2 s"])
        return ProgramResult("rate", Status.OK, (part,), lines)

    boots = long.timed_boots([REAL])[:2]
    results = [
        BootResult(boot, [program(*said)], Path("console"))
        for boot, said in zip(boots, ((40, "2.5"), (60, "3.5")), strict=True)
    ]
    (row,) = long.rows_of(results, 1)
    assert row.figures == {
        "task 1: # of 3:1 at cpu0": [long.Spread(2, 2.5, 3, 3.5)],
        "task 2: #": [long.Spread(2, 7, 7, 7)],
        "fsync: the longest took # ms, # s": [
            long.Spread(2, 40, 50, 60),
            long.Spread(2, -2, -2, -2),
        ],
    }
    two = ProgramResult("rate", Status.OK, (), ["# took 1 s", "# took 2 s"])
    assert long.figures(two) == {"took # s": [1], "took # s (2)": [2]}


def test_each_test_of_a_run_has_a_row(tmp_path: Path) -> None:
    paths = Paths(tmp_path / "top", tmp_path / "out")
    assert not [*long.each(paths, "documents")]
    bad = '<failure message="AssertionError: exit 2&#10;assert 2 == 0">...</failure>'
    cases = f'<testcase name="a" time="1.5"/><testcase name="b" time="2">{bad}</testcase>'
    paths.logs.mkdir(parents=True)
    (paths.logs / "junit-long-documents.xml").write_text(f"<testsuite>{cases}</testsuite>")
    good, failed = long.each(paths, "documents")
    assert (good.name, good.ok, good.seconds.median) == ("a", True, 1.5)
    assert (failed.name, failed.ok, failed.said) == ("b", False, ("AssertionError: exit 2",))


def test_rows_are_made_anew_one_by_one(tmp_path: Path) -> None:
    path = tmp_path / "logs/long.json"
    old, other = (long.row(name, [(True, 1.0, "")], 1) for name in ("old", "other"))
    long.write(path, [old, other])
    long.write(path, [replace(old, passed=0)])
    assert [(one["name"], one["passed"]) for one in json.loads(path.read_text())] == [
        ("old", 0),
        ("other", 1),
    ]


def logged(tmp_path: Path, again: tuple[str, ...] = ()) -> Paths:
    paths = Paths(tmp_path / "top", tmp_path / "out")
    (tmp_path / "stages").mkdir(exist_ok=True)
    console = paths.logs / "guest/suite/console.log"
    console.parent.mkdir(parents=True, exist_ok=True)
    console.write_text("the kernel's words\n")
    (tmp_path / "stages/ci.txt").write_text("ci: test: failed, exit 2, 9 min\n")
    (tmp_path / "stages/ci-test.log").write_text("...\nFAILED suite-one\nAGAIN ok: suite-two\n")
    (paths.logs / "flaky-guest.json").write_text(json.dumps(again))
    (paths.logs / "red-guest.json").write_text(json.dumps([str(console), "/gone/console.log"]))
    return paths


def test_it_is_outside_the_checkout(tmp_path: Path) -> None:
    assert ledger.directory({"HOME": "/home/x"}) == Path("/home/x/.cache/who-waits/ci")
    assert ledger.directory({"LAB_LEDGER": str(tmp_path)}) == tmp_path


def test_a_run_is_kept_and_shown(tmp_path: Path) -> None:
    where = tmp_path / "ledger"
    with pytest.raises(LabError, match="no run"):
        ledger.shown(where)
    run = ledger.keep(logged(tmp_path), where, 0, tmp_path / "stages")
    assert run.name == "none-19700101T000000Z"
    assert (run / "console-suite.log").read_text() == "the kernel's words\n"
    said = ledger.shown(where)
    for word in ("failed, exit 2, 9 min", "FAILED suite-one", "AGAIN ok: suite-two", "console-"):
        assert word in said


def test_old_runs_keep_what_was_run_again_older_ones_nothing(tmp_path: Path) -> None:
    where = tmp_path / "ledger"
    assert not ledger.known(where)
    paths = logged(tmp_path, ("suite-two",))
    for number in range(ledger.LAST_RUNS + 2):
        ledger.keep(paths, where, number, tmp_path / "stages")
    kept = ledger.runs(where)
    assert len(kept) == ledger.LAST_RUNS and kept[0].name.endswith("T000002Z")
    whole = [run for run in kept if (run / "console-suite.log").is_file()]
    assert whole == kept[-ledger.RUNS :]
    assert ledger.known(where) == {"suite-two": ledger.LAST_RUNS}

# SPDX-License-Identifier: GPL-2.0
"""The bench verb: files, goals and exit status, on a toy experiment."""

import json
import re
from itertools import count

import pytest

from lab import LabError
from lab.bench import BOOT_S, GUEST_FACTOR, Bench, Forecast, measure, run, run_all
from lab.guest.boot import Boot
from lab.guest.result import BootResult
from lab.paths import Paths
from lab.registry import EXPERIMENTS
from lab.report.measured import differing, first_difference, repeat_goal
from tests.host import toy

TOY = Bench(toy.EXPERIMENT)
TWICE = Bench(toy.EXPERIMENT, repeat=2)


def broken(boot: Boot) -> BootResult:
    raise LabError(f"{boot.name}: panic", exit_code=1)


def test_everything_is_written_and_the_goal_met(
    paths: Paths, capsys: pytest.CaptureFixture[str]
) -> None:
    paths.results.mkdir(parents=True)
    (paths.results / "toy-rows.csv").write_text("old\n")
    runner = toy.Runner()
    assert run(TOY, paths, runner) == 0
    assert sorted(runner.booted) == ["toy-1", "toy-2", "toy-4"]
    names = {path.name for path in paths.results.iterdir()}
    assert names >= {"toy.json", "toy.bench", "toy.txt", "toy-rows.csv", "toy-samples.csv"}
    assert "old" not in (paths.results / "toy-rows.csv").read_text()
    printed = capsys.readouterr().out
    assert str(paths.plots / "toy.svg") in printed
    assert printed.endswith("1 of 1 measured goals met\n")
    verdict = json.loads((paths.results / "toy-goals.json").read_text())[0]
    assert verdict == {
        **{"name": toy.GOALS[0].name, "bound": "<= 10", "met": True, "quoted": [], "why": ""},
        "measured": "1 1.000, 2 2.000, 4 4.000",
    }


def test_what_figures_depend_on_is_noted_beside_what_is_compared(
    paths: Paths, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(TWICE, paths, toy.Runner()) == 0
    assert "2 runs, all files identical" in capsys.readouterr().out
    told = json.loads((paths.results / "toy-provenance.json").read_text())
    assert (told["cpu"], list(told["kernels"])) == ("max", ["guest"])
    assert told["commit"] and told["host"]["cpus"] >= 1
    measured, _ = measure(TOY, toy.Runner())
    assert not [name for name in measured.files("toy") if "provenance" in name]


def test_a_missed_goal_is_named_last_and_fails(
    paths: Paths, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(TOY, paths, toy.Runner(cost=lambda size: 20.0 if size == 2 else 1.0)) == 1
    assert capsys.readouterr().out.splitlines()[-1] == f"missed: {toy.GOALS[0].name}"
    assert json.loads((paths.results / "toy-goals.json").read_text())[0]["met"] is False


def test_a_partial_run_leaves_a_full_one_alone(paths: Paths) -> None:
    run(TOY, paths, toy.Runner())
    full = (paths.results / "toy.json").read_bytes()
    run(Bench(toy.EXPERIMENT, "quick"), paths, toy.Runner(cost=lambda size: 3.0))
    run(Bench(toy.EXPERIMENT, only="cost_ns"), paths, toy.Runner(cost=lambda size: 5.0))
    assert (paths.results / "toy.json").read_bytes() == full
    assert "5.0" in (paths.results / "toy-quick.json").read_text()


def test_a_run_that_differs_fails_and_is_shown(
    paths: Paths, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = count(1)
    assert run(TWICE, paths, toy.Runner(lambda _: next(runs))) == 1
    printed = capsys.readouterr().out
    assert "run 2 differs: toy" in printed
    assert printed.splitlines()[-1] == "missed: two runs of the same bench"
    one, two = {"a": "x\ny\n"}, {"a": "x\nz\n", "b": "new\n"}
    assert differing([one, two]) == ["a", "b"]
    assert first_difference("a", one, two) == "a:2: 'y' against 'z'"
    assert first_difference("b", one, two) == "b:1: '(end)' against 'new'"
    verdicts = [repeat_goal(runs).met for runs in ([one], [one, one], [one, two])]
    assert verdicts == [None, True, False]


@pytest.mark.parametrize("scope", ["full", "quick", "demo"])
def test_names_and_plans_of_all_experiments(scope: str) -> None:
    """The demo runs them together: no boot of one is named as another's."""
    boots = [boot for found in EXPERIMENTS.values() for boot in found.boots(scope, None)]
    assert len({boot.name for boot in boots}) == len(boots)
    for boot in boots:
        assert boot.programs and boot.render() and boot.lost_s() > 0
        assert boot.host or boot.defer
        # Virtual CPUs that share one host thread in virtual time wait too long for each other.
        assert boot.host or not boot.machine.real_time or boot.machine.cpus > 1


def test_what_is_left_is_what_boots_took_before() -> None:
    """What is not known follows from its length, and all of it from the pace."""
    now = [0.0]
    guests, here = toy.boots((1, 2, 4)), Boot("here", programs=(toy.program(20),), host=True)
    first, *_, last = guests
    forecast = Forecast([here, *guests], 2, {"toy-1": 10, "toy-2": 10, "toy-4": 40}, lambda: now[0])
    assert forecast.seconds() == 20 + 40, "the host's alone, then the longest of the guests"
    forecast.begin(here)
    now[0] = 15.0
    assert forecast.seconds() == 5 + 40
    now[0] = 40.0
    assert forecast.seconds() == 0 + 40, "it is late"
    forecast.end(here)
    assert forecast.seconds() == 0 + 40, "of guests it says nothing"
    forecast.begin(first)
    now[0] = 60.0
    forecast.end(first)
    assert forecast.seconds() == 2 * 40, "a machine half as fast"
    forecast.begin(last)
    now[0] = 70.0
    assert forecast.seconds() == 2 * 40 - 10
    unknown = Forecast(guests, 1)
    assert unknown.seconds() == pytest.approx(3 * BOOT_S + GUEST_FACTOR * (1 + 2 + 4))


def test_progress_names_the_phase_and_the_minutes(capsys: pytest.CaptureFixture[str]) -> None:
    """A boot that fails ends the run."""
    boots = [Boot("here", programs=(toy.program(1),), host=True), *toy.boots((1, 2))]
    run_all(boots, toy.Runner(), 1, "demo")
    assert "demo, in guests: 3/3 boots (100 %)\n" in capsys.readouterr().err
    with pytest.raises(LabError, match="here: panic"):
        run_all(boots[:1], broken, 1, "demo")
    assert re.fullmatch(
        r"demo, on this machine: 0/1 boots \(0 %\), 0 s done, \d+ s left\n", capsys.readouterr().err
    )

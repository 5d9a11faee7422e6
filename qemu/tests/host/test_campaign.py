# SPDX-License-Identifier: GPL-2.0
"""All experiments in one call: order, what is kept, the budget, failures."""

import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Barrier, Event, current_thread, main_thread

import pytest

from lab import LabError
from lab.bench import Bench, made_by
from lab.campaign import Campaign, Kept, benches, conditions, keeping, seconds
from lab.experiment import SCOPES
from lab.guest.boot import Boot
from lab.guest.machine import Machine
from lab.guest.result import BootResult
from lab.host.progress import duration
from lab.paths import Paths
from lab.registry import EXPERIMENTS
from lab.report.measured import Measured
from lab.schedule import Runner
from tests.host import toy

ENOUGH_S = 60.0
BESIDE_S = 0.1
TOY = Bench(toy.EXPERIMENT)
ALL = ["toy-1", "toy-2", "toy-4"]


def campaign(
    paths: Paths,
    runner: Runner,
    deadline: float | None = None,
    clock: Callable[[], float] = lambda: 0.0,
    bench: Bench = TOY,
) -> Campaign:
    return Campaign(paths, [bench], keeping(paths, lambda _: runner), deadline, clock)


@pytest.mark.parametrize(("text", "value"), [("90s", 90), ("30m", 1800), ("2h", 7200)])
def test_a_budget_is_a_number_with_a_unit(text: str, value: float) -> None:
    assert seconds(text) == value


@pytest.mark.parametrize("scope", SCOPES)
def test_all_experiments_run_the_shortest_first(scope: str) -> None:
    found = benches(scope, 2)
    assert {bench.experiment.name for bench in found} == set(EXPERIMENTS)
    lengths = [sum(boot.length for boot in bench.boots()) for bench in found]
    assert lengths == sorted(lengths)
    boots = [boot for bench in found for boot in bench.boots()]
    assert {boot.name for boot in boots if boot.host} == {"ipc-host", "udp-host"}
    real = {boot.name for boot in boots if not boot.host and boot.machine.real_time}
    assert real <= {"smp-1", "smp-2", "smp-3"}


def test_what_depends_on_the_hosts_clock_runs_alone(paths: Paths) -> None:
    """The others run side by side: the barrier would not open for one at a time."""
    running, most = set(), dict.fromkeys((True, False), 0)
    both, overlap = Barrier(2), Event()

    def boots(_scope: str, _only: str | None) -> list[Boot]:
        real = [Boot(f"real-{n}", Machine(accel="tcg", root=False)) for n in range(3)]
        host = [Boot("host", host=True)]
        return [*real, *(Boot(f"virtual-{n}", Machine(accel="icount")) for n in range(2)), *host]

    def run(boot: Boot) -> BootResult:
        running.add(boot.name)
        if len(running) > 1:
            overlap.set()
        if boot.host or boot.machine.real_time:
            # Whatever comes within that time is beside it.
            overlap.wait(BESIDE_S)
            most[True] = max(most[True], len(running))
        else:
            both.wait(ENOUGH_S)
            most[False] = 2
        running.discard(boot.name)
        return BootResult(boot, [], Path("console.log"))

    experiment = replace(toy.EXPERIMENT, boots=boots, evaluate=lambda _: Measured([], [], {}))
    drawn = replace(experiment, draw=lambda *_: [])
    campaign(paths, run, bench=Bench(drawn, workers=2)).run()
    assert most == {True: 1, False: 2}


@pytest.mark.parametrize("name", sorted(EXPERIMENTS))
def test_a_boot_has_the_same_key_in_every_process(name: str) -> None:
    """Nothing in its text is an address, and its result can be kept."""
    for boot in EXPERIMENTS[name].boots("full", None):
        assert " at 0x" not in repr(boot), boot.name
        assert pickle.loads(pickle.dumps(boot)) == boot


def test_what_is_done_is_not_done_again(paths: Paths, capsys: pytest.CaptureFixture[str]) -> None:
    """But for what was cut short."""
    runner = toy.Runner()
    assert campaign(paths, runner).run() == 0
    first = {file.name: file.read_bytes() for file in paths.results.iterdir()}
    assert sorted(runner.booted) == ALL
    again = toy.Runner(cost=lambda _: 3.0)
    assert campaign(paths, again).run() == 0
    assert again.booted == []
    assert {file.name: file.read_bytes() for file in paths.results.iterdir()} == first
    assert capsys.readouterr().out.endswith("1 of 1 measured goals met\n")
    for file in (paths.out / "bench/toy").glob("toy-2-*.pickle"):
        file.write_bytes(b"cut short")
    assert campaign(paths, again).run() == 0
    assert again.booted == ["toy-2"]


def test_other_conditions_are_measured_anew(paths: Paths) -> None:
    told = made_by(paths, TOY)
    before = conditions(paths, told)
    assert before == conditions(paths, replace(told, commit="other", dirty=True))
    assert before != conditions(paths, replace(told, series="other"))
    assert before != conditions(paths, replace(told, image="other"))
    paths.bin.mkdir(parents=True)
    (paths.bin / "tool").write_text("new")
    assert conditions(paths, told) != before
    runner = toy.Runner()
    for text in ("one", "other", "one"):
        Kept(runner, paths.out / "kept", text)(toy.boots((1,))[0])
    assert runner.booted == ["toy-1", "toy-1"]


def test_the_budget_ends_it_and_the_next_call_goes_on(
    paths: Paths, capsys: pytest.CaptureFixture[str]
) -> None:
    """After two boots the time is up for what begins; waiting for results has enough of it."""
    runner = toy.Runner()
    kept = paths.out / "bench/toy"

    def clock() -> float:
        up = current_thread() is not main_thread() and len(list(kept.glob("*.pickle"))) == 2
        return ENOUGH_S if up else 0.0

    assert campaign(paths, runner, ENOUGH_S, clock).run() == 1
    assert len(runner.booted) == 2
    said = capsys.readouterr().out
    assert "not finished: toy: 2 of 3 boots done; make bench goes on with it" in said
    assert not (paths.results / "toy.json").exists()
    assert campaign(paths, runner).run() == 0
    assert sorted(runner.booted) == ALL
    assert (paths.results / "toy.json").exists()


def test_a_boot_that_does_not_end_is_left_when_the_time_is_up(paths: Paths) -> None:
    begun, end = Event(), Event()

    def endless(boot: Boot) -> BootResult:
        begun.set()
        end.wait(ENOUGH_S)
        return toy.Runner()(boot)

    cut = campaign(paths, endless, 1.0, lambda: 1.0 if begun.is_set() else 0.99)
    assert cut.run() == 1
    assert cut.unfinished == ["toy: 0 of 3 boots done"]
    end.set()


def test_a_boot_that_fails_is_named_and_the_others_are_kept(
    paths: Paths, capsys: pytest.CaptureFixture[str]
) -> None:
    runner = toy.Runner()

    def failing(boot: Boot) -> BootResult:
        if boot.name == "toy-4":
            raise LabError("toy-4: panic", exit_code=1)
        return runner(boot)

    assert campaign(paths, failing).run() == 1
    assert capsys.readouterr().out.endswith("failed: toy: toy-4: panic\n")
    assert sorted(runner.booted) == ALL[:2]
    assert campaign(paths, runner).run() == 0
    assert sorted(runner.booted) == ALL


def test_a_missed_goal_fails(paths: Paths) -> None:
    assert campaign(paths, toy.Runner(cost=lambda _: 20.0)).run() == 1


@pytest.mark.parametrize(
    ("value", "text"), [(40.2, "40 s"), (61, "1 min"), (720, "12 min"), (11100, "3 h 5 min")]
)
def test_a_duration_as_a_person_says_it(value: float, text: str) -> None:
    assert duration(value) == text

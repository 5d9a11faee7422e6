# SPDX-License-Identifier: GPL-2.0
"""The scheduler: each boot once, side by side, and no error is lost."""

from dataclasses import replace
from pathlib import Path
from threading import Barrier, Event, Lock

import pytest

from lab import LabError
from lab.guest.boot import Boot
from lab.guest.machine import Machine
from lab.guest.result import BootResult
from lab.schedule import Schedule, lanes_here

WAIT_S = 10.0
REAL = Machine()
VIRTUAL = Machine(accel="icount")


def boot(name: str, machine: Machine = VIRTUAL, budget_s: float = 1) -> Boot:
    return Boot(name, machine, budget_s=budget_s)


class Fake:
    def __init__(self, *failing: str) -> None:
        self.failing = failing
        self.ran: list[str] = []
        self._lock = Lock()

    def __call__(self, boot: Boot) -> BootResult:
        with self._lock:
            self.ran.append(boot.name)
        if boot.name in self.failing:
            raise LabError(f"{boot.name} is not built")
        return BootResult(boot, [], Path("console"))


def test_each_runs_once_and_results_come_in_order() -> None:
    fake = Fake()
    boots = [boot("a"), boot("b", budget_s=9), boot("c", REAL)]
    schedule = Schedule(boots, fake, 2)
    assert [result.boot.name for result in schedule.all()] == ["a", "b", "c"]
    assert schedule.of("b") is schedule.of("b")
    assert sorted(fake.ran) == ["a", "b", "c"]


def test_one_lane_takes_the_long_ones_first() -> None:
    fake = Fake()
    boots = [boot("short"), boot("long", budget_s=9), boot("real", REAL), boot("mid", budget_s=5)]
    Schedule(boots, fake, 1).all()
    assert fake.ran == ["real", "long", "mid", "short"]


def test_the_host_comes_first_and_alone() -> None:
    fake = Fake()
    boots = [boot("guest", REAL, 99), replace(boot("host"), host=True)]
    Schedule(boots, fake, 2).all()
    assert fake.ran == ["host", "guest"]


def test_one_in_real_time_beside_one_in_virtual_time() -> None:
    together, lock = Barrier(2), Lock()
    met: list[tuple[int, str]] = []

    def run(boot: Boot) -> BootResult:
        with lock:
            turn = len(met) // 2
        together.wait(WAIT_S)
        with lock:
            met.append((turn, boot.machine.accel))
        together.wait(WAIT_S)
        return BootResult(boot, [], Path("console"))

    boots = [boot("a", REAL), boot("b", REAL), boot("c"), boot("d")]
    Schedule(boots, run, 2).all()
    assert sorted(met) == [(0, "icount"), (0, "tcg"), (1, "icount"), (1, "tcg")]


def test_an_error_is_raised_for_its_boot_and_the_others_run() -> None:
    schedule = Schedule([boot("bad"), boot("good")], Fake("bad"), 2)
    assert schedule.of("good").ok
    with pytest.raises(LabError, match="bad is not built"):
        schedule.of("bad")
    assert [result.boot.name for result in schedule.finished()] == ["good"]


def test_all_raises_the_first_error() -> None:
    boots = [boot("bad", budget_s=9), *(boot(f"later-{number}") for number in range(5))]
    with pytest.raises(LabError, match="bad is not built"):
        Schedule(boots, Fake("bad"), 1).all()


def test_one_lane_begins_before_the_first_result_is_asked_for() -> None:
    """In virtual time; the other one waits until the caller does."""
    begun, fake = Event(), Fake()

    def run(boot: Boot) -> BootResult:
        result = fake(boot)
        begun.set()
        return result

    schedule = Schedule([boot("real", REAL), boot("virtual")], run, 2)
    schedule.begin()
    assert begun.wait(WAIT_S)
    assert fake.ran[0] == "virtual"
    assert [result.boot.name for result in schedule.all()] == ["real", "virtual"]
    assert sorted(fake.ran) == ["real", "virtual"]


def test_a_guest_whose_cpus_run_at_the_same_time_has_no_neighbour() -> None:
    assert lanes_here([boot("one", REAL), boot("other")]) == lanes_here()
    assert lanes_here([boot("one"), boot("all", replace(REAL, parallel=True))]) == 1

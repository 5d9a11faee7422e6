# SPDX-License-Identifier: GPL-2.0
"""What is run again, and what is red at once."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest

from lab import LabError, again
from lab.guest.boot import Boot, Program
from lab.guest.console import Kind, Splat
from lab.guest.ktap import Status
from lab.guest.machine import Machine
from lab.guest.result import BootResult, Outcome, ProgramResult
from lab.schedule import Runner, Schedule

VIRTUAL = Machine(accel="icount", root=False)
NAMES = ("a", "b", "c", "d", "e")


def boot(name: str = "suite", machine: Machine | None = None, *programs: Program) -> Boot:
    programs = programs or tuple(Program(one, (one,)) for one in NAMES)
    return Boot(name, machine or Machine(), programs)


def result(of: Boot, *failed: str) -> BootResult:
    programs = [
        ProgramResult(p.name, Status.FAIL if p.name in failed else Status.OK) for p in of.programs
    ]
    return BootResult(of, programs, Path(of.name), stolen_s=2.5)


def hung(of: Boot) -> BootResult:
    errors = ("the watchdog ended the guest after 600 s",)
    return replace(result(of, *NAMES), outcome=Outcome.TIMEOUT, errors=errors)


def run(runner: Runner, *boots: Boot, before: dict[str, int] | None = None) -> list[BootResult]:
    schedule = Schedule(
        boots, runner, 1, once_more=lambda results: again.chosen(results, before or {})
    )
    return schedule.all()


class Twice:
    def __init__(self, *failing: str, always: bool = False) -> None:
        self.ran: list[Boot] = []
        self._failing = failing
        self._always = always

    def __call__(self, of: Boot) -> BootResult:
        first = not of.name.endswith(".again")
        self.ran.append(of)
        here = [name for name in self._failing if any(p.name == name for p in of.programs)]
        return result(of, *(here if first or self._always else ()))


def test_what_fails_once_is_run_again_at_the_end_and_both_results_are_shown() -> None:
    runner = Twice("b")
    one, other = run(runner, boot("one"), boot("other", None, Program("x", ("x",))))
    assert [of.name for of in runner.ran] == ["one", "other", "one.again"]
    assert [p.name for p in runner.ran[-1].programs] == ["a", "b"]
    assert one.ok and one.first and again.bad(one.first) == ["b"]
    assert other.first is None
    assert again.names([one, other]) == ["one-b"]
    (line,) = again.lines([one, other])
    assert line.startswith("AGAIN ok: one: first: b: fail: ; then: ok; ")
    assert "0.0 s, stolen from it: 2.5 s;" in line


def test_what_fails_twice_is_red() -> None:
    (one,) = run(Twice("b", always=True), boot())
    assert again.bad(one) == ["b"] and not again.names([one])
    assert again.lines([one])[0].startswith("AGAIN bad: ")


def test_what_fails_the_second_time_only_is_red() -> None:
    def runner(of: Boot) -> BootResult:
        return result(of, *(["a"] if of.name.endswith(".again") else ["b"]))

    (one,) = run(runner, boot())
    assert again.bad(one) == ["a"]


def hangs_once(of: Boot) -> BootResult:
    return result(of) if of.name.endswith(".again") else hung(of)


def test_a_hang_is_run_again_whole_and_called_one() -> None:
    (one,) = run(hangs_once, boot())
    assert one.ok and one.first and one.first.outcome is Outcome.TIMEOUT
    assert again.names([one]) == ["suite"]
    assert again.lines([one])[0].startswith("HANG ok: suite: ")


FIRST = {
    "lockdep": replace(result(boot(), "b"), splats=(Splat(Kind.LOCKDEP, "deadlock", 7),)),
    "kasan": replace(result(boot(), "b"), splats=(Splat(Kind.KASAN, "use-after-free", 7, "b"),)),
    "stall": replace(hung(boot()), splats=(Splat(Kind.RCU_STALL, "rcu stall", 7),)),
    "leak": result(boot("leaks", None, Program("a", (again.LEAKS,))), "a"),
    "exact": result(boot("exact", VIRTUAL), "b"),
    "exact-hang": hung(boot("exact", VIRTUAL)),
    "timed": result(boot("timed", None, Program("a", ("a",), timed=True)), "a"),
    "panic": replace(result(boot(), "b"), outcome=Outcome.PANIC, errors=("it panicked",)),
    "died": replace(result(boot(), "b"), outcome=Outcome.DIED, errors=("QEMU ended early",)),
    "stream": replace(result(boot(), "b"), errors=("the guest planned 4 programs, not 5",)),
}


@pytest.mark.parametrize("first", FIRST.values(), ids=FIRST)
def test_what_is_never_run_again(first: BootResult) -> None:
    runner = Mock(return_value=first)
    (one,) = run(runner, first.boot)
    runner.assert_called_once_with(first.boot)
    assert not one.ok and one.first is None


def test_a_fourth_program_is_not_forgiven() -> None:
    for count, ok in ((again.MOST_PROGRAMS, True), (again.MOST_PROGRAMS + 1, False)):
        runner = Twice(*NAMES[:count])
        (one,) = run(runner, boot())
        assert one.ok is ok and len(runner.ran) == 1 + ok
    apart = [boot(f"boot{name}", None, Program(name, (name,))) for name in NAMES[:4]]
    assert not any(one.ok for one in run(Twice(*NAMES), *apart))


def test_a_third_hang_is_not_forgiven() -> None:
    for count, ok in ((again.MOST_BOOTS, True), (again.MOST_BOOTS + 1, False)):
        boots = [boot(f"boot{number}") for number in range(count)]
        assert all(one.ok is ok for one in run(hangs_once, *boots))


def test_what_was_run_again_twice_before_is_red_at_once() -> None:
    for times, ok in ((1, True), (2, False)):
        runner = Twice("b")
        (one,) = run(runner, boot(), before={"suite-b": times})
        assert one.ok is ok and len(runner.ran) == 1 + ok


def test_nothing_is_run_again_unless_it_is_asked_for() -> None:
    runner = Twice("b")
    (one,) = Schedule([boot()], runner, 1).all()
    assert not one.ok and len(runner.ran) == 1


def test_what_cannot_be_chosen_is_the_error_of_all_that_waits() -> None:
    """A broken ledger must not leave a result that never comes."""

    def broken(_: Sequence[BootResult]) -> list[BootResult]:
        raise LabError("ledger: not readable")

    schedule = Schedule((boot("one"), boot("other")), Twice("b"), 1, once_more=broken)
    for name in ("one", "other"):
        with pytest.raises(LabError, match="ledger"):
            schedule.of(name)

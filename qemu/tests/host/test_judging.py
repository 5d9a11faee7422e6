# SPDX-License-Identifier: GPL-2.0
"""The tests of the guest's programs fail for what is wrong with the boot as a whole, too."""

from dataclasses import replace
from pathlib import Path

import pytest

from lab.guest.boot import Boot, Program
from lab.guest.console import Kind, Splat
from lab.guest.ktap import Status
from lab.guest.result import BootResult, ProgramResult
from lab.schedule import Schedule
from tests.guest import test_guest

ONE, OTHER = Program("one", ("one",)), Program("other", ("other",))
BOOT = Boot("suite", programs=(ONE, OTHER))
GOOD = BootResult(
    BOOT,
    [ProgramResult("one", Status.OK), ProgramResult("other", Status.FAIL, reason="exit 1")],
    Path("console.log"),
)
SPLAT = Splat(Kind.WARNING, "WARNING: x", 7)
LATE = replace(GOOD, errors=("no power off within 120 s",))
BETWEEN = replace(GOOD, splats=(SPLAT,))
CRASHED = ProgramResult("one", Status.CRASH, reason="no result: died")


def judge(result: BootResult, *selected: Program) -> None:
    boot = replace(BOOT, programs=selected or BOOT.programs)
    schedule = Schedule([boot], lambda boot: replace(result, boot=boot), 1)
    test_guest.test_program(schedule, (BOOT, ONE))


def test_only_its_own_result_counts() -> None:
    """And a late power off is one red test: that of the boot itself."""
    judge(GOOD)
    judge(LATE)
    judge(replace(GOOD, splats=(replace(SPLAT, entry="other"),)))


@pytest.mark.parametrize(
    "bad",
    [
        LATE,
        BETWEEN,
        replace(GOOD, splats=(replace(SPLAT, entry="one"),)),
        replace(GOOD, programs=[CRASHED]),
    ],
    ids=["boot", "between", "while-it-ran", "result"],
)
def test_what_spoils_it(bad: BootResult) -> None:
    with pytest.raises(AssertionError):
        judge(bad, ONE)


@pytest.mark.parametrize(
    ("bad", "told"), [(LATE, "no power off"), (BETWEEN, "WARNING")], ids=["boot", "between"]
)
def test_what_spoils_the_boot(bad: BootResult, told: str) -> None:
    with pytest.raises(AssertionError, match=told):
        test_guest.test_console(Schedule([BOOT], lambda boot: bad, 1), BOOT)

# SPDX-License-Identifier: GPL-2.0
"""Every program of every suite, in guests that boot once a suite."""

from collections.abc import Iterator

import pytest

from lab.again import LEAKS
from lab.guest.boot import Boot, Program
from lab.guest.ktap import Case, Status
from lab.schedule import Schedule
from lab.suite import only_noted

OUTPUT_LINES = 30
# Of a boot of the kernel with checks: a boot in which more fail has tested little.
MOST_NOTED = 3


def _failed(cases: tuple[Case, ...], depth: int = 0) -> Iterator[str]:
    for case in cases:
        if case.status is not Status.OK:
            yield f"{'  ' * depth}{case.status}: {case.number} {case.name} {case.reason}"
        yield from _failed(case.subtests, depth + 1)


def test_program(schedule: Schedule, program: tuple[Boot, Program]) -> None:
    """It ends well, and the kernel has nothing to complain about.

    What is wrong with the boot itself is up to test_console, but for a part of a suite, which
    may have been selected without that.
    """
    suite, wanted = program
    run = schedule.of(suite.name)
    result = run.program(wanted.name)
    splats = [str(splat) for splat in run.splats if splat.entry == wanted.name]
    assert not splats, "\n".join([f"{run.console}: {splats}", *run.stuck()])
    if result.status is Status.SKIP:
        pytest.skip(result.reason)
    details = [*_failed(result.subtests), *result.output[-OUTPUT_LINES:]]
    said = "\n".join(
        [f"{result.status}: {result.reason}", *details, *run.stuck(), f"console: {run.console}"]
    )
    noted = (
        only_noted(suite.machine.kernel)
        and result.status is Status.FAIL
        and wanted.argv[0] != LEAKS
    )
    assert noted or result.status is Status.OK, said
    part = len(run.boot.programs) < len(suite.programs)
    assert not (part and run.whole()), f"{run.console}: {run.whole()}"


def test_console(schedule: Schedule, suite: Boot) -> None:
    """The guest came and went as it should, silently, and tested something."""
    run = schedule.of(suite.name)
    assert not run.errors, f"{run.console}: {run.errors}"
    assert not run.splats, f"{run.console}: {[str(splat) for splat in run.splats]}"
    assert not run.all_skipped, "all programs were skipped"
    failed = [program.name for program in run.programs if program.status is Status.FAIL]
    some = only_noted(suite.machine.kernel) and len(failed) > MOST_NOTED
    assert not some, f"{run.console}: {failed} failed"

# SPDX-License-Identifier: GPL-2.0
"""Every entry of every suite, in guests that boot once a suite."""

from collections.abc import Iterator

import pytest

from lab.ktap import Case, Status
from lab.suites import Entry, Suite, SuiteRuns

OUTPUT_LINES = 30


def _failed(cases: tuple[Case, ...], depth: int = 0) -> Iterator[str]:
    for case in cases:
        if case.status is not Status.OK:
            yield f"{'  ' * depth}{case.status}: {case.number} {case.name} {case.reason}"
        yield from _failed(case.subtests, depth + 1)


def test_entry(guest_runs: SuiteRuns, guest_entry: tuple[Suite, Entry]) -> None:
    """The entry ends well and the kernel has nothing to complain about meanwhile."""
    suite, entry = guest_entry
    run = guest_runs.of(suite)
    result = run.entry(entry.name)
    splats = [str(splat) for splat in run.splats if splat.entry == entry.name]
    assert not splats, f"{run.console}: {splats}"
    if result.status is Status.SKIP:
        pytest.skip(result.reason)
    details = [*_failed(result.subtests), *result.output[-OUTPUT_LINES:]]
    assert result.status is Status.OK, "\n".join(
        [f"{result.status}: {result.reason}", *details, f"console: {run.console}"]
    )


def test_console(guest_runs: SuiteRuns, guest_suite: Suite) -> None:
    """The guest came and went as it should, silently, and tested something."""
    run = guest_runs.of(guest_suite)
    assert not run.errors, f"{run.console}: {run.errors}"
    assert not run.splats, f"{run.console}: {[str(splat) for splat in run.splats]}"
    assert not run.all_skipped, "all entries were skipped"

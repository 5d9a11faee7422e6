# SPDX-License-Identifier: GPL-2.0
"""What of a run is run again, once and alone: programs whose verdict a busy host can change.

That is so for events in real time only. A complaint of the kernel is a fault whatever a second
run says, and a program in virtual time does the same again. Too many failures of one run, and a
program that was run again before, are faults as well.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from lab.guest.boot import Boot, Judged
from lab.guest.ktap import Status
from lab.guest.result import BootResult, Outcome

MOST_PROGRAMS = 3
MOST_BOOTS = 2
# How many of the ledger's last runs may have run a program again.
MOST_BEFORE = 1
# A boot that ended like this may have met a busy host.
HUNG = (Outcome.TIMEOUT, Outcome.STUCK)
LEAKS = "@kmemleak"


def bad(result: BootResult) -> list[str]:
    """Names of the programs that failed."""
    good = (Status.OK, Status.SKIP)
    return [program.name for program in result.programs if program.status not in good]


def forgivable(result: BootResult) -> bool:
    """It failed, and each of its faults is one that a busy host could have made."""
    hung = result.outcome in HUNG
    if result.splats or (result.outcome is not Outcome.DONE and not hung):
        return False
    if result.errors and not hung:
        return False
    names = {*bad(result)}
    programs = [program for program in result.boot.programs if program.name in names]
    if any(program.argv[0] == LEAKS for program in programs):
        return False
    events = all(result.boot.judged(program) is Judged.EVENT for program in programs)
    return events and not result.boot.machine.exact and bool(programs or hung)


def chosen(results: Sequence[BootResult], before: Mapping[str, int]) -> list[BootResult]:
    """Those that are run again: none where a limit is passed."""
    found = [result for result in results if forgivable(result)]
    whole = [result for result in found if result.outcome in HUNG]
    names = [f"{r.boot.name}-{name}" for r in found if r not in whole for name in bad(r)]
    often = [name for name in names if before.get(name, 0) > MOST_BEFORE]
    often += [r.boot.name for r in whole if before.get(r.boot.name, 0) > MOST_BEFORE]
    if len(names) > MOST_PROGRAMS or len(whole) > MOST_BOOTS or often:
        return []
    return found


def boot_of(result: BootResult) -> Boot:
    """What is run again: what failed and what makes things ready for it, or the whole boot."""
    boot = replace(result.boot, name=f"{result.boot.name}.again")
    names = {*bad(result)}
    if result.outcome in HUNG or not names:
        return boot
    # What comes before a program may prepare what it needs.
    last = max(n for n, program in enumerate(boot.programs) if program.name in names)
    return replace(boot, programs=boot.programs[: last + 1])


def combined(first: BootResult, second: BootResult) -> BootResult:
    """The first result, with what the second says of each program that it has; it counts.

    A program that was good the first time and is bad the second time is bad.
    """
    again = {program.name: program for program in second.programs}
    failed = {*bad(first)}
    worse = {*bad(second)}
    programs = [
        again[one.name] if one.name in again and one.name in failed | worse else one
        for one in first.programs
    ]
    return replace(
        first,
        programs=programs,
        splats=second.splats,
        outcome=second.outcome,
        errors=second.errors,
        console=second.console,
        first=first,
    )


def names(results: Sequence[BootResult]) -> list[str]:
    """What was run again and was good then, by its name in the ledger."""
    found: list[str] = []
    for result in results:
        if result.first is None:
            continue
        if result.first.outcome in HUNG:
            found += [] if result.problems() else [result.boot.name]
        else:
            still = {*bad(result)}
            found += [f"{result.boot.name}-{n}" for n in bad(result.first) if n not in still]
    return found


def lines(results: Sequence[BootResult]) -> list[str]:
    """What a reader is told of each program that was run again: both results."""
    found: list[str] = []
    for result in results:
        if result.first is None:
            continue
        how = "HANG" if result.first.outcome in HUNG else "AGAIN"
        verdict = "bad" if result.problems() else "ok"
        said = "; ".join(result.first.problems())
        now = "; ".join(result.problems()) or "ok"
        found.append(
            f"{how} {verdict}: {result.boot.name}: first: {said}; then: {now}; "
            f"longest gap of the host: {result.first.gap_s:.1f} s, "
            f"stolen from it: {result.first.stolen_s:.1f} s; "
            f"console: {result.first.console}"
        )
    return found

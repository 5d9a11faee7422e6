# SPDX-License-Identifier: GPL-2.0
"""What may be skipped, on which machines and why. Any other skip fails the run."""

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from lab.guest import ktap
from lab.guest.result import BootResult
from lab.host.overlay import refusal
from lab.suite import kernel_variant


@dataclass(frozen=True)
class Allowed:
    """A skip of the tests that `where` finds, with a reason that `why` matches, if `here`."""

    where: re.Pattern[str]
    why: re.Pattern[str]
    here: Callable[[], bool]


ALLOWED = (
    *(
        Allowed(re.compile("test_ipclat_containers"), re.compile(rf"\b{name}\b"), lambda: True)
        for name in ("runc", "youki", "podman", "docker")
    ),
    # Core scheduling of 6.12 does not bear it: see the suite.
    Allowed(re.compile("lottery-torture-core-"), re.compile("--no-hotplug"), lambda: True),
    Allowed(
        re.compile("test_guest"),
        re.compile("kernel-up has 1$"),
        lambda: kernel_variant(os.environ) == "up",
    ),
    # For a quick look only: neither program nor kernel is worth its time in every run.
    Allowed(re.compile("test_vng"), re.compile("virtme-ng$|make kernel-vng$"), lambda: True),
    Allowed(re.compile("test_mutant"), re.compile("no private mounts: "), lambda: bool(refusal())),
)


def of_boots(results: Iterable[BootResult]) -> list[tuple[str, str]]:
    """What programs left out that are ok otherwise: SUITE-PROGRAM/TEST, and why."""
    return [
        (f"{result.boot.name}-{path}", why)
        for result in results
        for program in result.programs
        if program.status is not ktap.Status.SKIP
        for path, why in ktap.skips(program.subtests, f"{program.name}/")
    ]


def unexpected(skips: Iterable[tuple[str, str]]) -> list[str]:
    """Those of the skips (test, reason) that are not allowed here, one line each."""
    return [
        f"{test}: {reason}"
        for test, reason in skips
        if not any(a.where.search(test) and a.why.search(reason) and a.here() for a in ALLOWED)
    ]

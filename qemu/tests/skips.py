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

    where: str
    why: str
    here: Callable[[], bool] = lambda: True


ALLOWED = (
    Allowed("test_ipclat_containers", r"\b(runc|youki|podman|docker)\b"),
    # Core scheduling of 6.12 does not bear it: see the suite.
    Allowed("lottery-torture-core-", "--no-hotplug"),
    Allowed("test_guest", "kernel-up has 1$", lambda: kernel_variant(os.environ) == "up"),
    # For a quick look only: neither program nor kernel is worth its time in every run.
    Allowed("test_vng", "virtme-ng$|make kernel-vng$"),
    Allowed("test_(mutant|series)", "no private mounts: ", lambda: bool(refusal())),
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
        if not any(
            re.search(a.where, test) and re.search(a.why, reason) and a.here() for a in ALLOWED
        )
    ]

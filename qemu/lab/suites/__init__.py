# SPDX-License-Identifier: GPL-2.0
"""The functional test suites: which programs run in which guest.

A suite is one boot. Without the root image there is no shell: entries are then
our own programs or builtins of PID 1.
"""

from collections.abc import Mapping
from dataclasses import replace

from lab import LabError
from lab.machine import Machine
from lab.suites import house, instruments, lottery, receive, wrais
from lab.suites.runs import SuiteRuns
from lab.suites.suite import DEBUG_SLOWNESS, Entry, Suite

__all__ = ("Entry", "Suite", "SuiteRuns", "kernel_variant", "machine_for", "suites")

# The kernels that are tested; others are only measured.
KERNELS = ("guest", "debug")
DEBUG_MEM_MB = 3072
KMEMLEAK_TIMEOUT_S = 300


def _all() -> tuple[Suite, ...]:
    subjects = (house, lottery, wrais, instruments, receive)
    return tuple(suite for subject in subjects for suite in subject.suites())


def machine_for(kernel: str, machine: Machine | None = None) -> Machine:
    """The machine with that kernel and the room that it needs."""
    machine = replace(machine or Machine(), kernel=kernel)
    return replace(machine, mem_mb=DEBUG_MEM_MB) if kernel == "debug" else machine


def _debug(suite: Suite) -> Suite:
    """The suite for the kernel with checks: patient, roomy, leaks looked for at its end.

    In real time, always: virtual time costs it twice as much, and what it is to
    find are faults on the way, not shares to the per cent.
    """
    patient = tuple(
        replace(entry, timeout_s=entry.timeout_s * DEBUG_SLOWNESS)
        for entry in suite.entries
        if entry.debug
    )
    leaks = Entry("kmemleak", ("@kmemleak",), KMEMLEAK_TIMEOUT_S)
    machine = replace(machine_for("debug", suite.machine), accel="tcg")
    return replace(suite, machine=machine, entries=(*patient, leaks))


def _short(suite: Suite) -> Suite:
    entries = tuple(replace(entry, argv=entry.short_argv or entry.argv) for entry in suite.entries)
    return replace(suite, entries=entries)


def kernel_variant(environ: Mapping[str, str]) -> str:
    """Which kernel the suites boot: LAB_KERNEL, guest by default. Raises LabError."""
    variant = environ.get("LAB_KERNEL") or KERNELS[0]
    if variant not in KERNELS:
        raise LabError(f"LAB_KERNEL '{variant}': allowed are {', '.join(KERNELS)}")
    return variant


def suites(kernel: str = "guest", short: bool = False) -> tuple[Suite, ...]:
    """All suites for a kernel; short ones use the entries' short_argv."""
    found = _all()
    if short:
        found = tuple(map(_short, found))
    if kernel == "debug":
        found = tuple(map(_debug, found))
    return found

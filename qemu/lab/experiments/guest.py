# SPDX-License-Identifier: GPL-2.0
"""Boots on a real guest: one QEMU each, with instructions as its clock."""

from __future__ import annotations

from collections.abc import Collection

from lab import LabError, ext4
from lab.experiments.boots import Boot, Outputs, Runner
from lab.ktap import Status
from lab.machine import Machine
from lab.paths import Paths
from lab.plan import Plan, PlanEntry
from lab.vm import RunResult, run_plan


def machine(boot: Boot) -> Machine:
    """Without a disk unless it is asked for: its completions in host time do not repeat."""
    return Machine(
        kernel=boot.kernel,
        mem_mb=boot.mem_mb,
        accel="icount",
        append=boot.append,
        cpus=boot.cpus,
        root=boot.root,
        seed=boot.seed,
        icount_shift=boot.shift,
        cpu=boot.cpu,
        modules=boot.modules,
        nics=boot.nics,
    )


def plan(boot: Boot) -> Plan:
    """The jobs in order; their output stays in memory until all are done."""
    entries = tuple(PlanEntry(job.name, job.argv, job.timeout_s()) for job in boot.jobs)
    return Plan(entries=entries, defer=True)


CHECK_FAILED = "exit 1"
"""A tool's own check failed: what it measured is there, and judged by the goals."""


def fault(result: RunResult) -> str | None:
    """Why a run is no measurement, or None: every job printed, and nothing complained."""
    for text in (*result.errors, *map(str, result.splats)):
        return text
    for entry in result.entries:
        measured = entry.status is Status.OK or entry.reason == CHECK_FAILED
        if not measured or not entry.output:
            return f"{entry.name}: {entry.status}: {entry.reason or 'no output'}"
    return None


def guest_runner(paths: Paths, label: str, kernels: Collection[str] = ("guest",)) -> Runner:
    """A runner whose logs are kept under $(O)/logs/LABEL, one directory a boot.

    Raises LabError if one of the kernels, or the tools, are not built.
    """
    for kernel in sorted(kernels):
        machine(Boot("", 1, (), (), kernel=kernel)).require(paths)

    def run(boot: Boot) -> Outputs:
        log_dir = paths.logs / label / boot.name
        extra = ext4.extra(boot.disk, log_dir)
        result = run_plan(paths, machine(boot), plan(boot), boot.timeout_s(), log_dir, extra=extra)
        text = fault(result)
        if text:
            raise LabError(f"{boot.name}: {text}; see {result.console}", exit_code=1)
        return {entry.name: entry.output for entry in result.entries}

    return run

# SPDX-License-Identifier: GPL-2.0
"""The boots of a test session."""

from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace

from lab import ext4
from lab.accel import apply
from lab.machine import Machine
from lab.paths import Paths
from lab.progress import Progress
from lab.suites.suite import Suite
from lab.vm import RunResult, run_plan


@dataclass
class SuiteRuns:
    """The boots of a test session: each suite once, when its first result is asked for.

    chosen names the entries of a suite that are to run (none: all), accel is
    what accel.asked_for() says, around wraps a boot, which shows its progress.
    """

    paths: Paths
    accel: str
    chosen: Mapping[str, Collection[str]]
    around: Callable[[], AbstractContextManager[None]] = nullcontext
    results: dict[str, RunResult] = field(default_factory=dict)

    def machine(self, machine: Machine) -> Machine:
        """The machine as it is to be run here."""
        return apply(self.paths, machine, self.accel)

    def of(self, suite: Suite) -> RunResult:
        """The run of a suite."""
        if suite.name not in self.results:
            self.results[suite.name] = self._run(suite)
        return self.results[suite.name]

    def _run(self, suite: Suite) -> RunResult:
        machine = self.machine(suite.machine)
        plan = suite.plan(self.chosen.get(suite.name, ()))
        log_dir = self.paths.logs / machine.kernel / suite.name
        timeout_s = replace(suite, machine=machine).wall_s(plan)
        with self.around():
            progress = Progress(suite.name, len(plan.entries), "entries")
            extra = ext4.extra(suite.disk, log_dir)
            return run_plan(
                self.paths, machine, plan, timeout_s, log_dir, progress=progress, extra=extra
            )

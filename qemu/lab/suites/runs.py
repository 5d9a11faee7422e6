# SPDX-License-Identifier: GPL-2.0
"""The boots of a test session."""

import os
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from threading import Thread
from typing import TextIO

from lab import ext4
from lab.accel import apply
from lab.machine import Machine
from lab.paths import Paths
from lab.progress import Progress
from lab.suites.suite import Suite
from lab.vm import RunResult, run_plan

# A guest in real time bears one neighbour on the host, not many.
LANES = 2


@dataclass
class SuiteRuns:
    """The boots of a test session: each suite once, from when the first is asked for.

    Two guests run at a time, one on a host with one CPU. Suites in real time are taken
    from one end and those in virtual time, which no neighbour disturbs, from the other,
    so that as long as there are both kinds one of each runs.

    chosen names the entries of a suite that are to run (none: all), accel is what
    accel.asked_for() says, stream takes the progress (None: stderr).
    """

    paths: Paths
    accel: str
    suites: Sequence[Suite]
    chosen: Mapping[str, Collection[str]]
    stream: TextIO | None = None
    _results: dict[str, Future[RunResult]] = field(default_factory=dict)

    def machine(self, machine: Machine) -> Machine:
        """The machine as it is to be run here."""
        return apply(self.paths, machine, self.accel)

    def of(self, suite: Suite) -> RunResult:
        """The run of one of the suites. Raises LabError as run_plan() does."""
        if not self._results:
            self._start()
        return self._results[suite.name].result()

    def _start(self) -> None:
        """The threads are daemons: they, and so their guests, end with the program."""
        here = [replace(suite, machine=self.machine(suite.machine)) for suite in self.suites]
        self._results = {suite.name: Future() for suite in here}
        todo = deque(sorted(here, key=lambda suite: not suite.machine.real_time))
        takes = (todo.popleft, todo.pop)
        for take in takes[: min(LANES, os.cpu_count() or 1)]:
            Thread(target=self._lane, args=(take,), daemon=True).start()

    def _lane(self, take: Callable[[], Suite]) -> None:
        """Run suites until none is left; whatever goes wrong is a result as well."""
        while True:
            try:
                suite = take()
            except IndexError:
                return
            result = self._results[suite.name]
            try:
                result.set_result(self._run(suite))
            except Exception as error:
                result.set_exception(error)

    def _run(self, suite: Suite) -> RunResult:
        plan = suite.plan(self.chosen.get(suite.name, ()))
        log_dir = self.paths.logs / suite.machine.kernel / suite.name
        progress = Progress(suite.name, len(plan.entries), "entries", self.stream)
        extra = ext4.extra(suite.disk, log_dir)
        return run_plan(
            self.paths,
            suite.machine,
            plan,
            suite.wall_s(plan),
            log_dir,
            progress=progress,
            extra=extra,
        )

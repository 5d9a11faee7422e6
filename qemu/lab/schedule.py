# SPDX-License-Identifier: GPL-2.0
"""The scheduler: runs boots side by side, each once."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from threading import Lock, Thread

from lab import again
from lab.guest.boot import Boot
from lab.guest.result import BootResult

Chooser = Callable[[Sequence[BootResult]], list[BootResult]]
"""Says which of the results are not to count before a second run."""

Runner = Callable[[Boot], BootResult]
"""Runs a boot. Raises LabError for what is no result of a guest, as something not built."""

# A guest in real time bears one neighbour on the host, not many.
LANES = 2


def lanes_here(boots: Sequence[Boot] = ()) -> int:
    """Guests at a time: one on a host with one CPU, or if guests take all of them."""
    if any(boot.machine.parallel for boot in boots):
        return 1
    return min(LANES, os.cpu_count() or 1)


class OutOfTime(Exception):
    """The time for all results is up."""


class Schedule:
    """Boots that run from when the first result is asked for.

    What runs on the host itself runs first, and alone. Then the first lane takes
    guests in real time, the others guests in virtual time, which no neighbour
    disturbs; a lane whose kind is used up takes the other one. Long ones first.
    The threads are daemons: they, and so their guests, end with the program.

    begin() starts the last lane before that, for as long as the caller has work of
    its own that keeps a CPU busy.

    With once_more, a result that a busy host may have made is held until all boots have had
    their turn. What once_more chooses of these is then run again, alone, one after the other.
    """

    def __init__(
        self,
        boots: Sequence[Boot],
        runner: Runner,
        lanes: int | None = None,
        once_more: Chooser | None = None,
    ) -> None:
        self.boots = tuple(boots)
        self._runner = runner
        self._lanes = lanes or lanes_here(self.boots)
        self._results = {boot.name: Future[BootResult]() for boot in self.boots}
        self._lock = Lock()
        self._stopped = False
        self._once_more = once_more
        self._held: list[BootResult] = []
        self._left = len(self.boots)
        self._waiting_lanes = list(range(self._lanes))
        ordered = sorted(self.boots, key=lambda boot: -boot.length)
        self._host = [boot for boot in self.boots if boot.host]
        guests = [boot for boot in ordered if not boot.host]
        self._real = [boot for boot in guests if boot.machine.real_time]
        self._virtual = [boot for boot in guests if not boot.machine.real_time]

    def begin(self) -> None:
        """Start one lane, of several."""
        if self._lanes > 1 and not self._host:
            self._start_lane(self._waiting_lanes.pop())

    def of(self, name: str) -> BootResult:
        """The result of a boot, waited for. Raises what its runner raised."""
        return self._started()[name].result()

    def finished(self) -> list[BootResult]:
        """What has a result by now, in the order of the boots."""
        done = (future for future in self._results.values() if future.done())
        return [future.result() for future in done if not future.exception()]

    def all(
        self,
        progress: Callable[[int], None] = lambda done: None,
        left_s: Callable[[], float | None] = lambda: None,
    ) -> list[BootResult]:
        """All results, in the order of the boots; the first error is raised at once.

        Raises OutOfTime when no seconds are left for them; None is no limit.
        """
        waiting = set(self._started().values())
        try:
            while waiting:
                done, waiting = wait(waiting, left_s(), return_when=FIRST_COMPLETED)
                if not done:
                    raise OutOfTime
                for future in done:
                    future.result()
                progress(len(self.boots) - len(waiting))
        finally:
            self._stopped = True
        return [self.of(boot.name) for boot in self.boots]

    def _started(self) -> dict[str, Future[BootResult]]:
        with self._lock:
            lanes, self._waiting_lanes = self._waiting_lanes, []
        if lanes:
            Thread(target=self._start, args=(lanes,), daemon=True).start()
        return self._results

    def _start(self, lanes: Sequence[int]) -> None:
        for boot in self._host:
            self._run(boot)
        for number in lanes:
            self._start_lane(number)

    def _start_lane(self, number: int) -> None:
        Thread(target=self._lane, args=(number == 0,), daemon=True).start()

    def _take(self, real: bool) -> Boot | None:
        with self._lock:
            kinds = (self._real, self._virtual) if real else (self._virtual, self._real)
            for kind in kinds:
                if kind and not self._stopped:
                    return kind.pop(0)
        return None

    def _lane(self, real: bool) -> None:
        while boot := self._take(real):
            self._run(boot)

    def _run(self, boot: Boot) -> None:
        """Whatever goes wrong is the result as well."""
        future = self._results[boot.name]
        try:
            result = self._runner(boot)
            if self._once_more and again.forgivable(result):
                with self._lock:
                    self._held.append(result)
            else:
                future.set_result(result)
        except Exception as error:
            future.set_exception(error)
        with self._lock:
            self._left -= 1
            last = not self._left
        if last:
            self._run_again()

    def _run_again(self) -> None:
        """All boots have had their turn: no other one runs now."""
        try:
            wanted = self._once_more(self._held) if self._once_more else []
        except Exception as error:
            for first in self._held:
                self._results[first.boot.name].set_exception(error)
            return
        for first in self._held:
            future = self._results[first.boot.name]
            if first not in wanted or self._stopped:
                future.set_result(first)
                continue
            try:
                future.set_result(again.combined(first, self._runner(again.boot_of(first))))
            except Exception as error:
                future.set_exception(error)

# SPDX-License-Identifier: GPL-2.0
"""Boots: the unit of an experiment's measuring, one deterministic guest each.

A boot is data: a seed, kernel arguments and jobs.  `Runner` turns it into the
jobs' output; the real one starts QEMU, tests use a fake.  Boots share nothing
and their clock is virtual, so that they may run beside each other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from threading import Event, Thread

from lab import LabError
from lab.ext4 import Ext4
from lab.nics import Nic
from lab.progress import Progress


@dataclass(frozen=True)
class Job:
    """One program of a boot.

    `kind` says what is made of its output, `repeat` counts the same job within
    the boot from 1, `guest_s` is about how long it keeps the guest's CPU busy.
    `hogs` are CPU-bound processes beside a program that has none of its own; on
    the host alone.
    """

    kind: str
    name: str
    argv: tuple[str, ...]
    guest_s: float
    repeat: int = 1
    hogs: int = field(default=0, kw_only=True)

    def timeout_s(self) -> int:
        """Guest seconds after which the job is taken for hung."""
        return 30 + round(10 * self.guest_s)


@dataclass(frozen=True)
class Boot:
    """One guest: `seed` seeds QEMU's, and through it the guest's, random numbers.

    `shift` is the length of a guest instruction, 2^shift ns (0..6): 0 where
    code is timed, more where only time is shared out and must be cheap.  `disk`
    is a file system that the guest finds as extents in /lab/disk; a disk in the
    guest's own memory needs `mem_mb` beyond its size.  `cpu` is QEMU's model,
    `kernel` the variant that boots, `root` whether there is the root image, whose
    disk completes in host time; `modules` are those of the kernel's modules that the
    guest finds in /lab/modules, `nics` its network cards.  With `host` there is no
    guest: the jobs run here, one after the other and before any guest.
    """

    name: str
    seed: int
    append: tuple[str, ...]
    jobs: tuple[Job, ...]
    shift: int = 0
    mem_mb: int = 1024
    disk: Ext4 | None = None
    cpu: str = "max"
    kernel: str = "guest"
    modules: tuple[str, ...] = ()
    nics: tuple[Nic, ...] = ()
    cpus: int = 1
    root: bool = False
    host: bool = False

    def timeout_s(self) -> int:
        """Host seconds for the watchdog: a slow host needs about 30 a busy guest second."""
        return 300 + round(60 * sum(job.guest_s for job in self.jobs))


Outputs = Mapping[str, Sequence[str]]
"""Lines on stdout by job name."""

Runner = Callable[[Boot], Outputs]
"""Runs a boot.  Raises LabError (exit code 1) if a job failed or the kernel complained."""

Result = tuple[str, Outputs | Exception]
"""Name of a boot and what came of it."""


@dataclass(frozen=True)
class Finished:
    """A boot and what its jobs printed."""

    boot: Boot
    outputs: Outputs

    def lines(self, job: Job) -> Sequence[str]:
        """Output of a job.  Raises LabError if there is none."""
        try:
            return self.outputs[job.name]
        except KeyError:
            raise LabError(f"{self.boot.name}: no result of {job.name}", exit_code=1) from None


def _work(todo: SimpleQueue[Boot], done: SimpleQueue[Result], runner: Runner, stop: Event) -> None:
    """Run boots until none is left; whatever goes wrong is a result as well."""
    while not stop.is_set():
        try:
            boot = todo.get_nowait()
        except Empty:
            return
        try:
            done.put((boot.name, runner(boot)))
        except Exception as error:
            done.put((boot.name, error))


def run_boots(boots: Sequence[Boot], runner: Runner, workers: int, label: str) -> list[Finished]:
    """Run boots, `workers` at a time, longest first; results come in the given order.

    What runs on the host itself runs first, and alone.
    The first error is raised at once, as Ctrl-C is.  The threads are daemons:
    they, and with them their guests, end with the program.
    """
    todo: SimpleQueue[Boot] = SimpleQueue()
    done: SimpleQueue[Result] = SimpleQueue()
    for boot in sorted(boots, key=Boot.timeout_s, reverse=True):
        if not boot.host:
            todo.put(boot)
    stop = Event()
    progress = Progress(label, len(boots), "boots")
    outputs: dict[str, Outputs] = {}
    try:
        for boot in boots:
            if boot.host:
                outputs[boot.name] = runner(boot)
                progress.update(len(outputs))
        for _ in range(max(1, min(workers, len(boots)))):
            Thread(target=_work, args=(todo, done, runner, stop), daemon=True).start()
        while len(outputs) < len(boots):
            name, result = done.get()
            if isinstance(result, Exception):
                raise result
            outputs[name] = result
            progress.update(len(outputs))
    finally:
        stop.set()
        progress.close()
    return [Finished(boot, outputs[boot.name]) for boot in boots]

# SPDX-License-Identifier: GPL-2.0
"""Boots without a guest: the jobs run on the host itself, natively."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from lab import LabError
from lab.experiments.boots import Boot, Job, Outputs, Runner
from lab.paths import Paths

Peer = Callable[[Job], Sequence[str]]
"""Runs a job of a kind whose program is not ours; returns its lines."""


def run_program(paths: Paths, job: Job) -> list[str]:
    """The lines of one of our programs.  LabError, exit code 1, if it did not measure."""
    argv = [str(paths.bin / job.argv[0]), *job.argv[1:]]
    try:
        done = subprocess.run(
            argv, capture_output=True, text=True, timeout=job.timeout_s(), check=False
        )
    except FileNotFoundError:
        raise LabError(f"{argv[0]} is missing: make userland", exit_code=1) from None
    except subprocess.TimeoutExpired:
        raise LabError(f"{job.name}: no end after {job.timeout_s()} s", exit_code=1) from None
    if done.returncode or not done.stdout:
        why = done.stderr.strip().splitlines()
        text = why[-1] if why else "no output"
        raise LabError(f"{job.name}: exit {done.returncode}: {text}", exit_code=1)
    return done.stdout.splitlines()


# It looks now and then whether we are still there.
HOG = "import os\nwhile os.getppid() == {parent}: sum(range(100000))"


@contextmanager
def company(hogs: int) -> Iterator[None]:
    """So many processes that compute all the time."""
    argv = [sys.executable, "-S", "-c", HOG.format(parent=os.getpid())]
    started: list[subprocess.Popen[bytes]] = []
    try:
        for _ in range(hogs):
            started.append(subprocess.Popen(argv, stdin=subprocess.DEVNULL))
        yield
    finally:
        for process in started:
            process.kill()
        for process in started:
            process.wait()


def host_runner(paths: Paths, peers: Mapping[str, Peer], guest: Runner) -> Runner:
    """A runner that does here what belongs here, and gives everything else to `guest`.

    `peers` run jobs by their kind; the others are programs of ours.
    """

    def run(boot: Boot) -> Outputs:
        if not boot.host:
            return guest(boot)
        outputs: dict[str, Sequence[str]] = {}
        for job in boot.jobs:
            peer = peers.get(job.kind)
            with company(job.hogs):
                outputs[job.name] = peer(job) if peer else run_program(paths, job)
        return outputs

    return run

# SPDX-License-Identifier: GPL-2.0
"""Boots without a guest: the programs run on the host itself, natively."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from lab import LabError
from lab.guest.boot import Boot, Program
from lab.guest.ktap import Status
from lab.guest.protocol import RESULTS_DONE, STATUS_FAILED
from lab.guest.result import BootResult, ProgramResult
from lab.paths import Paths
from lab.report.records import write_text

Peer = Callable[[Program], Sequence[str]]
"""Runs a program that is not ours; returns its lines."""


def run_program(paths: Paths, program: Program) -> list[str]:
    """The lines of one of our programs.  LabError, exit code 1, if it did not measure.

    One whose own check failed has measured: that is judged by the goals.
    """
    argv = [str(paths.bin / program.argv[0]), *program.argv[1:]]
    limit = program.timeout_s or None
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=limit, check=False)
    except FileNotFoundError:
        raise LabError(f"{argv[0]} is missing: make userland", exit_code=1) from None
    except subprocess.TimeoutExpired:
        raise LabError(f"{program.name}: no end after {limit} s", exit_code=1) from None
    if done.returncode not in (0, STATUS_FAILED) or not done.stdout:
        why = done.stderr.strip().splitlines()
        text = why[-1] if why else "no output"
        raise LabError(f"{program.name}: exit {done.returncode}: {text}", exit_code=1)
    return done.stdout.splitlines()


# It looks now and then whether we are still there.
HOG = "import os\nwhile os.getppid() == {parent}: sum(range(100000))"


@contextmanager
def hogs(count: int) -> Iterator[None]:
    """That many processes that compute all the time."""
    argv = [sys.executable, "-S", "-c", HOG.format(parent=os.getpid())]
    started: list[subprocess.Popen[bytes]] = []
    try:
        for _ in range(count):
            started.append(subprocess.Popen(argv, stdin=subprocess.DEVNULL))
        yield
    finally:
        for process in started:
            process.kill()
        for process in started:
            process.wait()


def stream(results: Sequence[ProgramResult]) -> str:
    """What a guest would have said of these good programs."""
    lines = ["KTAP version 1", f"1..{len(results)}"]
    for number, result in enumerate(results, 1):
        lines += [*(f"  {line}" for line in result.output), f"ok {number} {result.name}"]
    return "\n".join([*lines, RESULTS_DONE, ""])


def run_here(paths: Paths, boot: Boot, peers: Mapping[str, Peer], log_dir: Path) -> BootResult:
    """Run the programs of a boot on the host, one after the other.

    What they printed is left in log_dir/result.ktap, as a guest's result stream.
    """
    start = time.monotonic()
    results = []
    for program in boot.programs:
        with hogs(program.hogs):
            if program.peer:
                lines = list(peers[program.peer](program))
            else:
                lines = run_program(paths, program)
        results.append(ProgramResult(program.name, Status.OK, output=lines))
    log = log_dir / "result.ktap"
    write_text(log, stream(results))
    return BootResult(boot, results, log, seconds=time.monotonic() - start)

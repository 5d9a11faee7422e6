# SPDX-License-Identifier: GPL-2.0
"""Boots in processes of their own, apart from tests that change what a process has.

Such a test gives the whole process another PATH, clock or function of a library
for a while. A boot in a thread of that process would have them too.
"""

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import TextIO

from lab import LabError
from lab.guest.boot import Boot
from lab.guest.result import BootResult
from lab.guest.vm import guarded, run_boot
from lab.host.progress import Progress
from lab.paths import Paths

QEMU = Path(__file__).resolve().parents[1]
# As shells say of SIGINT.
INTERRUPTED = 130


class Apart:
    """Runs boots with what this process has when the object is made. Progress goes to stream."""

    def __init__(self, paths: Paths, stream: TextIO) -> None:
        self._paths = paths
        self._stream = stream
        self._argv = guarded([sys.executable, "-m", "tests.apart"])
        self._environ = {**os.environ, "PYTHONPATH": str(QEMU)}

    def __call__(self, boot: Boot) -> BootResult:
        """Run it. Raises what run_boot() raises, LabError if the process ends without a word."""
        child = subprocess.Popen(
            self._argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stream,
            cwd=QEMU,
            env=self._environ,
        )
        answer, _ = child.communicate(pickle.dumps((self._paths, boot)))
        if child.returncode:
            raise LabError(f"{boot.name}: its process ended with {child.returncode}", exit_code=1)
        came = pickle.loads(answer)
        if isinstance(came, BootResult):
            return came
        assert isinstance(came, Exception)
        raise came


def _run(paths: Paths, boot: Boot) -> BootResult | Exception:
    log_dir = paths.logs / boot.machine.kernel / boot.name
    progress = Progress(boot.name, len(boot.programs), "programs", sys.stderr)
    try:
        return run_boot(paths, boot, log_dir, progress=progress)
    except Exception as error:
        return error


def main() -> None:
    """Take a boot from standard input, write what came of it to standard output."""
    paths, boot = pickle.load(sys.stdin.buffer)
    pickle.dump(_run(paths, boot), sys.stdout.buffer)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        # Ctrl-C is for all; the process that waits for us reports it.
        sys.exit(INTERRUPTED)

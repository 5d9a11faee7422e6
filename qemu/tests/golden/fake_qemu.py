# SPDX-License-Identifier: GPL-2.0
"""Stands in for QEMU: replays a golden console and result stream, then ends as told.

Takes QEMU's own arguments. In the kernel command line, fake.replay=NAME is the
golden directory, in which the console or the results of a good run may be missing, and
fake.end=exit|hang|signal|status says how it ends: as after power off, later than any
watchdog here waits, killed, or with exit status 1 and a message.
"""

import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

GOLDEN = Path(__file__).parent
PIECE = 37
# A watchdog that never fires is to fail a test, not to let it hang.
HANG_S = 60


def chardev(argv: Sequence[str], ident: str) -> Path:
    prefix = f"file,id={ident},path="
    found = next(arg for arg in argv if arg.startswith(prefix))
    return Path(found.removeprefix(prefix))


def words(argv: Sequence[str]) -> dict[str, str]:
    line = argv[argv.index("-append") + 1]
    pairs = (word.partition("=") for word in line.split() if word.startswith("fake."))
    return {key: value for key, _, value in pairs}


def replay(name: str, file: str, target: Path) -> None:
    """Append in small pieces, so that lines are read torn."""
    source = GOLDEN / name / file
    data = (source if source.exists() else GOLDEN / "ok" / file).read_bytes()
    with target.open("ab", buffering=0) as stream:
        for start in range(0, len(data), PIECE):
            stream.write(data[start : start + PIECE])


def end(how: str) -> int:
    if how == "hang":
        time.sleep(HANG_S)
    if how == "signal":
        os.kill(os.getpid(), signal.SIGKILL)
    if how == "status":
        print("qemu: could not open disk image", file=sys.stderr)
        return 1
    return 0


def main(argv: Sequence[str]) -> int:
    told = words(argv)
    name = told.get("fake.replay", "ok")
    replay(name, "console.txt", chardev(argv, "console"))
    replay(name, "result.ktap", chardev(argv, "result"))
    return end(told.get("fake.end", "exit"))


if __name__ == "__main__":
    sys.exit(main(sys.argv))

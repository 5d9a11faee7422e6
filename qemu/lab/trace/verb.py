# SPDX-License-Identifier: GPL-2.0
"""The `trace` verb: record a run of an experiment, stock and ours, and draw who waits for whom.

What was recorded stays in $(O)/traces, for trace-cmd, kernelshark and blkparse.  Recording
takes CPU time of the guest's own, so what is drawn is how it goes, not how fast.
"""

import argparse
from collections.abc import Sequence

from lab import LabError
from lab.experiment import require
from lab.paths import Paths
from lab.registry import PICTURES, lookup
from lab.report.page import TRACE
from lab.trace import page as web
from lab.trace.record import record
from lab.trace.timeline import draw, text
from lab.trace.traced import Picture


def picture(name: str) -> Picture:
    """The picture of an experiment.  Raises LabError if either does not exist."""
    if name in PICTURES:
        return PICTURES[name]
    lookup(name)
    raise LabError(f"EXP '{name}': traced are {', '.join(PICTURES)}")


def main(paths: Paths, names: Sequence[str]) -> int:
    """Record and draw each; print how long each task did what."""
    wanted = {name: picture(name) for name in names}
    require(paths, {r.boot.machine.kernel for p in wanted.values() for r in p.recordings})
    for name, one in wanted.items():
        folders = [record(paths, recording) for recording in one.recordings]
        timeline = one.timeline(folders)
        for line in text(timeline):
            print(line)
        for folder in folders:
            print(folder)
        stem = f"{TRACE}-{name}"
        for file in (*draw(timeline, paths.plots, stem), web.write(timeline, paths.plots, stem)):
            print(file)
    return 0


def register(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "record a run, stock and ours, with trace-cmd and blktrace, and draw who waits for whom"
    )
    parser.add_argument(
        "--exp", metavar="NAME", help=f"one of {', '.join(PICTURES)}; default: all of them"
    )


def verb(args: argparse.Namespace) -> int:
    return main(Paths.from_env(), [args.exp] if args.exp else list(PICTURES))

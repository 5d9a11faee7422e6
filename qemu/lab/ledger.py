# SPDX-License-Identifier: GPL-2.0
"""The ledger: what the last runs of the gate found, kept outside the checkout.

A run is a directory COMMIT-TIME with its summary, the logs of its stages, what pytest wrote of
each test, and the consoles of boots that failed or were run again.
"""

import argparse
import json
import os
import shutil
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from lab import LabError
from lab.host import program
from lab.paths import Paths, outside
from lab.tree.kernel import environment

# Of so many runs all is kept, and of so many what was run again.
RUNS = 5
LAST_RUNS = 10
FLAKY = "flaky-*.json"
RED = "red-*.json"
SUMMARY = "ci.txt"
SMALL = (SUMMARY, FLAKY)
LOGS = (*SMALL, RED, "durations-*.json", "junit-*.xml", "ci-*.log")


def directory(environ: Mapping[str, str] | None = None) -> Path:
    env = os.environ if environ is None else environ
    return Path(env.get("LAB_LEDGER") or outside(env) / "ci")


def runs(ledger: Path) -> list[Path]:
    """The runs that are kept, the oldest first."""
    found = (path for path in ledger.glob("*-*/") if path.is_dir())
    return sorted(found, key=lambda path: path.name.rpartition("-")[2])


def known(ledger: Path) -> Counter[str]:
    """How many of the last runs have run each program again, by SUITE-PROGRAM."""
    found: Counter[str] = Counter()
    for run in runs(ledger)[-LAST_RUNS:]:
        found.update({name for file in run.glob(FLAKY) for name in json.loads(file.read_text())})
    return found


def commit(top: Path) -> str:
    """The commit of the checkout, "none" without git."""
    done = program.run("git", "-C", str(top), "rev-parse", "--short=12", "HEAD", env=environment())
    return "none" if done.status else done.said.strip()


def keep(paths: Paths, ledger: Path, now: float, logs: Path, begun: float = 0) -> Path:
    """Copy the findings of a run that has ended, of no time before `begun` [s since 1970].

    Of old runs only what was run again stays.
    """
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(now))
    target = ledger / f"{commit(paths.top)}-{stamp}"
    target.mkdir(parents=True, exist_ok=True)
    for pattern in LOGS:
        for file in (*paths.logs.glob(pattern), *logs.glob(pattern)):
            if file.stat().st_mtime >= begun:
                shutil.copyfile(file, target / file.name)
    for file in target.glob(RED):
        for console in map(Path, json.loads(file.read_text())):
            if console.is_file():
                shutil.copyfile(console, target / f"console-{console.parent.name}.log")
    kept = runs(ledger)
    for run in kept[: -max(RUNS, LAST_RUNS)]:
        shutil.rmtree(run)
    for run in kept[:-RUNS]:
        small = {file for pattern in SMALL for file in run.glob(pattern)}
        for file in {*run.glob("*")} - small:
            file.unlink()
    return target


def shown(ledger: Path) -> str:
    """The report of the last run. Raises LabError if no run is kept."""
    kept = runs(ledger)
    if not kept:
        raise LabError(f"{ledger}: no run of .ci/run is kept there", exit_code=1)
    last = kept[-1]
    names = [file.name for file in sorted(last.glob("*")) if file.name != SUMMARY]
    said = [f"{last}:", *(last / SUMMARY).read_text().splitlines()]
    for file in sorted(last.glob("ci-*.log")):
        lines = file.read_text(errors="replace").splitlines()
        marks = ("FAILED ", "ERROR ", "AGAIN ", "HANG ", "NOTED ", "SKIP NOT ALLOWED")
        said += [line for line in lines if line.startswith(marks)]
    return "\n".join([*said, "files: " + " ".join(names)]) + "\n"


def register(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=("keep", "show"))
    parser.add_argument("logs", nargs="?", type=Path, help="keep: what the stages said")
    parser.add_argument("begun", nargs="?", type=int, default=0, help="keep: nothing older")


def verb(args: argparse.Namespace) -> None:
    if args.what == "keep":
        paths = Paths.from_env()
        logs = args.logs or paths.logs
        print(f"lab: kept in {keep(paths, directory(), time.time(), logs, args.begun)}")
    else:
        print(shown(directory()), end="")

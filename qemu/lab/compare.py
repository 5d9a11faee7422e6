# SPDX-License-Identifier: GPL-2.0
"""The `compare` verb: two result directories through benchstat, or two runs of an instrument.

Besides its records each experiment leaves its samples in the Go benchmark format; the
files of the same name are compared.
"""

import argparse
import os
import re
import shutil
import subprocess
from pathlib import Path

from lab import LabError
from lab.report.document import compared, read_document

TOOL = "benchstat"
MODULE = "golang.org/x/perf/cmd/benchstat@latest"
SUFFIX = ".bench"
EXPECTED = "must be two directories of results, or two files of ipclat or udprate --json"
_LINE = re.compile(r"Unit \S+ \S+=\S+|Benchmark\S+ \d+( \S+ \S+)+")


def tool() -> str:
    """benchstat, from the PATH or from where Go puts it.  Raises LabError with how to get it."""
    path = os.pathsep.join((os.environ.get("PATH", os.defpath), str(Path.home() / "go/bin")))
    found = shutil.which(TOOL, path=path)
    if not found:
        raise LabError(f"{TOOL} is missing: install it with: go install {MODULE}")
    return found


def _files(name: str, directory: Path) -> dict[str, Path]:
    """Samples by file name.  Raises LabError that names the directory, or file and line."""
    if not directory.is_dir():
        raise LabError(f"{name}={directory}: must be a directory of results")
    found = {path.name: path for path in sorted(directory.glob(f"*{SUFFIX}"))}
    if not found:
        raise LabError(f"{name}={directory}: holds no *{SUFFIX}: must be a directory of results")
    for path in found.values():
        for at, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if line and not _LINE.fullmatch(line):
                raise LabError(f"{path}:{at}: {line!r}: must be a line of Go's benchmark format")
    return found


def pairs(one: Path, other: Path) -> list[tuple[Path, Path]]:
    """Files that both have.  Raises LabError if they have none in common."""
    left, right = _files("A", one), _files("B", other)
    both = [(left[name], right[name]) for name in left if name in right]
    if not both:
        raise LabError(
            f"A={one} has {', '.join(left)}, B={other} has {', '.join(right)}: "
            "must have an experiment in common"
        )
    return both


def directories(one: Path, other: Path) -> int:
    """Print a comparison of each experiment that both directories have; benchstat's status."""
    both = pairs(one, other)
    program = tool()
    status = 0
    for left, right in both:
        print(f"{left.stem}:", flush=True)
        done = subprocess.run([program, f"A={left}", f"B={right}"], check=False)
        status = status or done.returncode
    return min(status, 1)


def main(one: Path, other: Path) -> int:
    """Compare two runs if both are files, else two directories."""
    if one.is_dir() and other.is_dir():
        return directories(one, other)
    print(compared(read_document(one), read_document(other)), end="")
    return 0


def _given(name: str, text: str) -> Path:
    """Raises LabError for what is missing, or neither a file nor a directory."""
    if not text:
        raise LabError(f"{name} is missing: {EXPECTED}, as in A=before B=after")
    path = Path(text)
    if not path.exists():
        raise LabError(f"{name}={path}: there is no such file or directory")
    return path


def register(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "compare two directories of results through benchstat, or two runs of ipclat or of "
        "udprate: what they printed with --json"
    )
    parser.add_argument("a", metavar="A", nargs="?", default="", help="what to compare with")
    parser.add_argument("b", metavar="B", nargs="?", default="", help="what is compared")


def verb(args: argparse.Namespace) -> int:
    one, other = _given("A", args.a), _given("B", args.b)
    if one.is_dir() != other.is_dir():
        file = one if other.is_dir() else other
        raise LabError(f"{file} is a file, and the other is a directory: {EXPECTED}")
    return main(one, other)

# SPDX-License-Identifier: GPL-2.0
"""The matrix: the kernel in other configurations, and the short tests of the class in each.

Kernels are built one after the other, and stay: the next run builds what has changed.
"""

import argparse
import json
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from lab import LabError, one_of
from lab.mutants import test_command, test_environment
from lab.paths import MATRIX, Paths
from lab.tree import kconfig, kernel

# What the issue of the matrix asks for and the normal kernel has: make test covers it.
COVERED = ("SCHED_CORE", "NO_HZ_FULL", "PREEMPT", "SMP", "HZ_1000")
SELECTION = "test_guest and (test_program or test_console)"
BLOCK = 512
RESULTS = Path("results/matrix.json")
"""Below $(O)."""


@dataclass(frozen=True)
class Result:
    """What came of a configuration; why is empty if it passed. skipped: "test: reason"."""

    name: str
    why: str = ""
    tests: int = 0
    skipped: tuple[str, ...] = ()
    build_s: float = 0
    test_s: float = 0
    size_mb: int = 0

    @property
    def passed(self) -> bool:
        """It was built as asked, and all of its tests passed."""
        return not self.why

    def __str__(self) -> str:
        verdict = "passed" if self.passed else "failed"
        took = f"built in {self.build_s:.0f} s ({self.size_mb} MB), tested in {self.test_s:.0f} s"
        did = f"{self.tests} tests, {len(self.skipped)} left out"
        line = f"{self.name:{WIDTH}}  {verdict}  {did}; {took}"
        return line if self.passed else f"{line}: {self.why}"


WIDTH = max(map(len, MATRIX))


def choose(names: Iterable[str]) -> tuple[str, ...]:
    """Those named, each once, in the order of the matrix; all if none is. Raises LabError."""
    wanted = set(names)
    for name in sorted(wanted):
        one_of("MATRIX", name, MATRIX)
    return tuple(name for name in MATRIX if not wanted or name in wanted)


def build(paths: Paths, name: str, llvm: bool, verbose: bool) -> None:
    """Configure it, with the proof that its fragment holds, and build it. Raises LabError."""
    kconfig.write(paths, name, llvm)
    kconfig.unchanged(paths, name)
    kernel.build(paths, name, kernel.targets(name), llvm, verbose)


def judge(name: str, status: int, report: str) -> Result:
    """A result without times, from what pytest said."""
    if not report:
        return Result(name, f"pytest: exit {status}, no report")
    cases = list(ElementTree.fromstring(report).iter("testcase"))
    skips = [(case.get("name", ""), case.find("skipped")) for case in cases]
    skipped = tuple(f"{test}: {s.get('message', '')}" for test, s in skips if s is not None)
    bad = [
        case.get("name", "")
        for case in cases
        if case.find("failure") is not None or case.find("error") is not None
    ]
    why = ", ".join(bad)
    if not why and status:
        why = f"pytest: exit {status}"
    if not why and len(skipped) == len(cases):
        why = "nothing was tested"
    return Result(name, why, len(cases) - len(skipped), skipped)


def test(paths: Paths, name: str, words: str) -> Result:
    """Boot the short tests with it; their output is shown."""
    report = paths.logs / f"matrix-{name}.xml"
    paths.logs.mkdir(parents=True, exist_ok=True)
    report.unlink(missing_ok=True)
    selection = f"{SELECTION} and ({words})" if words else SELECTION
    argv = test_command(paths, selection, report, "-v", "-rs")
    env = {**test_environment(paths, short=True), "LAB_KERNEL": name}
    status = subprocess.run(argv, cwd=paths.top, env=env, check=False).returncode
    return judge(name, status, report.read_text() if report.exists() else "")


def size_mb(directory: Path) -> int:
    """What is allocated on the disk for a build directory."""
    files = (path.lstat() for path in directory.glob("**/*"))
    return sum(stat.st_blocks for stat in files) * BLOCK // 2**20


def run(
    paths: Paths,
    names: Sequence[str],
    build_one: Callable[[str], None],
    test_one: Callable[[str], Result],
) -> list[Result]:
    """All of them, whatever comes of the others."""
    results: list[Result] = []
    for number, name in enumerate(names, 1):
        start = time.monotonic()
        try:
            build_one(name)
            built = time.monotonic()
            result = test_one(name)
        except LabError as error:
            built = time.monotonic()
            result = Result(name, str(error))
        times = {"build_s": built - start, "test_s": time.monotonic() - built}
        found = {**asdict(result), **times, "size_mb": size_mb(paths.kernel(name))}
        results.append(Result(**found))
        print(f"[{number}/{len(names)}] {results[-1]}", flush=True)
    return results


def report(results: Sequence[Result]) -> int:
    """What was left out, a line for each configuration, and one that counts. 0 if all passed."""
    print()
    for result in results:
        for skip in result.skipped:
            print(f"left out: {result.name}: {skip}")
    for result in results:
        print(result)
    passed = sum(result.passed for result in results)
    megabytes = sum(result.size_mb for result in results)
    print(f"{passed} of {len(results)} configurations passed; their objects take {megabytes} MB")
    return 0 if passed == len(results) else 1


def keep(paths: Paths, results: Sequence[Result]) -> int:
    """Write them down and tell them. 0 if all passed."""
    paths.results.mkdir(parents=True, exist_ok=True)
    text = json.dumps([asdict(result) for result in results], indent=1)
    (paths.out / RESULTS).write_text(text + "\n")
    return report(results)


def merge(directories: Sequence[Path]) -> list[Result]:
    """What runs elsewhere made of single configurations, each below a directory of its own.

    Raises LabError for a directory without results, a configuration that is there twice, and
    one that is nowhere: what did not run has not passed.
    """
    found: dict[str, Result] = {}
    for directory in directories:
        file = directory / RESULTS
        try:
            read = json.loads(file.read_text())
            results = [Result(**{**one, "skipped": tuple(one["skipped"])}) for one in read]
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise LabError(f"{file}: no results of the matrix: {error}", exit_code=1) from None
        for result in results:
            if result.name in found:
                raise LabError(f"{file}: {result.name} is there twice", exit_code=1)
            found[result.name] = result
    missing = [name for name in MATRIX if name not in found]
    if missing:
        raise LabError(f"no results of {', '.join(missing)}", exit_code=1)
    return [found[name] for name in MATRIX]


def covered(configs: Path) -> list[str]:
    """The options of the normal kernel that need no place in the matrix, as it has them."""
    merged = kconfig.merge(configs, kconfig.GUEST)
    return [str(merged[name]) for name in COVERED]


def register(parser: argparse.ArgumentParser) -> None:
    which = f"of {', '.join(MATRIX)}; default: all"
    parser.add_argument("name", nargs="*", metavar="NAME", help=which)
    parser.add_argument("--list", action="store_true", help="only say which there are")
    parser.add_argument(
        "--merge", nargs="+", type=Path, metavar="DIR", help="of runs of single ones, each its $(O)"
    )
    parser.add_argument("-k", dest="tests", default="", help="as of pytest: only those tests")
    parser.add_argument("--llvm", action="store_true", help="clang and lld instead of gcc and ld")
    parser.add_argument("--verbose", action="store_true", help="show the commands")


def verb(args: argparse.Namespace) -> int:
    paths = Paths.from_env()
    names = choose(args.name)
    if args.list:
        print("\n".join(names))
        return 0
    if args.merge:
        return keep(paths, merge(args.merge))
    print(f"lab: with {', '.join(covered(paths.configs))}: make test", file=sys.stderr, flush=True)
    results = run(
        paths,
        names,
        lambda name: build(paths, name, args.llvm, args.verbose),
        lambda name: test(paths, name, args.tests),
    )
    return keep(paths, results)

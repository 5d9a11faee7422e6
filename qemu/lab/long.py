# SPDX-License-Identifier: GPL-2.0
"""The `long` verb, make test-long: what the gate leaves out, with bounds in real time.

All tests of both tiers on the normal kernel; each timed program and each timed test of the host
five times, judged by how many of them pass; each suite in virtual time with five seeds; all
suites on the kernel with checks; states after a crash; commands of the documents.
$(O)/logs/long.json has a row for each with n, how many passed, and n and spread of its seconds and
of each figure that it printed.
"""

import argparse
import json
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from statistics import median

from lab import one_of
from lab.guest.boot import Boot, Judged
from lab.guest.ktap import Case, Status
from lab.guest.result import BootResult, ProgramResult
from lab.guest.vm import run_boot
from lab.paths import Paths
from lab.registry import suites
from lab.schedule import Schedule
from lab.tree.kernel import environment

TIMES = 5
SEEDS = range(1, TIMES + 1)
# Of a timed program's runs, so many have to pass.
MOST_PASS = 3
CRASH_STATES = 600
# A number of a line that is a value: no part of a name, of a ratio as 3:1, or of a date.
_NUMBER = re.compile(r"(?<![\w:.-])-?\d+(?:\.\d+)?(?![\w:]|\.\d)")
# The number's place in what a line says.
PLACE = "#"


@dataclass(frozen=True)
class Spread:
    """The least, the middle and the largest of n values."""

    n: int
    least: float
    median: float
    most: float


def spread(values: Iterable[float]) -> Spread:
    """Of one value at least."""
    found = sorted(round(value, 3) for value in values)
    return Spread(len(found), found[0], median(found), found[-1])


@dataclass(frozen=True)
class Row:
    """What came of n runs of one thing: how many passed, of how many that have to; host seconds.

    figures has what its programs printed: by the text, with PLACE for each number, the spread
    of each number over the runs.
    """

    name: str
    n: int
    passed: int
    needed: int
    seconds: Spread
    said: tuple[str, ...] = ()
    figures: Mapping[str, list[Spread]] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """As many passed as have to."""
        return self.passed >= self.needed


def row(name: str, runs: Iterable[tuple[bool, float, str]], needed: int) -> Row:
    """Of runs, each whether it passed, its host seconds, and what it said if it did not."""
    all_runs = [*runs]
    return Row(
        name,
        len(all_runs),
        sum(ok for ok, _, _ in all_runs),
        needed,
        spread(taken for _, taken, _ in all_runs),
        tuple(said for ok, _, said in all_runs if not ok),
    )


def _members(line: str) -> Iterator[str]:
    """The numbers of a line of JSON as "NAME: NUMBER", behind the rate that was offered."""
    with suppress(ValueError):
        found = json.loads(line)
        rate = f"{found['offered_pps']}: " if "offered_pps" in found else ""
        for name, value in found.items():
            if type(value) in (int, float):
                yield f"{rate}{name}: {value:f}"


def _lines(name: str, output: Iterable[str], cases: Iterable[Case]) -> Iterator[str]:
    """What a program noted, below the names of its tests, and what it gave as JSON."""
    for line in output:
        if line.startswith("# "):
            yield name + line.removeprefix("# ")
        elif line.startswith("{"):
            yield from (name + text for text in _members(line))
    for case in cases:
        yield from _lines(f"{name}{case.name}: ", case.output, case.subtests)


def figures(program: ProgramResult) -> dict[str, list[float]]:
    """The numbers of each line with a number; lines that are alike otherwise are counted."""
    found: dict[str, list[float]] = {}
    seen: Counter[str] = Counter()
    for line in _lines("", program.output, program.subtests):
        numbers = [float(number) for number in _NUMBER.findall(line)]
        text = _NUMBER.sub(PLACE, line)
        seen[text] += 1
        if numbers:
            found[text if seen[text] == 1 else f"{text} ({seen[text]})"] = numbers
    return found


def spreads(runs: Iterable[Mapping[str, list[float]]]) -> dict[str, list[Spread]]:
    """Of each figure, over the runs that have it."""
    values: dict[str, list[list[float]]] = {}
    for run in runs:
        for text, numbers in run.items():
            values.setdefault(text, []).append(numbers)
    return {
        text: [spread(column) for column in zip(*rows, strict=True)]
        for text, rows in values.items()
    }


def timed_boots(boots: Iterable[Boot]) -> list[Boot]:
    """Each boot with the programs of it that are timed, so many times."""
    found: list[Boot] = []
    for boot in boots:
        programs = tuple(p for p in boot.programs if boot.judged(p) is Judged.TIMED)
        if programs:
            found += [
                replace(boot, name=f"{boot.name}.{n}", programs=programs, budget_s=None)
                for n in range(1, TIMES + 1)
            ]
    return found


def seeded_boots(boots: Iterable[Boot]) -> list[Boot]:
    """Each boot in virtual time, with each of the seeds."""
    virtual = [boot for boot in boots if not boot.machine.real_time]
    return [
        replace(boot, name=f"{boot.name}.{seed}", machine=replace(boot.machine, seed=seed))
        for boot in virtual
        for seed in SEEDS
    ]


def rows_of(results: Iterable[BootResult], needed: int) -> list[Row]:
    """A row for each program, of the runs of its boot; NAME.n are runs of NAME.

    One that came to no end has the seconds of its boot.
    """
    runs: dict[str, list[tuple[bool, float, str]]] = {}
    printed: dict[str, list[Mapping[str, list[float]]]] = {}
    for result in results:
        whole = "; ".join(result.whole())
        for program in result.programs:
            bad = program.code != 0 or any(s.entry == program.name for s in result.splats)
            name = f"{result.boot.name.rpartition('.')[0]}-{program.name}"
            said = "; ".join(filter(None, (program.reason, whole)))
            lost = program.status in (Status.CRASH, Status.TIMEOUT)
            seconds = program.seconds or (result.seconds if lost else 0.0)
            runs.setdefault(name, []).append((not bad and not whole, seconds, said))
            printed.setdefault(name, []).append(figures(program))
    return [
        replace(row(name, each, needed), figures=spreads(printed[name]))
        for name, each in runs.items()
    ]


def booted(paths: Paths, boots: list[Boot], lanes: int | None = None) -> list[BootResult]:
    """Run them. What is timed is alone on the host: one lane."""

    def run(boot: Boot) -> BootResult:
        return run_boot(paths, boot, paths.logs / "long" / boot.name)

    def told(done: int) -> None:
        print(f"lab: long: {done} of {len(boots)} boots", file=sys.stderr, flush=True)

    return Schedule(boots, run, lanes).all(told)


def tested(paths: Paths, name: str, env: Mapping[str, str], *words: str) -> Row:
    """A run of pytest as one row: what failed is what it said."""
    report = _report(paths, name)
    config = ["-c", str(paths.qemu / "pyproject.toml"), f"--rootdir={paths.qemu}"]
    argv = [sys.executable, "-m", "pytest", *config, "-p", "no:cacheprovider", "-q"]
    argv += [f"--junitxml={report}", *words]
    own = {"LAB_OUT": str(paths.out), "PYTHONPATH": str(paths.qemu), "LAB_TIER": "long"}
    start = time.monotonic()
    status = subprocess.run(argv, env={**environment(), **own, **env}, check=False).returncode
    return row(name, [(not status, time.monotonic() - start, _failed(report))], 1)


def _report(paths: Paths, name: str) -> Path:
    return paths.logs / f"junit-long-{name}.xml"


def _cases(report: Path) -> Iterable[ElementTree.Element]:
    return ElementTree.parse(report).iter("testcase") if report.is_file() else ()


def _failed(report: Path) -> str:
    """Names of the tests that failed."""
    bad = (c.get("name", "") for c in _cases(report) if c.find("failure") is not None)
    return " ".join(bad)


def each(paths: Paths, name: str) -> Iterator[Row]:
    """A row for each test of that run of pytest; a failure says its first line."""
    for case in _cases(_report(paths, name)):
        bad = case.find("failure")
        said = "" if bad is None else bad.get("message", "").partition("\n")[0]
        yield row(case.get("name", ""), [(bad is None, float(case.get("time", 0)), said)], 1)


def documents(paths: Paths) -> list[Row]:
    """What the documents' commands do on this machine, and one row for all of them."""
    name = "documents"
    return [tested(paths, name, {}, f"{paths.qemu}/tests/commands.py"), *each(paths, name)]


def parts(paths: Paths) -> list[tuple[str, Callable[[], list[Row]]]]:
    """What there is to do, by name."""
    tests, subjects = str(paths.qemu / "tests"), str(paths.qemu / "subjects")
    mutants = f"{tests}/test_mutants.py"
    guest = {"LAB_KERNEL": "guest", "LAB_AGAIN": "never"}
    debug = {**guest, "LAB_KERNEL": "debug", "LAB_SHORT": "1"}
    timed = ("-m", "timed", f"{tests}/host", subjects)
    crash = {**guest, "LAB_CRASH_STATES": str(CRASH_STATES)}
    return [
        ("guest", lambda: [tested(paths, "guest", guest, f"{tests}/guest", mutants)]),
        ("timed", lambda: rows_of(booted(paths, timed_boots(suites()), 1), MOST_PASS)),
        ("seeds", lambda: rows_of(booted(paths, seeded_boots(suites())), TIMES)),
        ("debug", lambda: [tested(paths, "debug", debug, f"{tests}/guest")]),
        ("crash", lambda: [tested(paths, "crash", crash, "-k", "crash", f"{tests}/guest")]),
        (
            "host",
            lambda: [
                replace(tested(paths, f"host-{n}", guest, *timed), needed=0)
                for n in range(1, TIMES + 1)
            ],
        ),
        ("documents", lambda: documents(paths)),
    ]


def judge(rows: Iterable[Row]) -> list[Row]:
    """Those that failed. Of the timed tests of the host, most runs have to pass."""
    all_rows = [*rows]
    bad = [one for one in all_rows if not one.ok]
    host = [one for one in all_rows if one.name.startswith("host-")]
    return [*bad, *(host if host and sum(one.passed for one in host) < MOST_PASS else [])]


def write(path: Path, rows: Iterable[Row]) -> None:
    """The rows as JSON; rows that are there stay if they are not made anew."""
    known = {one["name"]: one for one in json.loads(path.read_text())} if path.is_file() else {}
    known.update({one.name: asdict(one) for one in rows})
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([*known.values()], indent=1) + "\n")


def register(parser: argparse.ArgumentParser) -> None:
    names = [name for name, _ in parts(Paths.from_env())]
    parser.add_argument("part", nargs="*", help=f"of {', '.join(names)}; default: all")


def verb(args: argparse.Namespace) -> int:
    paths = Paths.from_env()
    known = dict(parts(paths))
    for name in args.part:
        one_of("part", name, known)
    path = paths.logs / "long.json"
    failed: list[Row] = []
    for name in args.part or known:
        start = time.monotonic()
        rows = known[name]()
        write(path, rows)
        failed += judge(rows)
        print(f"lab: long: {name}: {len(rows)} rows, {(time.monotonic() - start) / 60:.0f} min")
    for one in failed:
        print(f"FAILED {one.name}: {one.passed} of {one.n}: {' | '.join(one.said)}")
    print(f"lab: {path}")
    return 1 if failed else 0

# SPDX-License-Identifier: GPL-2.0
"""Mutants: faults planted on purpose, each of which the tests must notice.

A mutant is a table of qemu/subjects/SUBJECT/mutants.toml, or of qemu/tests/mutants/NAME.toml if
it is one of the lab: what it does, caught_by, an expression for pytest -k that names the tests
that must notice, the file, of the checkout or of the kernel tree (linux/...), and what stands
there once before and after; also has more of these. kind says what is built again, where the
file does not; short = true that the shortened tests suffice, often = true that make test tries it,
checked = true that the kernel with checks has to be the one that it is planted in.

It is planted in a private copy of the checkout and of $(O), what it touches is built there, and
the tests that it names are run. They have to fail, and they must be known to pass without it:
that is tried first, for all of them at once, unless --trust says that it has just been seen.
"""

import argparse
import json
import subprocess
import sys
import time
import tomllib
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from lab import LabError, one_of
from lab.host.overlay import Overlay, overlay, refusal
from lab.paths import Paths
from lab.suite import TIERS
from lab.tree.kernel import environment

BUILD_S = 1800
TEST_S = 1200
# A run without any mutant has all their tests in it.
VERIFY_S = 7200
# Of pytest: tests failed; there was no test.
FAILED, NO_TESTS = 1, 5
# In the prepared kernel tree, not in the checkout.
KERNEL_TREE = "linux/"


class Kind(StrEnum):
    """What has to be built again."""

    KERNEL = "kernel"
    MODULE = "module"
    PROGRAM = "program"
    LAB = "lab"


class Verdict(StrEnum):
    """What the tests made of a mutant. error: it could not be tried."""

    CAUGHT = "caught"
    MISSED = "missed"
    ERROR = "error"


MODULE = "modules/napi_livelock/"
LINKED_IN = f"{MODULE}governor/"
# What of the checkout is built again for a change below it: the longest name that fits.
KINDS = {
    KERNEL_TREE: Kind.KERNEL,
    "modules/": Kind.KERNEL,
    MODULE: Kind.MODULE,
    LINKED_IN: Kind.KERNEL,
    "userland/": Kind.PROGRAM,
    "": Kind.LAB,
}
TEXTS = ("what", "caught_by", "file", "before", "after")
FLAGS = ("short", "often", "checked")

# Run where the mutant is: the file, and then what stands there once before and after.
PLANT = """
import sys
from pathlib import Path
file, *texts = sys.argv[1:]
text = Path(file).read_text()
for before, after in zip(texts[::2], texts[1::2]):
    assert text.count(before) == 1, f"{file}: {text.count(before)} times there: {before}"
    text = text.replace(before, after)
Path(file).write_text(text)
"""


@dataclass(frozen=True)
class Mutant:
    """A fault of `file`: each of `changes` is what stands there, once, and what in its place."""

    name: str
    what: str
    kind: Kind
    caught_by: str
    file: str
    changes: tuple[tuple[str, str], ...]
    short: bool = False
    often: bool = False
    checked: bool = False

    @classmethod
    def parse(cls, name: str, table: Mapping[str, Any]) -> "Mutant":
        """Read a table. LabError names what is wrong with it."""
        for key, value in table.items():
            if key not in (*TEXTS, *FLAGS, "kind", "also"):
                raise LabError(f"{name}: '{key}': allowed are {', '.join((*TEXTS, *FLAGS))}")
            if key in FLAGS and value is not True:
                raise LabError(f"{name}: '{key}' is true or not there")
        for key in TEXTS:
            if not isinstance(table.get(key), str) or not (table[key] or key == "after"):
                raise LabError(f"{name}: no '{key}'")
        file = table["file"]
        kind = table.get("kind") or KINDS[max((k for k in KINDS if file.startswith(k)), key=len)]
        one_of(f"{name}: kind", kind, Kind)
        changes = tuple((one["before"], one["after"]) for one in (table, *table.get("also", ())))
        flags = (key in table for key in FLAGS)
        return cls(name, table["what"], Kind(kind), table["caught_by"], file, changes, *flags)

    def path(self, paths: Paths) -> Path:
        """The file, in the checkout or in the kernel tree."""
        below = self.file.removeprefix(KERNEL_TREE)
        return (paths.top if below == self.file else paths.linux) / below


@dataclass(frozen=True)
class Result:
    """The result of a mutant: the test that caught it, with which words, and in what time."""

    name: str
    kind: Kind
    verdict: Verdict
    by: tuple[str, ...] = ()
    reason: str = ""
    build_s: float = 0
    test_s: float = 0

    @property
    def said(self) -> str:
        """The tests that caught it, or why none did."""
        return ", ".join(self.by) if self.verdict is Verdict.CAUGHT else self.reason

    def __str__(self) -> str:
        took = f"built in {self.build_s:.0f} s, tested in {self.test_s:.0f} s"
        return f"{self.verdict:6}  {self.name}  ({self.kind}; {took})  {self.said}"


def load(paths: Paths) -> list[Mutant]:
    """All mutants, by name: SUBJECT/NAME."""
    found: list[Mutant] = []
    files = {file.parent.name: file for file in paths.qemu.glob("subjects/*/mutants.toml")}
    files |= {file.stem: file for file in paths.qemu.glob("tests/mutants/*.toml")}
    for name, file in sorted(files.items()):
        try:
            tables = tomllib.loads(file.read_text())
        except tomllib.TOMLDecodeError as error:
            raise LabError(f"{file}: {error}") from None
        found += [Mutant.parse(f"{name}/{fault}", table) for fault, table in tables.items()]
    return found


def choose(known: Iterable[Mutant], names: Sequence[str]) -> list[Mutant]:
    """Those with these names: of a mutant, of a folder, or with * in it."""
    chosen: dict[str, Mutant] = {}
    for name in names or ["*"]:
        fits = [m for m in known if fnmatch(m.name, name) or fnmatch(m.name, f"{name}/*")]
        if not fits:
            raise LabError(f"mutant '{name}': no mutant has this name")
        chosen.update((mutant.name, mutant) for mutant in fits)
    return list(chosen.values())


def build_commands(paths: Paths, kind: Kind, kernel: str = "guest") -> list[list[str]]:
    """What makes the change of such a mutant effective."""
    variant = [] if kernel == "guest" else [f"--kernel={kernel}"]
    lab = [sys.executable, "-m", "lab", "kernel", *variant]
    userland = ["make", "--no-print-directory", "-C", str(paths.top / "userland")]
    return {
        Kind.KERNEL: [lab],
        Kind.MODULE: [[*lab, "modules"]],
        Kind.PROGRAM: [[*userland, f"O={paths.out}"]],
        Kind.LAB: [],
    }[kind]


def plant_command(paths: Paths, mutant: Mutant) -> list[str]:
    """What makes its changes, if each fits once."""
    texts = [text for change in mutant.changes for text in change]
    return [sys.executable, "-c", PLANT, str(mutant.path(paths)), *texts]


def test_command(paths: Paths, words: str, report: Path, *options: str) -> list[str]:
    """The tests that the words select; never those that try mutants themselves."""
    config = ["-c", str(paths.qemu / "pyproject.toml"), f"--rootdir={paths.qemu}"]
    quiet = ["-q", "-p", "no:cacheprovider", f"--junitxml={report}", *options]
    ignored = f"--ignore={paths.qemu / 'tests/test_mutants.py'}"
    pytest = [sys.executable, "-m", "pytest", *config, *quiet, ignored]
    return [*pytest, "-k", words, str(paths.qemu)]


def test_environment(paths: Paths, short: bool) -> dict[str, str]:
    """That of make test."""
    env = environment()
    env.pop("LAB_SHORT", None)
    env.update(LAB_OUT=str(paths.out), PYTHONPATH=str(paths.qemu), LAB_KERNEL="guest")
    # What failed of a planted fault is not forgiven.
    env.update(LAB_AGAIN="never", LAB_TIER="long")
    return {**env, "LAB_SHORT": "1"} if short else env


def judge(status: int | None, report: str) -> tuple[Verdict, tuple[str, ...], str]:
    """Verdict, tests and words of a run of pytest. status None: it had to be ended."""
    if status is None:
        return Verdict.ERROR, (), f"no end within {TEST_S} s"
    if status == NO_TESTS:
        return Verdict.ERROR, (), "selects no test"
    if status not in (0, FAILED):
        return Verdict.ERROR, (), f"pytest: exit {status}"
    cases = list(ElementTree.fromstring(report).iter("testcase"))
    for tag, verdict in (("failure", Verdict.CAUGHT), ("error", Verdict.ERROR)):
        bad = [(case.get("name", ""), what) for case in cases for what in case.findall(tag)]
        if bad:
            words = (bad[0][1].get("message") or "").split("\n")[0]
            # A lab that says that it cannot work has not tested anything.
            if words.startswith("lab.LabError"):
                verdict = Verdict.ERROR
            return verdict, tuple(name for name, _ in bad), words
    if all(case.find("skipped") is not None for case in cases):
        return Verdict.ERROR, (), "its tests were all skipped"
    return Verdict.MISSED, (), "its tests passed"


def _log(paths: Paths, name: str) -> Path:
    """$(O)/logs/mutants/NAME.log, removed. Raises LabError if no mutant can be planted here."""
    why = refusal()
    if why:
        raise LabError(f"mutants need private mounts: {why}", exit_code=1)
    for path in (paths.linux, paths.kernel(), paths.userland):
        if path.exists() and not path.resolve().is_relative_to(paths.out.resolve()):
            raise LabError(f"{path} is a link out of $(O): a mutant would be written there")
    log = paths.logs / "mutants" / f"{name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.unlink(missing_ok=True)
    return log


def _test(
    view: Overlay, paths: Paths, log: Path, words: str, env: Mapping[str, str], *options: str
) -> Result:
    """Run tests; a result without name and kind."""
    report = view.scratch / "junit.xml"
    start = time.monotonic()
    argv = test_command(paths, words, report, *options)
    limit_s = TEST_S if options else VERIFY_S
    status = view.run(argv, paths.top, log, env, limit_s)
    took = time.monotonic() - start
    verdict, by, reason = judge(status, report.read_text() if report.exists() else "")
    return Result("", Kind.LAB, verdict, by, reason, test_s=took)


def try_mutant(paths: Paths, mutant: Mutant, tier: str = TIERS[-1]) -> Result:
    """Plant it, build, run its tests of that tier."""
    log = _log(paths, mutant.name.replace("/", "-"))
    start = time.monotonic()
    with overlay([paths.top, paths.out]) as view:
        kernel = "debug" if mutant.checked else "guest"
        env = {**test_environment(paths, mutant.short), "LAB_TIER": tier, "LAB_KERNEL": kernel}
        steps = [("fit", plant_command(paths, mutant))]
        steps += [("build", argv) for argv in build_commands(paths, mutant.kind, kernel)]
        for step, argv in steps:
            if view.run(argv, paths.top, log, env, BUILD_S):
                reason = f"it does not {step}: see {log}"
                return Result(mutant.name, mutant.kind, Verdict.ERROR, (), reason)
        built = time.monotonic() - start
        # The first failure decides: after a fault, others may take long.
        test = _test(view, paths, log, mutant.caught_by, env, "-x")
    return Result(mutant.name, mutant.kind, test.verdict, test.by, test.reason, built, test.test_s)


def verify(paths: Paths, mutants: Sequence[Mutant]) -> None:
    """The tests of these mutants pass without any. Raises LabError."""
    log = _log(paths, "none")
    for short in (True, False):
        words = sorted({f"({m.caught_by})" for m in mutants if m.short is short})
        if not words:
            continue
        with overlay([paths.top, paths.out]) as view:
            test = _test(view, paths, log, " or ".join(words), test_environment(paths, short))
        if test.verdict is not Verdict.MISSED:
            who = ", ".join(test.by)
            raise LabError(f"without a mutant, too: {who}: {test.reason}: see {log}", exit_code=1)


def selecting(paths: Paths, expressions: Sequence[str], tier: str) -> list[bool]:
    """For each expression, whether the tier has a test for it. Raises LabError, exit code 1."""
    env = {**test_environment(paths, False), "LAB_TIER": tier}
    done = subprocess.run(
        [sys.executable, "-m", "lab.selects", str(paths.qemu)],
        input=json.dumps([*expressions]),
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise LabError(f"pytest collects nothing: {done.stdout[-500:]}{done.stderr[-500:]}", 1)
    found: list[bool] = json.loads(done.stdout)
    return found


def of_tier(paths: Paths, mutants: Sequence[Mutant], tier: str) -> tuple[list[str], list[str]]:
    """Names of the mutants for which the tier has a test, and of the others."""
    found = selecting(paths, [mutant.caught_by for mutant in mutants], tier)
    pairs = [(mutant.name, there) for mutant, there in zip(mutants, found, strict=True)]
    return [name for name, there in pairs if there], [name for name, there in pairs if not there]


def _show_tier(paths: Paths, mutants: Sequence[Mutant], tier: str) -> int:
    """How many a tier has a test for. 0 if the long tier has one for each of the others."""
    there, others = of_tier(paths, mutants, tier)
    print(f"{len(there)} of {len(mutants)} mutants have a test in the tier '{tier}'")
    rest = [mutant for mutant in mutants if mutant.name in others]
    of_long = of_tier(paths, rest, TIERS[-1])[0] if rest else []
    for name in others:
        print(f"  {name}: {'make test-long' if name in of_long else 'no test at all'}")
    return 0 if len(of_long) == len(rest) else 1


def register(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="*", help="a mutant or a folder of them; default: all")
    parser.add_argument("--kind", choices=list(Kind), help="only those of this kind")
    parser.add_argument("--one-of-each", action="store_true", help="the cheapest of each kind")
    parser.add_argument("--tier", choices=TIERS, help="which has a test there? --trust: try them")
    parser.add_argument(
        "--trust", action="store_true", help="their tests are known to pass without them"
    )


def verb(args: argparse.Namespace) -> int:
    paths = Paths.from_env()
    chosen = [
        mutant
        for mutant in choose(load(paths), args.name)
        if (not args.kind or mutant.kind == args.kind) and (mutant.often or not args.one_of_each)
    ]
    if not chosen:
        raise LabError("no mutant fits all of that")
    if args.tier and not args.trust:
        return _show_tier(paths, chosen, args.tier)
    if not args.trust:
        print("lab: their tests, without any mutant", file=sys.stderr, flush=True)
        verify(paths, chosen)
    results: list[Result] = []
    for number, mutant in enumerate(chosen, 1):
        results.append(try_mutant(paths, mutant, args.tier or TIERS[-1]))
        print(f"[{number}/{len(chosen)}] {results[-1]}", flush=True)
    paths.results.mkdir(parents=True, exist_ok=True)
    text = json.dumps([asdict(result) for result in results], indent=1)
    (paths.results / "mutants.json").write_text(text + "\n")
    return report(results)


def report(results: Sequence[Result]) -> int:
    """A table of all, and a line that counts. 0 if every mutant was caught."""
    width = max(len(result.name) for result in results)
    print(f"\n{'mutant':{width}}  {'kind':7}  {'verdict':7}  {'after':>6}  by")
    for result in results:
        after = f"{result.build_s + result.test_s:.0f} s"
        row = f"{result.kind:7}  {result.verdict:7}  {after:>6}  {result.said}"
        print(f"{result.name:{width}}  {row}")
    caught = sum(result.verdict is Verdict.CAUGHT for result in results)
    print(f"{caught} of {len(results)} mutants caught")
    return 0 if caught == len(results) else 1

# SPDX-License-Identifier: GPL-2.0
"""Every patch of the series builds on its own.

In a private copy of $(O), the files that the series touches are made as they come, and the
series is put on them patch by patch. After each one, what is made of any of these files is
built anew as far as make finds it necessary, configured as the guest's kernel, as far as the
options are there yet. Links to modules/ are there from the start: no patch makes them.

What this proves: after each patch the files that the series touches compile without a
warning, and refer to nothing that is defined neither in them nor elsewhere in the kernel.
What it does not: files that only include a header which more than MANY others include, too
(include/linux/sched.h), the link itself, other configurations, and that the kernel boots.
"""

import argparse
import re
import shlex
import shutil
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lab import LabError
from lab.host.overlay import Overlay, overlay, refusal
from lab.paths import Paths
from lab.tree.kernel import environment, kbuild
from lab.tree.patches import LINKS, Patch, carried

# A header with more users is not followed to all of them.
MANY = 100
PATCH_S = 60
BUILD_S = 3600

_COMPLAINT = re.compile(r"(: (warning|error|fatal error): |^make(\[\d+\])?: \*\*\* )")
_OBJECT = re.compile(r"^  (CC|AS|LD)\b.*\.o$", re.M)
_REFERENCE = re.compile(r"^(?:[0-9a-f]+| +) ([A-Za-z]) (\S+)$", re.M)


@dataclass(frozen=True)
class Step:
    """What came of one patch: its problems, objects built, seconds."""

    name: str
    problems: list[str] = field(default_factory=list)
    objects: int = 0
    seconds: float = 0


def touched(series: Iterable[Patch]) -> set[str]:
    """Files of the kernel that the series changes."""
    return {name for patch in series for change in patch.changes if (name := change.new)}


def targets(series: Sequence[Patch], linux: Path, build: Path) -> list[str]:
    """What kbuild has to make: objects that are made of touched files, and directories.

    Which objects are made of a file is known from the kernel that was built.
    """
    users: dict[str, set[str]] = {name: set() for name in touched(series)}
    paths = {f"{linux.resolve()}/{name}": name for name in users}
    ours = tuple(f"{link}/" for link in LINKS.values())
    for cmd in build.glob("**/.*.o.cmd"):
        name = str(cmd.relative_to(build).with_name(cmd.name[1:].removesuffix(".cmd")))
        if not name.startswith(ours):
            for path in paths.keys() & set(cmd.read_text().split()):
                users[paths[path]].add(name)
    for file, names in users.items():
        if file.endswith(".c") and not names:
            raise LabError(f"{file}: nothing in {build} is made of it", exit_code=1)
    found = {name for names in users.values() if len(names) <= MANY for name in names}
    found |= {f"{Path(file).parent}/" for file in users if Path(file).name == "Makefile"}
    return sorted(found)


@dataclass(frozen=True)
class Symbols:
    """Names that objects define, and names that they need."""

    defined: frozenset[str]
    needed: frozenset[str]

    @classmethod
    def parse(cls, text: str) -> "Symbols":
        """Output of nm. What is only needed weakly may be absent."""
        found = _REFERENCE.findall(text)
        needed = frozenset(name for kind, name in found if kind == "U")
        defined = (name for kind, name in found if kind.isupper() and kind != "U")
        return cls(frozenset(defined), needed)


@dataclass
class Tree:
    """The kernel tree and its build directory in an overlay."""

    view: Overlay
    paths: Paths
    log: Path
    targets: Sequence[str]

    def run(self, argv: Sequence[str], timeout_s: float) -> tuple[int | None, str]:
        """Exit status and output of a command there."""
        before = self.log.stat().st_size if self.log.exists() else 0
        status = self.view.run(argv, self.paths.out, self.log, environment(), timeout_s)
        with self.log.open() as log:
            log.seek(before)
            return status, log.read()

    def start(self, names: Iterable[str]) -> None:
        """Make these files as they come, and remove what was built of modules/."""
        for name in names:
            argv = ["cp", "--remove-destination", str(self.paths.pristine / name)]
            if self.run([*argv, str(self.paths.linux / name)], PATCH_S)[0]:
                raise LabError(f"{name}: not in {self.paths.pristine}: make prepare", 1)
        ours = [str(self.paths.kernel() / link) for link in LINKS.values()]
        self.run(["rm", "-rf", *ours], PATCH_S)

    def patch(self, patch: Patch) -> None:
        """Put a patch on. Raises LabError."""
        file = self.paths.patches / patch.name
        zero = ["--fuzz=0", "--force", "--no-backup-if-mismatch", "--reject-file=-"]
        argv = ["patch", "-p1", *zero, "-d", str(self.paths.linux), "-i", str(file)]
        if self.run(argv, PATCH_S)[0]:
            raise LabError(f"{patch.name}: does not apply: see {self.log}", exit_code=1)

    def build(self) -> tuple[list[str], int]:
        """Problems, and the number of objects that were built."""
        build = self.paths.kernel()
        restore = ["cp", str(self.view.scratch / "config"), str(build / ".config")]
        status, output = self.run(restore, PATCH_S)
        for wanted in (["olddefconfig"], self.targets):
            if not status:
                status, output = self.run(kbuild(self.paths, "guest", wanted), BUILD_S)
        problems = [line for line in output.splitlines() if _COMPLAINT.search(line)]
        if status != 0 and not problems:
            problems = [f"make: exit {status}: see {self.log}"]
        return problems, len(_OBJECT.findall(output))

    def symbols(self) -> Symbols:
        """Of all that was built."""
        build = self.paths.kernel()
        files = [f"{name}built-in.a" if name.endswith("/") else name for name in self.targets]
        out = self.view.scratch / "symbols"
        script = f"nm -g {shlex.join(files)} >{shlex.quote(str(out))}"
        status, output = self.run(
            ["sh", "-c", f"cd {shlex.quote(str(build))} && {script}"], PATCH_S
        )
        if status:
            raise LabError(f"nm: {output.strip()}", exit_code=1)
        return Symbols.parse(out.read_text())


def check(paths: Paths, series: Sequence[Patch]) -> Iterable[Step]:
    """A step for the unchanged kernel, then one a patch."""
    build = paths.kernel()
    log = paths.logs / "series.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.unlink(missing_ok=True)
    with overlay([paths.out]) as view:
        tree = Tree(view, paths, log, targets(series, paths.linux, build))
        shutil.copyfile(build / ".config", view.scratch / "config")
        linked = Symbols.parse((build / "System.map").read_text())
        elsewhere = linked.defined - tree.symbols().defined
        tree.start(sorted(touched(series)))
        for patch in (None, *series):
            start = time.monotonic()
            if patch:
                tree.patch(patch)
            problems, objects = tree.build()
            if not problems:
                now = tree.symbols()
                lost = sorted(now.needed - now.defined - elsewhere)
                if patch is None:
                    elsewhere |= set(lost)
                elif lost:
                    problems = [f"not defined: {', '.join(lost)}"]
            name = patch.name if patch else "(no patch)"
            yield Step(name, problems, objects, time.monotonic() - start)


def _require(paths: Paths) -> None:
    why = refusal()
    if why:
        raise LabError(f"series: {why}", exit_code=1)
    if not (paths.kernel() / "System.map").is_file():
        raise LabError(f"{paths.kernel()}: not built: make kernel", exit_code=1)
    for path in (paths.linux, paths.kernel()):
        if not path.resolve().is_relative_to(paths.out.resolve()):
            raise LabError(f"{path} is a link out of $(O): it would be written to", exit_code=1)


def verb(args: argparse.Namespace) -> int:
    paths = Paths.from_env()
    _require(paths)
    bad = 0
    steps = 0
    for step in check(paths, carried(paths)):
        steps += 1
        bad += bool(step.problems)
        word = "PROBLEM" if step.problems else "ok"
        print(f"{step.name}: {word}, objects: {step.objects}, {step.seconds:.0f} s", flush=True)
        for problem in step.problems:
            print(f"  {problem}", flush=True)
    print(f"{steps - bad} of {steps} states of the series build")
    return 1 if bad else 0

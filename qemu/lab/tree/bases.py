# SPDX-License-Identifier: GPL-2.0
"""The kernels that the series is carried on: does it apply to each of them, without fuzz?

Debian offers some point releases of its source package at a time. Their tarballs are kept in
$(O)/bases, where KERNEL= can take them from. A hunk that does not fit does not end the search.
What a later hunk expects of it is not there then, so that one cause can have several misfits: the
first one in a file is the one to fix first.
"""

import argparse
import difflib
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lab import LabError
from lab.paths import Paths
from lab.tree.patches import Misfit, Patch, apply, file_hunks, read_every, read_series
from lab.tree.source import DECOMPRESS, version

PACKAGE = "linux-source-6.12"
PACKED = "usr/src/linux-source-6.12.tar.xz"
APT_S = 1200

_KERNEL = re.compile(r"\d+\.\d+\.\d+")


@dataclass(frozen=True)
class Release:
    """A version of Debian's package, and the kernel in it: 6.12.117-1~deb12u1, 6.12.117."""

    package: str
    kernel: str


def offered(madison: str) -> list[Release]:
    """The releases that `apt-cache madison` names, the oldest kernel first, each kernel once."""
    found: dict[str, Release] = {}
    for line in madison.splitlines():
        fields = [field.strip() for field in line.split("|")]
        kernel = _KERNEL.match(fields[1]) if len(fields) > 1 else None
        if kernel:
            found.setdefault(kernel[0], Release(fields[1], kernel[0]))
    return sorted(found.values(), key=lambda release: [*map(int, release.kernel.split("."))])


def _run(argv: Sequence[str], where: Path) -> str:
    """Output of a command of apt or dpkg there. Raises LabError."""
    try:
        done = subprocess.run(
            argv, cwd=where, capture_output=True, text=True, timeout=APT_S, check=False
        )
    except FileNotFoundError as error:
        raise LabError(
            f"{argv[0]} is missing: without Debian's package lists, name a tree: lab bases TREE"
        ) from error
    if done.returncode:
        why = done.stderr.strip().partition("\n")[0] or f"exit code {done.returncode}"
        raise LabError(f"{' '.join(argv)}: {why}", exit_code=1)
    return done.stdout


def fetch(release: Release, bases: Path) -> Path:
    """The tarball of a release, from the package if it is not in bases yet. Raises LabError."""
    tarball = bases / f"linux-source-{release.kernel}.tar.xz"
    if tarball.exists():
        return tarball
    bases.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=bases) as scratch:
        where = Path(scratch)
        # As root apt downloads as a user of its own, which may not write there.
        apt = ["apt-get", "-q", "-o", "APT::Sandbox::User=root"]
        _run([*apt, "download", f"{PACKAGE}={release.package}"], where)
        deb = next(where.glob("*.deb"))
        _run(["dpkg-deb", "-x", str(deb), "out"], where)
        (where / "out" / PACKED).rename(tarball)
    return tarball


def take(tree: Path, names: Iterable[str], into: Path) -> str:
    """Copy these files of a kernel, a directory or a tarball, as far as it has them.

    Returns the version of the kernel. Raises LabError if it is not a kernel.
    """
    wanted = ["Makefile", *sorted(names)]
    if tree.is_dir():
        for name in wanted:
            if (tree / name).exists():
                (into / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(tree / name, into / name)
    else:
        decompress = DECOMPRESS.get(tree.suffix)
        argv = ["tar", "--extract", "--strip-components=1", "--no-same-owner", "--wildcards"]
        argv += ["--no-wildcards-match-slash", f"--directory={into}", f"--file={tree}"]
        argv += [decompress] if decompress else []
        # It complains about what the kernel does not have: patch names that.
        subprocess.run([*argv, *(f"*/{name}" for name in wanted)], capture_output=True, check=False)
    makefile = into / "Makefile"
    found = version(makefile.read_text(errors="replace")) if makefile.exists() else None
    if found is None:
        raise LabError(f"{tree}: not a kernel source")
    return found


@dataclass(frozen=True)
class Found:
    """A hunk that does not fit: its patch, and the difference to the lines most like it."""

    patch: str
    misfit: Misfit
    difference: tuple[str, ...]

    def lines(self) -> Iterator[str]:
        """For people: "-" is what the hunk wants to find, "+" what is there."""
        yield f"{self.patch}: {self.misfit}"
        yield from (f"    {line}" for line in self.difference)


def wanted(patch: Patch, misfit: Misfit) -> list[str]:
    for old, new, hunks in file_hunks(patch.text):
        # A file that goes has no new name.
        if (new or old) == misfit.file and misfit.hunk <= len(hunks):
            return [line[1:] for line in hunks[misfit.hunk - 1] if line[:1] != "+"]
    raise ValueError(f"{patch.name}: {misfit}: no such hunk")


def likest(old: Sequence[str], text: Sequence[str], line: int) -> list[str]:
    """As many lines of text as most resemble old, the nearest to line (from 1) of these.

    Lines count that are equal, wherever they stand in the window; empty ones do not.
    """
    counted = {entry.strip() for entry in old if entry.strip()}
    hits = [entry.strip() in counted for entry in text]
    size = len(old)
    starts = range(max(len(text) - size, 0) + 1)
    best = max(starts, key=lambda at: (sum(hits[at : at + size]), -abs(at + 1 - line)))
    return list(text[best : best + size])


def _difference(old: Sequence[str], there: Sequence[str]) -> tuple[str, ...]:
    compared = difflib.ndiff(old, there, linejunk=None, charjunk=None)
    return tuple(line.rstrip() for line in compared if not line.startswith("?"))


def find(series: Iterable[Patch], tree: Path) -> Iterator[Found]:
    """Put the series on tree as far as it fits; what does not. Raises LabError."""
    for patch in series:
        before = {
            change.new: (tree / change.new).read_text(errors="replace").splitlines()
            for change in patch.changes
            if change.new and (tree / change.new).exists()
        }
        for misfit in apply(patch, tree):
            if not misfit.hunk:
                yield Found(patch.name, misfit, ())
                continue
            old = wanted(patch, misfit)
            there = likest(old, before.get(misfit.file, []), misfit.line)
            yield Found(patch.name, misfit, _difference(old, there))


@dataclass(frozen=True)
class Fit:
    """A kernel, how many patches its series has, and what of them does not fit."""

    kernel: str
    patches: int
    misfits: list[Found]

    def __str__(self) -> str:
        hold = len({one.patch for one in self.misfits})
        return f"{self.kernel}: {self.patches - hold} of {self.patches} patches apply"


def fit(patches: Path, tree: Path, scratch: Path) -> Fit:
    """How the series for a kernel fits it. Raises LabError."""
    names = {change.old for one in read_every(patches) for change in one.changes if change.old}
    with tempfile.TemporaryDirectory(dir=scratch) as part:
        kernel = take(tree, names, Path(part))
        series = read_series(patches, kernel)
        return Fit(kernel, len(series), list(find(series, Path(part))))


def _trees(paths: Paths, tree: str) -> Iterator[Path]:
    if tree:
        if not Path(tree).exists():
            raise LabError(f"{tree}: no such directory or tarball")
        yield Path(tree).absolute()
        return
    releases = offered(_run(["apt-cache", "madison", PACKAGE], paths.out))
    if not releases:
        raise LabError(f"no version of {PACKAGE} is offered here: name a tree: lab bases TREE")
    for release in releases:
        print(f"lab: {release.kernel}: from {PACKAGE} {release.package}", file=sys.stderr)
        yield fetch(release, paths.out / "bases")


def register(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "tree", nargs="?", default="", help="directory or tarball of a kernel, any version"
    )


def verb(args: argparse.Namespace) -> int:
    paths = Paths.from_env()
    bad = 0
    for tree in _trees(paths, args.tree):
        found = fit(paths.patches, tree, paths.out)
        bad += bool(found.misfits)
        print(found, flush=True)
        for one in found.misfits:
            print("\n".join(f"  {line}" for line in one.lines()), flush=True)
    return 1 if bad else 0

# SPDX-License-Identifier: GPL-2.0
"""The series, and $(O)/linux: the pristine tree, the series on it, and links to the modules.

Patches are applied to private copies of the files they touch, and only the
result is carried over, so that $(O)/pristine is never written through a hard
link, nothing is ever half-applied, and a file that a new series leaves as it
was keeps its time (and its object file).
"""

import argparse
import filecmp
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lab import LabError
from lab.host import program, stamps
from lab.host.deps import DEBIAN_DIR
from lab.paths import Paths
from lab.tree import source
from lab.tree.source import Source, tree_files

# Where the directories of modules/ appear in the kernel tree.
LINKS = {
    "sched_lottery": "kernel/sched/lottery",
    "sched_lottery/include": "include/linux/lottery",
    "bfq_wrais": "block/bfq_wrais",
    "bfq_wrais/include": "include/linux/wrais",
    "napi_livelock/governor": "net/core/governor",
    "napi_livelock/governor/include": "include/linux/rxgov",
    "napi_livelock": "drivers/net/ethernet/napi_livelock",
}

_HUNK = re.compile(r"^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_FAILED = re.compile(r"^Hunk #(\d+) FAILED at (\d+)", re.M)


@dataclass(frozen=True)
class Change:
    """What a patch does to one file. old or new is None for /dev/null."""

    old: str | None
    new: str | None
    hunks: int


@dataclass(frozen=True)
class Patch:
    """A file of patches/: its name in the series, its whole text, its changes."""

    name: str
    text: str
    changes: tuple[Change, ...]

    @classmethod
    def parse(cls, name: str, text: str) -> "Patch":
        """Find the files and count the hunks; anything around them is prose."""
        files = file_hunks(text)
        return cls(name, text, tuple(Change(old, new, len(hunks)) for old, new, hunks in files))

    @property
    def file(self) -> str:
        """The name without a directory: it begins with the patch's number."""
        return Path(self.name).name


def file_hunks(text: str) -> list[tuple[str | None, str | None, list[list[str]]]]:
    """Of each file of a patch: its old and its new name, and the lines of each of its hunks."""
    found: list[tuple[str | None, str | None, list[list[str]]]] = []
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        hunk = _HUNK.match(lines[at])
        if lines[at].startswith("--- ") and "".join(lines[at + 1 : at + 2]).startswith("+++ "):
            found.append((_stripped(lines[at]), _stripped(lines[at + 1]), []))
            at += 1
        elif hunk and found:
            end = _after_hunk(lines, at + 1, int(hunk[1] or 1), int(hunk[2] or 1))
            found[-1][2].append(lines[at + 1 : end])
            at = end - 1
        at += 1
    return found


def _stripped(line: str) -> str | None:
    """The file of a "--- a/x" or "+++ b/x" line as patch -p1 sees it."""
    name = line[4:].split("\t")[0].strip()
    return None if name == "/dev/null" else name.partition("/")[2]


def _after_hunk(lines: Sequence[str], at: int, old: int, new: int) -> int:
    """Index of the first line after a hunk of these numbers of old and new lines."""
    while at < len(lines) and (old > 0 or new > 0):
        mark = lines[at][:1]
        old -= mark in (" ", "-", "")
        new -= mark in (" ", "+", "")
        at += 1
    return at


def _series_files(patches: Path) -> list[Path]:
    """patches/series, of the kernel that the stack is made on, and those of others: X.Y/series."""
    return [patches / "series", *sorted(patches.glob("*/series"))]


def _named_in(series: Path, patches: Path) -> list[Patch]:
    lines = series.read_text().splitlines() if series.exists() else []
    names = [name for line in lines if (name := line.partition("#")[0].strip())]
    where = f"patches/{series.relative_to(patches)}"
    found: list[Patch] = []
    for name in names:
        path = patches / name
        if names.count(name) > 1:
            raise LabError(f"{where}: {name} is listed twice")
        if not path.is_file():
            raise LabError(f"{where}: {name}: no such patch")
        found.append(Patch.parse(name, path.read_text()))
    return found


def read_series(patches: Path, version: str = "") -> list[Patch]:
    """The patches for a kernel, in order; an empty or absent series is fine.

    Those for 7.2.13 are named in patches/7.2/series; in patches/series for any kernel that has
    no such file.  A name is a file below patches/: a patch that fits several kernels is one file.
    """
    return _named_in(_home(patches, version) / "series", patches)


def _home(patches: Path, version: str) -> Path:
    """Where the series for a kernel is, and what it is pinned on."""
    own = patches / source.base_of(version)
    return own if (own / "series").is_file() else patches


def carried(paths: Paths) -> list[Patch]:
    found = source.load(paths.pristine)
    return read_series(paths.patches, found.version if found else "")


def read_every(patches: Path) -> list[Patch]:
    """The patches of all series, each once."""
    lists = [_named_in(series, patches) for series in _series_files(patches)]
    return list({patch.name: patch for named in lists for patch in named}.values())


def stage(series: Sequence[Patch], pristine: Path, staging: Path, version: str) -> dict[str, Path]:
    """Apply the series, zero fuzz, to copies of the files it touches, below staging.

    Returns the touched names with their copies (which do not exist where a
    patch deletes a file). Raises LabError, exit code 1, that names the patch,
    the file and the hunk which does not fit.
    """
    touched: dict[str, Path] = {}
    for patch in series:
        for change in patch.changes:
            for name in {change.old, change.new} - {None}:
                assert name
                if name not in touched:
                    touched[name] = _copied(pristine / name, staging / name)
        misfits = apply(patch, staging)
        if gone := [misfit.file for misfit in misfits if not misfit.hunk]:
            why = f"{', '.join(gone)}: no such file in kernel {version}"
            raise LabError(f"{patch.name}: {why}", exit_code=1)
        if misfits:
            what = ", ".join(map(str, misfits))
            why = f"{what} does not apply to kernel {version} without fuzz"
            raise LabError(f"{patch.name}: {why}", exit_code=1)
    return touched


def _copied(file: Path, copy: Path) -> Path:
    copy.parent.mkdir(parents=True, exist_ok=True)
    if file.exists():
        shutil.copyfile(file, copy)
        shutil.copymode(file, copy)
    return copy


@dataclass(frozen=True)
class Misfit:
    """A hunk that does not apply: its file, its number there (from 1), the line it is for.

    hunk and line are 0 where the file is not there.
    """

    file: str
    hunk: int
    line: int

    def __str__(self) -> str:
        what = f"hunk {self.hunk} (line {self.line})" if self.hunk else "no such file"
        return f"{self.file}: {what}"


def apply(patch: Patch, tree: Path) -> list[Misfit]:
    """Run patch(1) in tree, without fuzz; the hunks that do not fit, all others are in then."""
    old = [change.old for change in patch.changes if change.old]
    gone = [Misfit(name, 0, 0) for name in old if not (tree / name).exists()]
    done = program.run(
        *("patch", "-p1", "-F0", "--force", "--no-backup-if-mismatch", "--reject-file=-"),
        stdin=patch.text,
        cwd=tree,
        env={**os.environ, "QUOTING_STYLE": "literal"},
    )
    if done.status == 0:
        return []
    # One block of output for each file: its name, then its hunks.
    misfits = gone + [
        Misfit(block.splitlines()[0], int(number), int(line))
        for block in done.said.split("patching file ")[1:]
        for number, line in _FAILED.findall(block)
    ]
    if not misfits:
        why = " ".join(done.said.split()) or f"patch exit {done.status}"
        raise LabError(f"{patch.name}: {why}", exit_code=1)
    return misfits


def sync(
    pristine: Path, linux: Path, staged: Mapping[str, Path], links: Mapping[str, Path]
) -> None:
    """Make linux = pristine + staged + links, writing only what differs.

    What is written gets a new time, also when it goes back to an older text:
    make would otherwise keep the object of the text before.
    """
    have = dict(tree_files(linux))
    want = {name: pristine / name for name, _ in tree_files(pristine)} | {**staged}
    want = {name: file for name, file in want.items() if name not in staged or file.exists()}
    for name in have.keys() - want.keys() - links.keys():
        (linux / name).unlink()
        for parent in (linux / name).parents:
            try:
                parent.rmdir()
            except OSError:
                break
    for name, file in want.items():
        stat = have.get(name)
        # The hard link that cp -al made: nothing to compare.
        if stat and name not in staged and os.path.samestat(stat, file.lstat()):
            continue
        _replace(linux / name, file)
    for name, target in links.items():
        _link(linux / name, target)


def _link(link: Path, target: Path) -> None:
    """Make link a symbolic link to target, unless it is one already."""
    if not (link.is_symlink() and link.readlink() == target):
        link.unlink(missing_ok=True)
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(target)


def _replace(old: Path, new: Path) -> None:
    """Give old the content of new in a file of its own, unless it has it already."""
    if new.is_symlink():
        _link(old, new.readlink())
        return
    if old.is_file() and not old.is_symlink() and filecmp.cmp(old, new, shallow=False):
        return
    old.parent.mkdir(parents=True, exist_ok=True)
    part = old.with_name(old.name + ".part")
    shutil.copyfile(new, part)
    shutil.copymode(new, part)
    part.replace(old)


def hard_link_copy(pristine: Path, linux: Path) -> None:
    """linux becomes a fresh hard-link copy of pristine, or a plain one where links cannot be."""
    part = linux.with_name(linux.name + ".part")
    # A link does in place of the directory: what it names is another's.
    for old in (part, linux):
        old.unlink() if old.is_symlink() else shutil.rmtree(old, ignore_errors=True)
    for how in ("-al", "-a"):
        done = subprocess.run(
            ["cp", how, str(pristine), str(part)], stderr=subprocess.PIPE, text=True, check=False
        )
        if not done.returncode:
            break
        shutil.rmtree(part, ignore_errors=True)
    else:
        why = done.stderr.partition("\n")[0] or f"exit code {done.returncode}"
        raise LabError(f"{pristine}: cannot be copied: {why}", exit_code=1)
    part.rename(linux)


def _digest(found: Source, series: Sequence[Patch], links: Mapping[str, Path]) -> str:
    texts = [(patch.name, patch.text) for patch in series]
    targets = sorted((name, str(target)) for name, target in links.items())
    return stamps.digest(found.key, texts, targets)


def stamp_path(paths: Paths) -> Path:
    """Beside the tree: what it was made of."""
    return paths.out / "linux.json"


def generation(paths: Paths) -> str:
    """Changes when $(O)/linux was copied anew, that is with the old times of its files.

    Objects of an earlier generation cannot be told from up-to-date ones.
    """
    return str(stamps.load(stamp_path(paths)).get("generation", ""))


def prepare(paths: Paths, wanted: str, debian_dir: Path = DEBIAN_DIR) -> None:
    """Have $(O)/linux be what the source, the series and the modules say."""
    found = source.ensure(paths.pristine, wanted, debian_dir)
    series = read_series(paths.patches, found.version)
    links = {
        link: paths.modules / name
        for name, link in LINKS.items()
        if (paths.modules / name).is_dir()
    }
    digest = _digest(found, series, links)
    stamp = stamp_path(paths)
    state = stamps.load(stamp)
    if state.get("digest") == digest and paths.linux.is_dir():
        return
    source.note_pin(found, _home(paths.patches, found.version) / "base")
    stamp.unlink(missing_ok=True)
    spoilt = source.written_into(paths.pristine, found)
    if spoilt:
        print(f"lab: {paths.pristine}/{spoilt} was changed: unpacking again", file=sys.stderr)
        source.stamp_path(paths.pristine).unlink()
        found = source.ensure(paths.pristine, wanted, debian_dir)
    if spoilt or state.get("source") != found.key or not paths.linux.is_dir():
        hard_link_copy(paths.pristine, paths.linux)
        state["generation"] = str(time.time_ns())
    # Known to be of this source, not yet known to carry the series.
    state.update(source=found.key, digest="")
    stamps.save(stamp, state)
    staging = paths.out / "linux.staging"
    shutil.rmtree(staging, ignore_errors=True)
    staging.mkdir(parents=True)
    try:
        staged = stage(series, paths.pristine, staging, found.version)
        sync(paths.pristine, paths.linux, staged, links)
    except LabError:
        sync(paths.pristine, paths.linux, {}, {})
        raise
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    state["digest"] = digest
    stamps.save(stamp, state)
    print(
        f"lab: {paths.linux}: kernel {found.version}, patches: {len(series)}, "
        f"modules: {' '.join(path.name for path in links.values()) or 'none'}",
        file=sys.stderr,
    )


def register(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--source", default="", help="directory or tarball of a kernel")


def verb(args: argparse.Namespace) -> None:
    prepare(Paths.from_env(), args.source)

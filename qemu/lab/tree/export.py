# SPDX-License-Identifier: GPL-2.0
"""The series for those who carry patches only: what `git am` takes, the new files included.

The files of modules/ become patches of their own, each in front of the patches that use it,
so that the tree builds after every patch, as with the links of the lab.
"""

import argparse
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lab import LabError
from lab.host.program import run
from lab.paths import Paths
from lab.tree.patches import LINKS, Patch, carried

# What kbuild and the compiler read. The rest serves builds outside the tree.
NAMES = ("Kbuild", "Kconfig")
SUFFIXES = (".c", ".h")
# The committer has any name: the author is that of the series.
IDENTITY = ("-c", "user.name=export", "-c", "user.email=export@localhost")


@dataclass(frozen=True)
class NewFiles:
    """A patch that adds files: in front of which one, its message, directories of modules/."""

    before: str
    subject: str
    body: str
    modules: tuple[str, ...]


NEW = (
    NewFiles(
        "01",
        "sched: Add the files of the lottery class",
        "Nothing builds them yet: the hooks of the scheduler come first.",
        ("sched_lottery", "sched_lottery/include"),
    ),
    NewFiles(
        "02",
        "block: Add the files of privileged I/O",
        "Nothing builds them yet: the hooks in BFQ, in writeback and in the journal\ncome first.",
        ("bfq_wrais", "bfq_wrais/include"),
    ),
    NewFiles(
        "04",
        "net: Add the files of a receive governor",
        "Nothing builds them yet: the hooks of NAPI come first.",
        ("napi_livelock/governor", "napi_livelock/governor/include"),
    ),
    NewFiles(
        "04",
        "net: ethernet: Add the files of napi_livelock",
        "A driver for the cards that e1000 drives, with the strategies of receiving\n"
        "that other drivers do not have. The next patch builds it.",
        ("napi_livelock",),
    ),
)
"""In the order of the series; before: how the number of the first patch that follows begins."""


def files(modules: Path, name: str) -> Iterator[Path]:
    """What a directory of modules/ brings into the tree, without what is linked elsewhere."""
    elsewhere = [modules / other for other in LINKS if other.startswith(f"{name}/")]
    for file in sorted((modules / name).rglob("*")):
        ours = file.is_file() and (file.name in NAMES or file.suffix in SUFFIXES)
        if ours and not any(file.is_relative_to(other) for other in elsewhere):
            yield file


def _header(patch: Patch, name: str) -> str:
    """A header of the mail, in one line. Raises LabError if it is missing."""
    found = re.search(rf"^{name}: (.*(?:\n[ \t].*)*)", patch.text, re.M)
    if not found:
        raise LabError(f"{patch.name}: no {name}: in its header", exit_code=1)
    return " ".join(found[1].split())


def _git(where: Path, *args: str) -> str:
    done = run("git", "-C", str(where), *IDENTITY, *args)
    if done.status:
        raise LabError(f"git {args[0]}: {done.said.strip()}", exit_code=1)
    return done.said


def patch_of(new: NewFiles, modules: Path, first: Patch) -> str:
    """The patch that adds the files, as git writes it; author and date of the one behind it."""
    author = _header(first, "From")
    message = f"{new.subject}\n\n{new.body}\n\nSigned-off-by: {author}\n"
    with tempfile.TemporaryDirectory() as directory:
        tree = Path(directory)
        _git(tree, "init", "--quiet")
        for name in new.modules:
            for file in files(modules, name):
                there = tree / LINKS[name] / file.relative_to(modules / name)
                there.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, there)
        _git(tree, "add", "--all", "--force")
        date = _header(first, "Date")
        _git(tree, "commit", "--quiet", f"--author={author}", f"--date={date}", "-m", message)
        return _git(tree, "format-patch", "-1", "--stdout", "--zero-commit", "--no-signature")


def _named(number: int, text: str) -> str:
    subject = _header(Patch.parse("", text), "Subject").removeprefix("[PATCH] ")
    words = re.sub(r"[^A-Za-z0-9_.]+", "-", subject).strip("-.")
    return f"{number:04}-{words[:52].rstrip('-.')}.patch"


def texts(paths: Paths) -> list[str]:
    found: list[str] = []
    news = list(NEW)
    for patch in carried(paths):
        while news and patch.file.startswith(news[0].before):
            found.append(patch_of(news.pop(0), paths.modules, patch))
        found.append(patch.text)
    return found


def export(paths: Paths, where: Path) -> list[Path]:
    """Write the patches, and their order for quilt, to a directory, which is new or empty."""
    if where.exists() and (not where.is_dir() or any(where.iterdir())):
        raise LabError(f"DIR '{where}': allowed is a new or an empty directory")
    named = {_named(number, text): text for number, text in enumerate(texts(paths), 1)}
    where.mkdir(parents=True, exist_ok=True)
    for name, text in named.items():
        (where / name).write_text(text)
    (where / "series").write_text("".join(f"{name}\n" for name in named))
    return [where / name for name in named]


def register(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("dir", metavar="DIR", help="a new or an empty directory")


def verb(args: argparse.Namespace) -> None:
    if not args.dir:
        raise LabError("DIR is empty: allowed is a new or an empty directory")
    patches: Sequence[Path] = export(Paths.from_env(), Path(args.dir))
    print(f"lab: {len(patches)} patches in {args.dir}: git am {args.dir}/*.patch", file=sys.stderr)

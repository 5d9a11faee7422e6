# SPDX-License-Identifier: GPL-2.0
"""What of the series does not fit another kernel, and what is there in its place.

Who carries the series to a new kernel wants to see all of it at once: a hunk that does not
fit does not end the search. What a later hunk expects of it is not there then, so that one
cause can have several misfits: the first one in a file is the one to mend first.
"""

import difflib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lab.tree.patches import Misfit, Patch, apply, file_hunks


@dataclass(frozen=True)
class Found:
    """A hunk that does not fit: whose it is, and the difference to the lines most like it."""

    patch: str
    misfit: Misfit
    difference: tuple[str, ...]

    def lines(self) -> Iterator[str]:
        """For people: "-" is what the hunk wants to find, "+" what is there."""
        yield f"{self.patch}: {self.misfit}"
        yield from (f"    {line}" for line in self.difference)


def wanted(patch: Patch, misfit: Misfit) -> list[str]:
    """The lines that a hunk expects to find, without their marks."""
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

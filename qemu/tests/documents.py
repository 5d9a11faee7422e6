# SPDX-License-Identifier: GPL-2.0
"""What the documents tell a person to type: blocks, and how each of them is tested.

A mark stands in front of each block, as a comment that the reader does not see:

    <!-- run: guest -->              .. run: guest              .\\" run: guest

In a manual page it stands in front of the EXAMPLES, which are one block: what is bold behind
a .TP, and what stands between .nf and .fi.

guest: all such blocks of a page are executed in one boot, one after the other.
host: executed beside the checkout's build directory, with our programs in PATH.
dry: each command is handed to make --dry-run, and what make would call to the lab's parser;
    make test-long executes it, see commands.py.
shown: commands behind `$ ` are executed there, too, and print the lines below them.
tested NAME... FILE...: these tests execute it, or what does the same. The first two words of a
    command are in the file of each test, or in a FILE of the checkout that it uses.
text: no commands.

In its next lines a mark may say `with OLD = NEW`, for what is only an example there, and
commands that make ready what a person would have.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from lab.host.program import run
from lab.paths import Paths

TOP = Paths.from_env({}).top
FILES = (
    *(TOP / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
    *sorted((TOP / "Documentation").glob("**/*.rst")),
)
MANUALS = tuple(sorted((TOP / "Documentation/man").glob("*.[1-8]")))
PROMPT = "$ "
WAYS = ("guest", "host", "dry", "shown", "tested", "text")
MARK = re.compile(r"(?P<indent> *)(?:<!--|\.\.) run: (?P<way>\w+) ?(?P<words>[^>]*?)(?: ?-->)?$")
MAN_NOTE = re.compile(r"\.\\\" (.*)")
STAND_IN = re.compile(r"with (.+?) = (.*)")


@dataclass(frozen=True)
class Mark:
    """How a block is tested, by what, with what in place of an example, and after what."""

    way: str
    words: tuple[str, ...] = ()
    stand_ins: tuple[tuple[str, str], ...] = ()
    setup: tuple[str, ...] = ()


@dataclass(frozen=True)
class Block:
    """Lines of a document; `line` is the number of the first. mark is None if it has none."""

    file: Path
    line: int
    lines: tuple[str, ...] = field(repr=False)
    mark: Mark | None

    def __str__(self) -> str:
        return f"{self.file.relative_to(TOP)}:{self.line}"

    def script(self) -> str:
        """For a shell that ends where a command fails."""
        assert self.mark
        text = "\n".join(self.lines)
        for old, new in self.mark.stand_ins:
            assert old in text, f"{self}: there is no {old}"
            text = text.replace(old, new)
        return "\n".join((*self.mark.setup, text, ""))

    def session(self) -> list[tuple[str, list[str]]]:
        """Commands that a prompt stands in front of, each with what it prints."""
        found: list[tuple[list[str], list[str]]] = []
        for line in self.script().splitlines()[len(self.mark.setup if self.mark else ()) :]:
            if line.startswith(PROMPT):
                found.append(([line.removeprefix(PROMPT)], []))
            else:
                command, shown = found[-1]
                (shown if _is_whole("\n".join(command)) else command).append(line)
        return [("\n".join(command), shown) for command, shown in found]

    def commands(self) -> list[str]:
        """One a line: without comments, and with the lines that go on joined."""
        text = self.script().replace("\\\n", " ")
        lines = (re.split(r"\s#\s|^#", line)[0].strip() for line in text.splitlines())
        return [" ".join(line.split()) for line in lines if line]


def _is_whole(command: str) -> bool:
    done = run("bash", "-n", stdin=command)
    return done.status == 0 and not done.said


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _mark(lines: list[str], at: int) -> Mark | None:
    match = MARK.fullmatch(lines[at].rstrip())
    if not match:
        return None
    body: list[str] = []
    is_open = lines[at].lstrip().startswith("<!--") and "-->" not in lines[at]
    for line in lines[at + 1 :]:
        if is_open:
            if "-->" in line:
                break
        elif not line.strip() or _indent(line) <= len(match["indent"]):
            break
        body.append(line.strip())
    pairs = tuple((found[1], found[2]) for found in map(STAND_IN.fullmatch, body) if found)
    setup = tuple(line for line in body if not STAND_IN.fullmatch(line))
    return Mark(match["way"], tuple(match["words"].split()), pairs, setup)


def _begins(lines: list[str], at: int, markdown: bool) -> bool:
    """A block follows this line."""
    line = lines[at]
    if markdown:
        return not line.strip() and lines[at + 1 : at + 2] != [] and _indent(lines[at + 1]) >= 4
    literal = line.rstrip().endswith("::") and not line.lstrip().startswith("..")
    return literal or ".. code-block::" in line


def _block(lines: list[str], at: int) -> tuple[int, int]:
    first = at + 1
    while first < len(lines) and (not lines[first].strip() or lines[first].strip()[0] == ":"):
        first += 1
    indent, end = _indent(lines[first]) if first < len(lines) else 0, first
    while end < len(lines) and (not lines[end].strip() or _indent(lines[end]) >= indent):
        end += 1
    while end > first and not lines[end - 1].strip():
        end -= 1
    return first, end


def blocks(file: Path, text: str | None = None) -> Iterator[Block]:
    lines = (file.read_text() if text is None else text).splitlines()
    if file in MANUALS:
        yield from _examples(file, lines)
        return
    markdown, mark, at = file.suffix == ".md", None, 0
    while at < len(lines):
        mark = _mark(lines, at) or mark
        if lines[at].lstrip().startswith("<!--"):
            while "-->" not in lines[at]:
                at += 1
        elif _begins(lines, at, markdown):
            first, end = _block(lines, at)
            if first < end:
                indent = _indent(lines[first])
                cut = tuple(line[indent:] for line in lines[first:end])
                yield Block(file, first + 1, cut, mark)
                mark, at = None, end - 1
        at += 1


def _examples(file: Path, lines: list[str]) -> Iterator[Block]:
    first = lines.index(".SH EXAMPLES") + 1 if ".SH EXAMPLES" in lines else len(lines)
    notes: list[str] = []
    commands: list[str] = []
    literal, before = False, ""
    for line in lines[first:]:
        note = MAN_NOTE.fullmatch(line)
        if line.startswith(".SH"):
            break
        if note:
            notes.append(note[1])
        elif line in (".nf", ".fi", ".EX", ".EE"):
            literal = line in (".nf", ".EX")
        elif literal or before == ".TP":
            commands.append(line.removeprefix(".B ").replace("\\-", "-").strip())
        before = line
    mark = _mark([f".. {notes[0]}", *(f"  {note}" for note in notes[1:])], 0) if notes else None
    if commands:
        yield Block(file, first + 1, tuple(commands), mark)


def every(way: str) -> list[Block]:
    """Of all documents, those that are tested so."""
    found = (one for file in (*FILES, *MANUALS) for one in blocks(file))
    return [one for one in found if one.mark and one.mark.way == way]

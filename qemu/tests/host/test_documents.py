# SPDX-License-Identifier: GPL-2.0
"""What the documents tell a person to type is executed, each block as its mark says."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from lab.__main__ import VERBS, parse
from lab.mutants import choose, load
from lab.paths import Paths
from lab.subjects.registry import EXPERIMENTS
from tests.documents import FILES, MANUALS, TOP, WAYS, Block, blocks, every
from tests.host.checkouts import environment, make

EVERY = [one for file in (*FILES, *MANUALS) for one in blocks(file)]
LAB = re.compile(r"\S*python3? -m lab (.*)")


def test_each_block_has_a_mark() -> None:
    """So that nobody writes one that no test looks at."""
    assert len(EVERY) > 20
    assert not [str(one) for one in EVERY if not one.mark or one.mark.way not in WAYS]


def test_what_has_no_commands_looks_so() -> None:
    """A program of ours, make or a shell's prompt is not text."""
    typed = re.compile(r"(sudo |\$ )?(make|build/lab|lottery|wrais|rxmode|ipclat|udprate) ")
    for one in every("text"):
        assert not [line for line in one.lines if typed.match(line)], one


def test_what_is_tested_elsewhere_is() -> None:
    tests = "\n".join(file.read_text() for file in (TOP / "qemu/tests").glob("**/test_*.py"))
    for one in every("tested"):
        assert one.mark and one.mark.words, one
        for name in one.mark.words:
            assert f"\ndef {name}(" in tests, (str(one), name)


def dry(command: str) -> None:
    """Hand it to make, and what make would call to the lab's parser."""
    assert re.match(r"make\b", command), command
    # what a shell would put there
    words = shlex.split(command.partition(" > ")[0].replace("$(uname -r)", "6.12"))[1:]
    done = make("--dry-run", *words, "O=/nowhere/out")
    assert done.returncode == 0, done.stderr
    called = [found[1] for found in map(LAB.fullmatch, done.stdout.splitlines()) if found]
    for line in called:
        verb, *rest = shlex.split(line)
        assert verb in VERBS
        args = parse([verb, *rest])
        assert getattr(args, "exp", None) in (None, *EXPERIMENTS), command
        if verb == "mutants" and args.name:
            assert choose(load(Paths.from_env()), args.name), command


@pytest.mark.parametrize("block", every("dry"), ids=str)
def test_make_and_the_lab_take_it(block: Block) -> None:
    for command in block.commands():
        dry(command)


def test_the_lab_is_called_as_a_reader_can() -> None:
    """From the checkout, by the launcher in build/."""
    pages = (*FILES, TOP / "CHANGELOG.md", *(TOP / "Documentation/man").iterdir())
    other = re.compile(rf"-m lab\b|[`*] *lab (?:{'|'.join(VERBS)})\b")
    for page in pages:
        assert not other.findall(page.read_text()), page


INLINE = re.compile(r"(?<!`)`{1,2}(make [^`]*)`{1,2}")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_make_takes_what_stands_in_the_text(file: Path) -> None:
    """But for words with capitals that stand for others."""
    for command in sorted(set(INLINE.findall(" ".join(file.read_text().split())))):
        command = command.rstrip("; ")
        words = shlex.split(command)[1:]
        if not words or not all(re.match(r"[a-z]|[A-Z]+=[a-z0-9/.~'-]", word) for word in words):
            continue
        if words[0] in ("modules_install", "olddefconfig") or "userland" in words:
            continue
        dry(command)


@pytest.mark.parametrize("block", every("host"), ids=str)
def test_it_works_here(lab_paths: Paths, block: Block, tmp_path: Path) -> None:
    """In an empty directory with build/ in it."""
    (tmp_path / "build").symlink_to(lab_paths.out)
    roles = ("AUTHOR", "COMMITTER")
    who = {f"GIT_{role}_{what}": "lab" for role in roles for what in ("NAME", "EMAIL")}
    env = {
        **environment(),
        **who,
        **{"LAB_OUT": str(lab_paths.out), "STACK": str(TOP)},
        "PATH": f"{lab_paths.bin}:{os.environ['PATH']}",
    }
    done = subprocess.run(
        ["sh", "-euc", block.script()],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-500:] + done.stderr[-500:]


def test_a_mark_is_read_with_all_it_says() -> None:
    text = """\
Intro.

.. run: guest
   with it = true
   mkdir x

Do it::

  it --now \\
     twice   # why

::

  not marked
"""
    one, other = blocks(TOP / "some.rst", text)
    assert one.mark and (one.line, one.mark.way) == (9, "guest")
    assert one.commands() == ["mkdir x", "true --now twice"]
    assert other.mark is None and other.lines == ("not marked",)
    (shown,) = blocks(
        TOP / "some.md", "<!-- run: shown -->\n\n    $ a 'b\n      c'\n    d 1\n    $ e\n"
    )
    assert shown.session() == [("a 'b\n  c'", ["d 1"]), ("e", [])]
    markdown = "# A\n\n<!-- run: host\nwith a = b\n-->\n\n    a c\n    d\n\ntext\n"
    (only,) = blocks(TOP / "some.md", markdown)
    assert only.script() == "b c\nd\n"

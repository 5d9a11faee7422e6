# SPDX-License-Identifier: GPL-2.0
"""Every tool has a manual page with the options that its --help names; test programs have none."""

import re
import subprocess
from pathlib import Path

import pytest

from lab.paths import Paths

TOP = Paths.from_env().top
PAGES = {page.stem: page for page in (TOP / "Documentation/man").glob("*.1")}
# Fonts, and the minus signs, of a page.
MARKUP = re.compile(r"\\f[A-Z]|\\(?=-)")
OPTION = re.compile(r"(?<![\w-])(--[a-z][a-z0-9-]*)")
FAMILIES = ("ipclat", "livelock", "lottery", "lprobe", "rxmode", "udprate", "wrais")


def plain(page: Path) -> str:
    """The words of a page as they are typed, without its comments."""
    return MARKUP.sub("", re.sub(r'^\.\\" .*\n', "", page.read_text(), flags=re.M))


def programs(folder: str) -> set[str]:
    """The programs that the Makefiles name: "programs" or "tests"."""
    found: set[str] = set()
    for rules in (TOP / "userland").glob("*/progs.mk"):
        lines = rules.read_text().replace("\\\n", " ").splitlines()
        for line in (line for line in lines if line.startswith(f"{folder} +=")):
            words = re.sub(r"\$\(addprefix [^,]*,|\)", "", line).split()[2:]
            found |= {Path(word).name for word in words}
    return found


def test_pages_are_of_tools() -> None:
    """A page each; the --help of a test program says everything."""
    tools, tests = programs("programs"), programs("tests")
    assert len(tools) > 10 and len(tests) > 5
    assert set(PAGES) == tools


@pytest.mark.parametrize("name", sorted(PAGES))
def test_same_options(lab_paths: Paths, name: str) -> None:
    """None is in one of the two only."""
    help_text = subprocess.run(
        [lab_paths.bin / name, "--help"], capture_output=True, text=True, check=True
    ).stdout
    said, paged = (set(OPTION.findall(text)) for text in (help_text, plain(PAGES[name])))
    assert said - paged == set(), "not in the page"
    assert paged - said == set(), "not in --help"


def examples(name: str) -> list[list[str]]:
    """The commands of a page's examples that begin with a program of ours, in words."""
    section = plain(PAGES[name]).partition(".SH EXAMPLES\n")[2].partition("\n.SH ")[0]
    commands = (part for line in section.splitlines() for part in re.split(r"&&|;|\||>", line))
    words = (re.sub(r"^\.B |^ExecStart=/usr/bin/", "", part.strip()).split() for part in commands)
    return [command for command in words if command and command[0] in PAGES]


def own_options(command: list[str]) -> list[str]:
    """Those of the program itself: what it starts has its own."""
    found: list[str] = []
    for word in command[1:]:
        if word == "--" or word in PAGES or word in ("make", "cyclictest", "psql"):
            break
        found += [word] if re.match(r"--?[A-Za-z]", word) else []
    return found


def unknown_options(paths: Paths, command: list[str]) -> list[str]:
    """Options of a program of ours that its --help does not have."""
    text = subprocess.run(
        [paths.bin / command[0], "--help"], capture_output=True, text=True, check=True
    ).stdout
    return [
        option
        for option in own_options(command)
        if not re.search(rf"(?<![\w-]){option}(?![\w-])", text)
    ]


@pytest.mark.parametrize("name", sorted(PAGES))
def test_has_examples_that_the_program_takes(lab_paths: Paths, name: str) -> None:
    """Each begins with a program of ours, most with this one, and has options that it knows."""
    commands = examples(name)
    assert name in {command[0] for command in commands}
    for command in commands:
        assert not unknown_options(lab_paths, command), command


@pytest.mark.parametrize("name", sorted(PAGES))
def test_refers_to_pages_that_exist(name: str) -> None:
    """What looks like a page of ours is one."""
    named = set(re.findall(r"([\w-]+) \(1\)", plain(PAGES[name])))
    assert {other for other in named if other.startswith(FAMILIES)} <= set(PAGES)


def test_what_maintainers_look_after_is_there() -> None:
    """Each line of MAINTAINERS that names files names some."""
    named = re.findall(r"^F:\t(.*)", (TOP / "MAINTAINERS").read_text(), re.M)
    assert len(named) > 10 and all(list(TOP.glob(name.rstrip("/"))) for name in named)


def test_every_document_is_in_the_table_of_contents() -> None:
    """Sphinx would complain as well, where it is run."""
    folder = TOP / "Documentation"
    pages = {str(page.relative_to(folder).with_suffix("")) for page in folder.glob("**/*.rst")}
    contents = set(re.findall(r"^   ([\w/-]+)$", (folder / "index.rst").read_text(), re.M))
    assert pages == contents | {"index"}


@pytest.mark.parametrize("page", sorted((TOP / "Documentation").glob("**/*.rst")), ids=str)
def test_files_that_a_page_names_are_there(page: Path) -> None:
    """What has capitals stands for a name."""
    inside = r"``((?:configs|modules|patches|qemu|userland)/[\w./-]*)``"
    names = {name for name in re.findall(inside, page.read_text()) if name == name.lower()}
    assert not [name for name in sorted(names) if not (TOP / name).exists()]

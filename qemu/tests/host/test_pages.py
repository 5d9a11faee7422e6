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
    """The words of a page as they are typed."""
    return MARKUP.sub("", page.read_text())


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


@pytest.mark.parametrize("name", sorted(PAGES))
def test_refers_to_pages_that_exist(name: str) -> None:
    """What looks like a page of ours is one."""
    named = set(re.findall(r"([\w-]+) \(1\)", plain(PAGES[name])))
    assert {other for other in named if other.startswith(FAMILIES)} <= set(PAGES)

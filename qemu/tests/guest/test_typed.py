# SPDX-License-Identifier: GPL-2.0
"""Blocks of the documents that are for a machine with our kernel: all of a page in one boot.

And those that show what commands print: each line is there, numbers a little aside.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from lab.guest.boot import Boot, Program
from lab.guest.machine import Machine
from lab.guest.nics import IN_TREE, OURS, SOURCE, pairs
from lab.guest.vm import run_boot
from lab.paths import Paths
from tests.documents import TOP, Block, every

MACHINE = Machine(cpus=4, nics=pairs(1), modules=(OURS, IN_TREE, SOURCE))
LONGEST_S = 60
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
OFF = 0.2
"""A number may differ by such a part of itself, or by one."""
PAGES = sorted({block.file for block in every("guest")})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_a_page_says_works(lab_paths: Paths, page: Path) -> None:
    programs = tuple(
        Program(f"line-{block.line}", ("sh", "-euc", block.script()), LONGEST_S)
        for block in every("guest")
        if block.file == page
    )
    name = f"document-{page.relative_to(TOP).with_suffix('').as_posix().replace('/', '-')}"
    result = run_boot(lab_paths, Boot(name, MACHINE, programs), lab_paths.logs / "guest" / name)
    assert result.ok, "\n".join(result.problems())


def looks_like(shown: str, printed: str) -> bool:
    """The same words, and numbers that are nearly the same."""
    if NUMBER.sub("0", " ".join(shown.split())) != NUMBER.sub("0", " ".join(printed.split())):
        return False
    pairs = zip(*(map(number, NUMBER.findall(text)) for text in (shown, printed)), strict=True)
    return all(abs(one - other) <= max(1.0, OFF * one) for one, other in pairs)


def number(text: str) -> float:
    """Of digits as a person writes them."""
    return float(text.replace(",", ""))


def test_a_line_may_differ_by_a_little() -> None:
    assert looks_like("  100 R  75.0 yes", "103 R 76.1 yes")
    assert not looks_like("100 R 75.0 yes", "100 R 50.1 yes")
    assert not looks_like("100 R 75.0 yes", "100 R 75.0 no")
    assert not looks_like("55,253", "207") and looks_like("55,253", "55253")


@pytest.mark.parametrize("block", every("shown"), ids=str)
def test_what_a_page_shows_is_printed(lab_paths: Paths, block: Block) -> None:
    """All commands in one shell, as they are typed."""
    session = block.session()
    end = "-- end of a command --"
    script = "\n".join(f"{command}\necho {end}" for command, _ in session)
    lab = {"LAB_OUT": str(lab_paths.out), "PYTHONPATH": str(lab_paths.qemu), "LAB_KERNEL": "guest"}
    done = subprocess.run(
        ["sh", "-euc", script.replace("build/lab", f"{sys.executable} -m lab")],
        env={**os.environ, **lab},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    printed = [part.strip("\n").splitlines() for part in done.stdout.split(f"{end}\n")]
    for (command, shown), lines in zip(session, printed, strict=False):
        for line in shown:
            assert any(looks_like(line, one) for one in lines), (command, line, lines)

# SPDX-License-Identifier: GPL-2.0
"""Blocks of the documents that are for a machine with our kernel: all of a page in one boot."""

from pathlib import Path

import pytest

from lab.guest.boot import Boot, Program
from lab.guest.machine import Machine
from lab.guest.nics import IN_TREE, OURS, SOURCE, pairs
from lab.guest.vm import run_boot
from lab.paths import Paths
from tests.documents import TOP, every

MACHINE = Machine(cpus=4, nics=pairs(1), modules=(OURS, IN_TREE, SOURCE))
LONGEST_S = 60
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

# SPDX-License-Identifier: GPL-2.0
"""Blocks of the documents that are for a machine with our kernel: all of a page in one boot.

And those that show what commands print: each line is there, numbers a little aside.
"""

import re
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from lab.arch import ARCH
from lab.extras import Extras
from lab.guest.boot import Boot, Program
from lab.guest.machine import Machine
from lab.guest.nics import IN_TREE, OURS, SOURCE, pairs
from lab.guest.places import FLASH
from lab.guest.vm import run_boot
from lab.paths import Paths
from tests.documents import MANUALS, TOP, Block, every
from tests.guest.typist import lab_environment

EXTRAS = Extras(disk=FLASH)
MACHINE = EXTRAS.on(
    Machine(cpus=4, mem_mb=EXTRAS.mem_mb, nics=pairs(1), modules=(OURS, IN_TREE, SOURCE, "ipv6"))
)
IN_VIRTUAL_TIME = ("Documentation-man-udprate",)
"""Boots of pages whose commands fail if the machine is late: without the root image, which is the
host's and makes a guest wait for it.
"""
LIBRARIES = (
    "bpf.so.1 elf.so.1 mnl.so.0 bsd.so.0 cap.so.2 m.so.6 xtables.so.12 c.so.6 z.so.1 md.so.0"
)
IMAGE = (
    *("bin/sh", "bin/sleep", "sbin/tc", ARCH.loader),
    *(ARCH.library(f"lib{name}") for name in LIBRARIES.split()),
)
LONGEST_S = 60
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
OFF = 0.2
"""A number may differ by such a part of itself, or by one."""
OF_LARGEST = 1 / 500
"""Or by such a part of the largest number that the same command shows. In a livelock the
application gets 40 to 70 of 60,000 packets/s, and each run differs.
"""


def boot_of(block: Block) -> str:
    """All manual pages in real time have one, each other page has its own."""
    own, together = (
        page.relative_to(TOP).as_posix().replace("/", "-")
        for page in (block.file.with_suffix(""), block.file.parent)
    )
    return together if block.file in MANUALS and own not in IN_VIRTUAL_TIME else own


BOOTS = sorted({boot_of(block) for block in every("guest")})
LONG = "Documentation-man"
"""The programs of its examples are in suites of the gate."""


@pytest.mark.parametrize(
    "page", [pytest.param(boot, marks=[pytest.mark.long] * (boot == LONG)) for boot in BOOTS]
)
def test_what_a_page_says_works(lab_paths: Paths, page: str) -> None:
    exact = page in IN_VIRTUAL_TIME
    programs = [
        Program(
            f"{block.file.name}-{block.line}",
            ("sh", "-euc", block.script()),
            LONGEST_S,
            image=IMAGE if exact else (),
        )
        for block in every("guest")
        if boot_of(block) == page
    ]
    name = f"document-{page}"
    if exact:
        first = Program("extras", ("@insmod", "ipv6"))
        boot = Boot(name, replace(MACHINE, accel="icount", root=False), (first, *programs))
    else:
        first = Program("extras", EXTRAS.wrapped("insmod /lab/modules/ipv6.ko"))
        boot = Boot(name, MACHINE, (first, *programs), disk=FLASH.disk)
    result = run_boot(lab_paths, boot, lab_paths.logs / "guest" / name)
    assert result.ok, "\n".join(result.problems())


def looks_like(shown: str, printed: str, largest: float = 0) -> bool:
    """The same words, and numbers that are nearly the same beside the largest one shown."""
    if NUMBER.sub("0", " ".join(shown.split())) != NUMBER.sub("0", " ".join(printed.split())):
        return False
    off = max(1.0, OF_LARGEST * largest)
    pairs = zip(numbers(shown), numbers(printed), strict=True)
    return all(abs(one - other) <= max(off, OFF * one) for one, other in pairs)


def numbers(text: str) -> list[float]:
    """As a person writes them."""
    return [float(digits.replace(",", "")) for digits in NUMBER.findall(text)]


def test_a_line_may_differ_by_a_little() -> None:
    assert looks_like("  100 R  75.0 yes", "103 R 76.1 yes")
    assert not looks_like("100 R 75.0 yes", "100 R 50.1 yes")
    assert not looks_like("100 R 75.0 yes", "100 R 75.0 no")
    assert not looks_like("55,253", "207") and looks_like("55,253", "55253")
    assert looks_like('"goodput_pps":52.5', '"goodput_pps":41.25', 21000)
    assert not looks_like('"goodput_pps":52.5', '"goodput_pps":500', 21000)


@pytest.mark.parametrize("block", every("shown"), ids=str)
def test_what_a_page_shows_is_printed(lab_paths: Paths, block: Block) -> None:
    """All commands in one shell, as they are typed."""
    session = block.session()
    end = "-- end of a command --"
    script = "\n".join(f"{command}\necho {end}" for command, _ in session)
    done = subprocess.run(
        ["sh", "-euc", script.replace("build/lab", f"{sys.executable} -m lab")],
        env=lab_environment(lab_paths),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    printed = [part.strip("\n").splitlines() for part in done.stdout.split(f"{end}\n")]
    for (command, shown), lines in zip(session, printed, strict=False):
        largest = max(numbers("\n".join(shown)), default=0)
        for line in shown:
            assert any(looks_like(line, one, largest) for one in lines), (command, line, lines)


@pytest.mark.timed
def test_a_demo_takes_as_long_as_readme_says(lab_paths: Paths, tmp_path: Path) -> None:
    """On two CPUs, half as long more or less; the results of a person stay as they are."""
    (minutes,) = re.findall(r"then ([\d.]+) minutes a run", (TOP / "README.md").read_text())
    for name in ("kernel-guest", "userland"):
        (tmp_path / name).symlink_to(lab_paths.out / name)
    env = {**lab_environment(lab_paths), "LAB_OUT": str(tmp_path)}
    begun = time.monotonic()
    subprocess.run([sys.executable, "-m", "lab", "demo", "--jobs", "2"], env=env, check=True)
    assert time.monotonic() - begun == pytest.approx(60 * float(minutes), rel=0.5)

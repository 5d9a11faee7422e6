# SPDX-License-Identifier: GPL-2.0
"""The `course` verb: five exercises, each with a judge that tells right from wrong.

Documentation/course.rst has the exercises, Documentation/course/ what an answer begins with.
"""

import argparse
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from lab import LabError
from lab.arch import ARCH
from lab.guest import slowdisk
from lab.guest.boot import Boot, Program
from lab.guest.machine import Machine
from lab.guest.places import DEPTHS, FLASH, FOLDER, TOOLS
from lab.guest.vm import run_boot
from lab.host.program import run
from lab.paths import Paths

HERE = Path(__file__).parent
FLAGS = ("-std=gnu11", "-O2", "-Wall", "-I", str(HERE))
LONGEST_S = 60
RIGHT = "right"
SHELL = "lab/judge.sh"
ANSWER = "lab/answer"


@dataclass(frozen=True)
class Verdict:
    """What a judge says; right, or why not."""

    right: bool
    said: str


def compiled(argv: list[str], to: Path) -> Path:
    """A program.  Raises LabError if the compiler does not take it."""
    done = run(*argv, "-o", str(to))
    if done.status:
        raise LabError(f"the compiler does not take it:\n{done.said.rstrip()}", exit_code=1)
    return to


def beside_judge(name: str) -> Callable[[Paths, Path, Path], Verdict]:
    """A judge that is linked with the answer."""

    def judge(paths: Paths, answer: Path, scratch: Path) -> Verdict:
        include = scratch / "include/linux"
        include.mkdir(parents=True)
        (include / "lottery").symlink_to(paths.modules / "sched_lottery/include")
        # what both have of the kernel: lists, trees and types
        kernel = (HERE / "include", scratch / "include", paths.linux / "tools/include")
        words = [word for folder in kernel for word in ("-I", str(folder))]
        sources = (str(HERE / f"judge_{name}.c"), str(answer))
        program = compiled(["gcc", *FLAGS, *words, *sources, "-lm"], scratch / "judge")
        try:
            done = subprocess.run(
                [program], capture_output=True, text=True, timeout=LONGEST_S, check=False
            )
        except subprocess.TimeoutExpired:
            return Verdict(False, f"wrong: no end after {LONGEST_S} s")
        said = done.stdout.strip()
        if done.returncode < 0:
            return Verdict(False, f"wrong: it ended by signal {-done.returncode}")
        return Verdict(done.returncode == 0 and said == RIGHT, said)

    return judge


def in_guest(paths: Paths, answer: Path, scratch: Path) -> Verdict:
    """A program that runs under writers on a slow disk, in virtual time."""
    program = compiled([f"{ARCH.cross}gcc", *FLAGS, "-static", str(answer)], scratch / "answer")
    script = HERE / "judge_wait.sh"
    argv = ("busybox", "sh", f"/{SHELL}", f"/{ANSWER}", FOLDER, slowdisk.DEVICE)
    judged = Program(
        "judge", argv, 600, files={SHELL: script, ANSWER: program}, image=TOOLS, busy_s=30
    )
    machine = Machine(
        mem_mb=FLASH.mem_mb, accel="icount", append=FLASH.words(DEPTHS[0]), root=False
    )
    boot = Boot("course-wait", machine, (*FLASH.programs(), judged), disk=FLASH.disk, defer=True)
    result = run_boot(paths, boot, paths.logs / "course-wait")
    found = result.program(judged.name)
    said = "\n".join(found.output)
    if result.ok:
        return Verdict(said == RIGHT, said)
    return Verdict(False, said or "; ".join(result.problems()))


JUDGES: Mapping[str, Callable[[Paths, Path, Path], Verdict]] = {
    **{name: beside_judge(name) for name in ("pool", "draw", "strategy", "interval")},
    "wait": in_guest,
}


def judge(paths: Paths, name: str, answer: Path) -> Verdict:
    """What is to be said of an answer.  Raises LabError for a name or a file that is not there."""
    if name not in JUDGES:
        raise LabError(f"exercise '{name}': there are {', '.join(JUDGES)}")
    if not answer.is_file():
        raise LabError(f"{answer}: no such file")
    with tempfile.TemporaryDirectory() as scratch:
        return JUDGES[name](paths, answer.absolute(), Path(scratch))


def register(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "judge the answer to an exercise: right, or what is wrong; see Documentation/course.rst"
    )
    parser.add_argument("name", help=f"one of {', '.join(JUDGES)}")
    parser.add_argument("file", type=Path, help="the answer, C")


def verb(args: argparse.Namespace) -> int:
    verdict = judge(Paths.from_env(), args.name, args.file)
    print(verdict.said)
    return 0 if verdict.right else 1

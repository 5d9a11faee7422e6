# SPDX-License-Identifier: GPL-2.0
"""PID 1 in a real guest: what it reports of entries that end in every possible way."""

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from lab.arch import ARCH
from lab.guest.accel import apply, asked_for
from lab.guest.boot import Boot, Program
from lab.guest.console import Kind
from lab.guest.ktap import Status
from lab.guest.machine import Machine
from lab.guest.result import BootResult, Outcome
from lab.guest.vm import run_boot, run_command
from lab.paths import Paths
from lab.suite import BOUNDS_OFF

WALL_S = 300.0


def sh(name: str, script: str, timeout_s: int = 60) -> Program:
    """A script as an entry."""
    return Program(name, ("sh", "-c", script), timeout_s)


OK, FAIL, SKIP, TIMEOUT = Status.OK, Status.FAIL, Status.SKIP, Status.TIMEOUT

ENTRIES = (
    (sh("output", r"echo one; printf 'two\nthree'"), OK, ""),
    (sh("garbage", r"printf '\377\000\nnot ok 1 fake\nKTAP\n'"), OK, ""),
    (sh("exit-3", "echo first >&2; echo 'the reason' >&2; exit 3"), FAIL, "exit 3: the reason"),
    (sh("skip", "echo 'no such disk' >&2; exit 4"), SKIP, "no such disk"),
    (sh("signal", "kill -SEGV $$"), FAIL, "signal 11"),
    (
        Program("missing", ("no-such-program",), 60),
        FAIL,
        "exit 127: lab: cannot run no-such-program: No such file or directory",
    ),
    (sh("timeout", "setsid sleep 1000 & echo waiting; exec sleep 1000", 2), TIMEOUT, "timeout"),
    (sh("leftover", "setsid sleep 1000 & exit 0"), OK, ""),
    (sh("nothing-left", "! grep -qx sleep /proc/[0-9]*/comm"), OK, ""),
    (
        sh("lie", r"printf 'KTAP version 1\n1..2\nok 1 a\nnot ok 2 b\n'"),
        FAIL,
        "1 of 2 subtests failed: b",
    ),
    (sh("flood", "head -c 20000000 /dev/zero"), FAIL, "too much output"),
    (sh("stdin", "[ $(wc -c) -eq 0 ]"), OK, ""),
    (
        sh(
            "orphans",
            "for i in $(seq 30); do (true &); done; "
            "while grep -qs '^State:.Z' /proc/[0-9]*/status; do :; done",
        ),
        OK,
        "",
    ),
    (sh("ordinary", "chrt -p $$ | grep SCHED_OTHER && chrt -p 1 | grep SCHED_FIFO"), OK, ""),
    (sh("quoted", "echo 'WARNING: says a program' >&2"), OK, ""),
    (Program("cat", ("@cat", "/proc/cmdline"), 60), OK, ""),
    (
        Program("missing-file", ("@cat", "/no/such"), 60),
        FAIL,
        "exit 1: @cat: /no/such: No such file or directory",
    ),
    (Program("bad-builtin", ("@dog",), 60), FAIL, "exit 2: @dog: no such builtin with 0 arguments"),
    (Program("odd-arguments", ("printf", "%s|", "a\tb", "c\nd", "e\\f", ""), 60), OK, ""),
)
"""Programs, the status of each, and how the reason for it begins."""
PROGRAMS = tuple(program for program, _, _ in ENTRIES)

# More of them than PID 1 may have open files.
UNSTARTED = tuple(f"unstarted-{i}" for i in range(600))


@dataclass
class Boots:
    """Boots for these tests, with their logs in a place of their own."""

    paths: Paths
    machine: Machine

    def log_dir(self, name: str) -> Path:
        """Where the logs of a boot are."""
        return self.paths.logs / self.machine.kernel / f"init-{name}"

    def here(self, boot: Boot) -> Boot:
        """The boot as it is to be run on this host."""
        return replace(boot, machine=apply(self.paths, boot.machine, asked_for(None)))

    def run(self, boot: Boot) -> BootResult:
        """Boot and run the programs."""
        return run_boot(self.paths, self.here(boot), self.log_dir(boot.name), lost_s=WALL_S)

    def programs(self, name: str, programs: tuple[Program, ...]) -> BootResult:
        """The same on the ordinary machine."""
        return self.run(Boot(name, self.machine, programs))


@pytest.fixture(scope="module")
def boots(lab_paths: Paths) -> Boots:
    """Boots of an ordinary machine."""
    return Boots(lab_paths, Machine())


@pytest.fixture(scope="module")
def result(boots: Boots) -> BootResult:
    """One boot for all programs, the last of which the kernel has no room for."""
    full = sh("full", "echo 20 >/proc/sys/kernel/threads-max")
    unstarted = (sh(name, "true") for name in UNSTARTED)
    return boots.programs("programs", (*PROGRAMS, full, *unstarted))


@pytest.mark.parametrize(
    ("entry", "status", "reason"), ENTRIES, ids=[program.name for program in PROGRAMS]
)
def test_status(result: BootResult, entry: Program, status: Status, reason: str) -> None:
    """Each end has its own words."""
    program = result.program(entry.name)
    assert program.status is status, program
    assert program.reason.startswith(reason) if reason else program.reason == ""


def test_output(result: BootResult) -> None:
    """Standard output arrives line by line, whatever is in it."""
    assert result.program("output").output == ["one", "two", "three"]
    assert result.program("garbage").output[1:] == ["not ok 1 fake", "KTAP"]
    assert result.program("timeout").output == ["waiting"]
    assert f"console={ARCH.tty}" in result.program("cat").output[0]
    assert result.program("odd-arguments").output == ["a\tb|c", "d|e\\f||"]


def test_unstarted(result: BootResult) -> None:
    """What could not be started leaves nothing open behind it."""
    reasons = {result.program(name).reason for name in UNSTARTED}
    assert reasons == {"exit 126: cannot start: Resource temporarily unavailable"}


def test_whole_run(result: BootResult) -> None:
    """Bad entries do not disturb the guest: it goes on, and powers off."""
    assert result.outcome is Outcome.DONE and result.errors == [] and result.splats == []
    assert not result.ok


def test_the_switch_for_bounds_reaches_programs(boots: Boots) -> None:
    """Of the kernel's command line nothing else does."""
    machine = boots.machine.with_append(BOUNDS_OFF, "LAB_OTHER=1")
    told = sh("told", 'echo "$LAB_BOUNDS,$LAB_OTHER"')
    run = boots.run(Boot("bounds", machine, (told,)))
    assert run.ok and run.program("told").output == ["off,"]


def test_deferred(boots: Boots) -> None:
    """The same results when they are kept until the end."""
    result = boots.run(Boot("deferred", boots.machine, PROGRAMS[:4], defer=True))
    assert [program.status for program in result.programs] == [OK, OK, FAIL, SKIP]
    assert result.program("output").output == ["one", "two", "three"]


def test_panic(boots: Boots) -> None:
    """A panic ends the run at once; the entry that caused it crashed."""
    programs = (
        sh("before", "true"),
        sh("crash", "echo c >/proc/sysrq-trigger"),
        sh("after", "true"),
    )
    result = boots.programs("panic", programs)
    assert result.outcome is Outcome.PANIC
    assert [program.status for program in result.programs] == [OK, Status.CRASH, Status.CRASH]
    assert (Kind.PANIC, "crash") in {(splat.kind, splat.entry) for splat in result.splats}


def test_splat(boots: Boots) -> None:
    """A line of the kernel's log is found and attributed."""
    programs = (sh("quiet", "true"), sh("loud", "echo '<4>WARNING: x' >/dev/kmsg"))
    result = boots.programs("splat", programs)
    assert [program.status for program in result.programs] == [OK, OK]
    assert [(splat.kind, splat.entry) for splat in result.splats] == [(Kind.WARNING, "loud")]


def test_no_memory(boots: Boots) -> None:
    """PID 1 that has none left for the output says so and powers off."""
    program = sh(
        "hog",
        "set -- $(grep Committed_AS /proc/meminfo) && "
        "echo $(($2 + 4000)) >/proc/sys/vm/overcommit_kbytes && "
        "echo 2 >/proc/sys/vm/overcommit_memory && head -c 15000000 /dev/zero",
    )
    result = boots.run(Boot("no-memory", boots.machine, (program,), defer=True))
    assert result.outcome is Outcome.DIED and result.splats == []
    console = result.console.read_text()
    assert "lab: no memory" in console and console.rstrip().endswith("reboot: Power down")


class BadPlan(Boot):
    """A plan that PID 1 cannot read."""

    def render(self) -> str:
        """An item that there is not."""
        return "mode\tplan\nentri\ta\t1\ttrue\n"


def test_bad_plan(boots: Boots) -> None:
    """One clear message, no entry run, power off."""
    machine = replace(boots.machine, root=False)
    result = boots.run(BadPlan("bad-plan", machine, (sh("a", "true"),)))
    assert result.outcome is Outcome.DONE and not result.ok
    assert "lab: plan: line 2: bad item 'entri'" in result.console.read_text()


def test_no_disk(boots: Boots) -> None:
    """A root image that does not come: the guest says so instead of hanging."""
    machine = replace(boots.machine, root=False, accel="icount", icount_shift=3)
    boot = Boot("no-disk", machine.with_append("lab.root=vda"), (sh("a", "true"),))
    result = run_boot(boots.paths, boot, boots.log_dir("no-disk"), lost_s=WALL_S)
    assert result.outcome is Outcome.DONE and not result.ok
    assert "lab: root image: no /dev/vda after 10 s" in result.console.read_text()


@pytest.mark.parametrize(
    ("script", "output", "status"),
    [
        ("echo hi; echo there >&2; exit 7", b"hi\nthere\n", 7),
        (r"printf 'a\0b\n\n# lab: exit 9'; kill -TERM $$", b"a\0b\n\n# lab: exit 9", 143),
    ],
    ids=["exit", "signal"],
)
def test_command(boots: Boots, script: str, output: bytes, status: int) -> None:
    """Output byte by byte, and the exit status."""
    program = Program("command", ("sh", "-c", script), 0)
    boot = boots.here(Boot("command", boots.machine, (program,), mode="command"))
    got: list[bytes] = []
    result = run_command(boots.paths, boot, WALL_S, boots.log_dir("command"), got.append)
    assert (b"".join(got), result.status) == (output, status)
    assert result.outcome is Outcome.DONE and result.errors == []

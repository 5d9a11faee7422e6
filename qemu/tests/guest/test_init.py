# SPDX-License-Identifier: GPL-2.0
"""PID 1 in a real guest: what it reports of entries that end in every possible way."""

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from lab.console import Kind
from lab.ktap import Status
from lab.machine import Machine
from lab.paths import Paths
from lab.plan import Plan, PlanEntry
from lab.suites import SuiteRuns
from lab.vm import Outcome, RunResult, run_command, run_plan

WALL_S = 300.0


def sh(name: str, script: str, timeout_s: int = 60) -> PlanEntry:
    """A script as an entry."""
    return PlanEntry(name, ("sh", "-c", script), timeout_s)


ENTRIES = (
    sh("output", r"echo one; printf 'two\nthree'"),
    sh("garbage", r"printf '\377\000\nnot ok 1 fake\nKTAP\n'"),
    sh("exit-3", "echo first >&2; echo 'the reason' >&2; exit 3"),
    sh("skip", "echo 'no such disk' >&2; exit 4"),
    sh("signal", "kill -SEGV $$"),
    PlanEntry("missing", ("no-such-program",), 60),
    sh("timeout", "setsid sleep 1000 & echo waiting; exec sleep 1000", 2),
    sh("leftover", "setsid sleep 1000 & exit 0"),
    sh("nothing-left", "! grep -qx sleep /proc/[0-9]*/comm"),
    sh("lie", r"printf 'KTAP version 1\n1..2\nok 1 a\nnot ok 2 b\n'"),
    sh("flood", "head -c 20000000 /dev/zero"),
    sh("stdin", "[ $(wc -c) -eq 0 ]"),
    sh(
        "orphans",
        "for i in $(seq 30); do (true &); done; "
        "while grep -qs '^State:.Z' /proc/[0-9]*/status; do :; done",
    ),
    sh("ordinary", "chrt -p $$ | grep SCHED_OTHER && chrt -p 1 | grep SCHED_FIFO"),
    sh("quoted", "echo 'WARNING: says a program' >&2"),
    PlanEntry("cat", ("@cat", "/proc/cmdline"), 60),
    PlanEntry("bad-builtin", ("@dog",), 60),
    PlanEntry("odd-arguments", ("printf", "%s|", "a\tb", "c\nd", "e\\f", ""), 60),
)

OK, FAIL, SKIP, TIMEOUT = Status.OK, Status.FAIL, Status.SKIP, Status.TIMEOUT


@dataclass
class Boots:
    """Boots for these tests, with their logs in a place of their own."""

    runs: SuiteRuns
    paths: Paths
    machine: Machine

    def log_dir(self, name: str) -> Path:
        """Where the logs of a boot are."""
        return self.paths.logs / self.machine.kernel / f"init-{name}"

    def plan(self, name: str, plan: Plan, machine: Machine | None = None) -> RunResult:
        """Boot and carry out a plan."""
        chosen = self.runs.machine(machine or self.machine)
        return run_plan(self.paths, chosen, plan, WALL_S, self.log_dir(name))


@pytest.fixture(scope="module")
def boots(guest_runs: SuiteRuns, lab_paths: Paths) -> Boots:
    """Boots of an ordinary machine."""
    return Boots(guest_runs, lab_paths, Machine())


@pytest.fixture(scope="module")
def result(boots: Boots) -> RunResult:
    """One boot for all entries."""
    return boots.plan("entries", Plan(ENTRIES))


@pytest.mark.parametrize(
    ("name", "status", "reason"),
    [
        ("output", OK, ""),
        ("garbage", OK, ""),
        ("exit-3", FAIL, "exit 3: the reason"),
        ("skip", SKIP, "no such disk"),
        ("signal", FAIL, "signal 11"),
        ("missing", FAIL, "exit 127: no-such-program: No such file or directory"),
        ("timeout", TIMEOUT, "timeout"),
        ("leftover", OK, ""),
        ("nothing-left", OK, ""),
        ("lie", FAIL, "1 of 2 subtests failed: b"),
        ("flood", FAIL, "too much output"),
        ("stdin", OK, ""),
        ("orphans", OK, ""),
        ("ordinary", OK, ""),
        ("quoted", OK, ""),
        ("cat", OK, ""),
        ("bad-builtin", FAIL, "exit 2: @dog with 0 arguments: no such builtin"),
        ("odd-arguments", OK, ""),
    ],
    ids=[entry.name for entry in ENTRIES],
)
def test_status(result: RunResult, name: str, status: Status, reason: str) -> None:
    """Each end has its own words."""
    entry = result.entry(name)
    assert entry.status is status, entry
    assert entry.reason.startswith(reason) if reason else entry.reason == ""


def test_output(result: RunResult) -> None:
    """Standard output arrives line by line, whatever is in it."""
    assert result.entry("output").output == ["one", "two", "three"]
    assert result.entry("garbage").output[1:] == ["not ok 1 fake", "KTAP"]
    assert result.entry("timeout").output == ["waiting"]
    assert "console=ttyS0" in result.entry("cat").output[0]
    assert result.entry("odd-arguments").output == ["a\tb|c", "d|e\\f||"]


def test_whole_run(result: RunResult) -> None:
    """Bad entries do not disturb the guest: it goes on, and powers off."""
    assert result.outcome is Outcome.DONE and result.errors == [] and result.splats == []
    assert not result.ok


def test_deferred(boots: Boots) -> None:
    """The same results when they are kept until the end."""
    plan = Plan(ENTRIES[:4], defer=True)
    result = boots.plan("deferred", plan)
    assert [entry.status for entry in result.entries] == [OK, OK, FAIL, SKIP]
    assert result.entry("output").output == ["one", "two", "three"]


def test_panic(boots: Boots) -> None:
    """A panic ends the run at once; the entry that caused it crashed."""
    entries = (
        sh("before", "true"),
        sh("crash", "echo c >/proc/sysrq-trigger"),
        sh("after", "true"),
    )
    result = boots.plan("panic", Plan(entries))
    assert result.outcome is Outcome.PANIC
    assert [e.status for e in result.entries] == [OK, Status.CRASH, Status.CRASH]
    assert (Kind.PANIC, "crash") in {(splat.kind, splat.entry) for splat in result.splats}


def test_splat(boots: Boots) -> None:
    """A line of the kernel's log is found and attributed."""
    entries = (sh("quiet", "true"), sh("loud", "echo '<4>WARNING: x' >/dev/kmsg"))
    result = boots.plan("splat", Plan(entries))
    assert [entry.status for entry in result.entries] == [OK, OK]
    assert [(splat.kind, splat.entry) for splat in result.splats] == [(Kind.WARNING, "loud")]


class BadPlan(Plan):
    """A plan that PID 1 cannot read."""

    def render(self) -> str:
        """An item that there is not."""
        return "mode\tplan\nentri\ta\t1\ttrue\n"


def test_bad_plan(boots: Boots) -> None:
    """One clear message, no entry run, power off."""
    machine = replace(boots.machine, root=False)
    result = boots.plan("bad-plan", BadPlan((sh("a", "true"),)), machine)
    assert result.outcome is Outcome.DONE and not result.ok
    assert "lab: plan: line 2: bad item 'entri'" in result.console.read_text()


def test_no_disk(boots: Boots) -> None:
    """A root image that does not come: the guest says so instead of hanging."""
    machine = replace(boots.machine, root=False, accel="icount", icount_shift=3)
    result = run_plan(
        boots.paths,
        machine.with_append("lab.root=vda"),
        Plan((sh("a", "true"),)),
        WALL_S,
        boots.log_dir("no-disk"),
    )
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
    plan = Plan((PlanEntry("command", ("sh", "-c", script), 0),), mode="command")
    got: list[bytes] = []
    machine = boots.runs.machine(boots.machine)
    result = run_command(boots.paths, machine, plan, WALL_S, boots.log_dir("command"), got.append)
    assert (b"".join(got), result.status) == (output, status)
    assert result.outcome is Outcome.DONE and result.errors == []

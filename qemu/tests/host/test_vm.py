# SPDX-License-Identifier: GPL-2.0
"""The runner fails when it must: recorded guests replayed by a fake QEMU, no VM."""

import fcntl
import math
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lab import LabError
from lab.guest.boot import Boot, Program
from lab.guest.console import Kind
from lab.guest.ktap import Status
from lab.guest.machine import Machine
from lab.guest.result import BootResult, Outcome
from lab.guest.vm import CommandStream, Tail, Watch, run_boot
from lab.paths import Paths
from tests.apart import QEMU
from tests.host.checkouts import script
from tests.host.programs import wait_until
from tests.session import PROGRAMS

OK, FAIL, SKIP, CRASH, TIMEOUT = Status.OK, Status.FAIL, Status.SKIP, Status.CRASH, Status.TIMEOUT

Replay = Callable[..., BootResult]


@pytest.fixture
def replay(built: Paths, fake_machine: Machine, tmp_path: Path) -> Replay:
    def run(
        name: str, end: str = "exit", programs: tuple[Program, ...] = PROGRAMS, **limits: Any
    ) -> BootResult:
        machine = fake_machine.with_append(f"fake.replay={name}", f"fake.end={end}")
        boot = Boot("recorded", machine, programs)
        return run_boot(built, boot, tmp_path / "logs", **{"lost_s": 30, "grace_s": 0.3, **limits})

    return run


def statuses(result: BootResult) -> list[Status]:
    assert [program.name for program in result.programs] == [p.name for p in PROGRAMS]
    return [program.status for program in result.programs]


def test_ok(replay: Replay, tmp_path: Path) -> None:
    """The only run that is; its command, its console and its stream stay to be read."""
    result = replay("ok")
    assert result.ok and result.problems() == []
    assert result.outcome is Outcome.DONE
    assert statuses(result) == [OK, OK, OK]
    assert result.program("gamma").output == ["two lines", "of output"]
    assert result.program("beta").output == []
    logs = tmp_path / "logs"
    assert "fake-qemu" in (logs / "command").read_text()
    assert "lab: power off" in (logs / "console.log").read_text()
    assert (logs / "result.ktap").read_text().startswith("KTAP version 1\n")


@pytest.mark.parametrize(
    ("name", "expected", "problem"),
    [
        ("fail", [OK, FAIL, OK], "beta: fail: exit 1: beta: expected 3, got 4"),
        ("all-skip", [SKIP, SKIP, SKIP], "all 3 programs were skipped"),
        ("truncated", [OK, OK, CRASH], "truncated: 2 of 3 results"),
        ("timeout", [OK, TIMEOUT, OK], "beta: timeout: timeout"),
        ("count", [OK, OK, CRASH], "the guest planned 2 programs, not 3"),
        ("silent", [CRASH, CRASH, CRASH], "no KTAP version line"),
        ("bad-plan", [CRASH, CRASH, CRASH], "alpha: crash: its result is named 'init'"),
        ("nested", [FAIL, OK, FAIL], "truncated: 1 of 2 results"),
    ],
)
def test_bad_stream(replay: Replay, name: str, expected: list[Status], problem: str) -> None:
    result = replay(name)
    assert not result.ok
    assert statuses(result) == expected
    assert problem in "\n".join(result.problems())


def test_skip_is_no_failure(replay: Replay) -> None:
    result = replay("skip")
    assert result.ok and statuses(result) == [OK, SKIP, OK]
    assert result.program("beta").reason == "this kernel has no kmemleak"


def test_splat_fails_a_good_run(replay: Replay) -> None:
    result = replay("warn")
    assert statuses(result) == [OK, OK, OK] and result.errors == []
    assert not result.ok
    assert {(splat.kind, splat.entry) for splat in result.splats} == {(Kind.WARNING, "beta")}


def test_what_a_program_provokes_is_its_own(replay: Replay) -> None:
    alpha, beta, gamma = PROGRAMS
    warns = replace(beta, provokes=(Kind.OOM, Kind.WARNING))
    assert replay("warn", programs=(alpha, warns, gamma)).ok
    for programs in (
        (alpha, replace(beta, provokes=(Kind.OOM,)), gamma),
        (replace(alpha, provokes=(Kind.WARNING,)), beta, gamma),
    ):
        assert [splat.entry for splat in replay("warn", programs=programs).splats] == ["beta"]


def test_a_program_that_must_print_ktap(replay: Replay) -> None:
    """Status 0 alone does not do."""
    alpha, beta, gamma = PROGRAMS
    result = replay("ok", programs=(alpha, replace(beta, argv=("beta", "--ktap")), gamma))
    assert not result.ok
    assert result.program("beta").reason == "it printed no KTAP"


def test_panic(replay: Replay) -> None:
    result = replay("panic", end="hang")
    assert result.outcome is Outcome.PANIC and result.seconds < 20
    assert statuses(result) == [OK, CRASH, CRASH]
    assert result.program("beta").output == ["beta had got as far as this"]
    assert result.program("gamma").reason == "not run: the guest ended in beta"
    assert {splat.kind for splat in result.splats} == {Kind.OOPS, Kind.PANIC}


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"lost_s": 5}, "the watchdog ended the guest after 5 s"),
        ({"silence_s": 5}, "the watchdog ended the guest: silent for 5 s"),
    ],
    ids=["slow", "silent"],
)
def test_watchdog(replay: Replay, limits: dict[str, float], said: str) -> None:
    """The entry that was running gets the blame."""
    result = replay("hang", end="hang", **limits)
    assert result.outcome is Outcome.TIMEOUT
    assert statuses(result) == [OK, TIMEOUT, CRASH]
    assert result.program("beta").output == ["beta waits for"]
    assert result.errors[0] == said


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr("time.monotonic", made)
    return made


WATCHED = Boot("watched", Machine(), PROGRAMS)


def test_one_that_speaks_is_not_silent(clock: Clock) -> None:
    watch = Watch(WATCHED, 2000, 600)
    for _ in range(3):
        clock.now += 600
        assert not watch.expired
        watch.heard()
    clock.now += 201
    assert watch.expired and watch.why == "the watchdog ended the guest after 2001 s"


def test_one_that_is_silent_has_no_time_left(clock: Clock) -> None:
    watch = Watch(WATCHED, 2000, 600)
    clock.now = 601
    assert watch.expired and watch.why == "the watchdog ended the guest: silent for 600 s"


def test_what_is_heard(replay: Replay, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its console as well as its results; nothing where there is nothing."""
    heard: list[bytes] = []
    said = [b"", b"", b"console", b"", b"", b"results", b"", b""]
    monkeypatch.setattr(Tail, "read", lambda tail: said.pop(0) if said else b"")
    monkeypatch.setattr(Watch, "heard", lambda watch: heard.append(b"".join(said)))
    replay("hang", end="hang", lost_s=5)
    assert heard == [b"results", b""]


@pytest.mark.parametrize(
    ("boot", "silence_s"),
    [
        (Boot("b"), 600),
        (Boot("b", Machine(kernel="debug")), 600),
        (Boot("b", Machine(kernel="torture")), math.inf),
        (Boot("b", defer=True), math.inf),
    ],
)
def test_only_some_guests_may_be_silent(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, boot: Boot, silence_s: float
) -> None:
    told: list[float] = []

    def watch(_boot: Boot, _lost_s: float, silence_s: float) -> Watch:
        told.append(silence_s)
        raise LabError("seen")

    monkeypatch.setattr("lab.guest.vm.Watch", watch)
    with pytest.raises(LabError, match="seen"):
        run_boot(Paths(tmp_path, tmp_path), boot, tmp_path / "logs")
    assert told == [silence_s]


def test_each_program_has_its_own_time(clock: Clock) -> None:
    watch = Watch(WATCHED, WATCHED.lost_s())
    watch.follow(0)
    clock.now = WATCHED.program_lost_s(PROGRAMS[0]) - 1
    assert not watch.expired
    watch.follow(1)
    clock.now += WATCHED.program_lost_s(PROGRAMS[1])
    assert clock.now < WATCHED.lost_s() and not watch.expired
    clock.now += 1
    assert watch.expired


def test_each_program_has_its_seconds(clock: Clock) -> None:
    """Of two that were seen to have ended at once, the first has all."""
    watch = Watch(WATCHED, 2000)
    for done, later in ((0, 5), (0, 2), (1, 1), (len(PROGRAMS), 4)):
        clock.now += later
        watch.follow(done)
    assert watch.took_s == [3, 4, *[0] * (len(PROGRAMS) - 2)]


def test_what_the_hypervisor_took_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    stat = tmp_path / "stat"
    monkeypatch.setattr("lab.guest.vm.STAT", stat)
    stat.write_text("cpu  1 2 3 4 5 6 7 800 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\n")
    watch = Watch(WATCHED, 2000)
    stat.write_text("cpu  1 2 3 4 5 6 7 1050 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\n")
    assert watch.stolen_s == 250 / os.sysconf("SC_CLK_TCK")


def test_no_power_off(replay: Replay) -> None:
    result = replay("ok", end="hang")
    assert result.outcome is Outcome.STUCK
    assert statuses(result) == [OK, OK, OK] and not result.ok
    assert result.errors == ["no power off within 0.3 s"]


@pytest.mark.parametrize(
    ("end", "words"),
    [("signal", "signal 9"), ("status", "exit 1: qemu: could not open disk image")],
)
def test_qemu_dies(replay: Replay, end: str, words: str) -> None:
    for name, expected in (("ok", [OK, OK, OK]), ("hang", [OK, CRASH, CRASH])):
        result = replay(name, end=end)
        assert result.outcome is Outcome.DIED and not result.ok
        assert statuses(result) == expected
        assert f"QEMU ended early: {words}" in result.errors
    # as after a triple fault
    result = replay("hang")
    assert result.outcome is Outcome.DIED and statuses(result) == [OK, CRASH, CRASH]


def test_no_qemu(built: Paths, tmp_path: Path) -> None:
    machine = Machine(qemu=str(tmp_path / "no-qemu"))
    with pytest.raises(LabError, match="no-qemu is not installed: make deps"):
        run_boot(built, Boot("none", machine, PROGRAMS), tmp_path / "logs")


def test_directory_in_use(replay: Replay, tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    with (tmp_path / "logs" / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(LabError, match="in use"):
            replay("ok")


def test_old_results_are_cleared(replay: Replay, tmp_path: Path) -> None:
    assert replay("ok").ok
    assert statuses(replay("silent")) == [CRASH, CRASH, CRASH]


def gone(pid: int) -> bool:
    """Or a killed orphan that waits to be reaped."""
    status = Path(f"/proc/{pid}/status")
    try:
        return "State:\tZ" in status.read_text()
    except OSError:
        return True


def test_only_own_process_is_ended(built: Paths, tmp_path: Path) -> None:
    """The whole process group of the fake goes, with a child that it started."""
    pids = tmp_path / "pids"
    forking = script(tmp_path / "qemu", f"#!/bin/sh\nsleep 600 &\necho $$ $! >{pids}\nwait\n")
    machine = Machine(qemu=str(forking))
    run_boot(built, Boot("forks", machine, PROGRAMS), tmp_path / "logs", lost_s=5)
    wait_until(lambda: all(gone(int(pid)) for pid in pids.read_text().split()))


RUNNER = """
import sys
from pathlib import Path
from lab.guest.machine import Machine
from lab.paths import Paths
from lab.guest.boot import Boot
from lab.guest.vm import run_boot
run_boot(Paths.from_env(), Boot("sleeps", Machine(qemu=sys.argv[1])), Path(sys.argv[2]))
"""


@pytest.mark.skipif(not shutil.which("setpriv"), reason="no setpriv on this host")
def test_killed_runner_takes_the_guest_along(built: Paths, tmp_path: Path) -> None:
    pipe = tmp_path / "pid"
    os.mkfifo(pipe)
    sleeping = script(tmp_path / "qemu", f"#!/bin/sh\necho $$ >{pipe}\nexec sleep 600\n")
    environ = {**os.environ, "LAB_OUT": str(built.out), "PYTHONPATH": str(QEMU)}
    argv = [sys.executable, "-c", RUNNER, str(sleeping), str(tmp_path / "logs")]
    with subprocess.Popen(argv, env=environ) as runner:
        pid = int(pipe.read_text())
        runner.kill()
    wait_until(lambda: gone(pid))


def feed(*pieces: bytes) -> tuple[bytes, int | None]:
    out: list[bytes] = []
    stream = CommandStream(out.append)
    for piece in pieces:
        stream.feed(piece)
    status = stream.close()
    return b"".join(out), status


@pytest.mark.parametrize(
    ("sent", "output", "status"),
    [
        (b"hi\n\n# lab: exit 7\n", b"hi\n", 7),
        (b"no newline\n# lab: exit 0\n", b"no newline", 0),
        (b"\n# lab: exit 137\n", b"", 137),
        (b"\n# lab: exit 1\nfake\n# lab: exit 2\n", b"\n# lab: exit 1\nfake", 2),
        (b"\xff\x00\n\n\n# lab: exit 3\n", b"\xff\x00\n\n", 3),
        (b"cut off\n# lab: ex", b"cut off\n# lab: ex", None),
        (b"cut off\n# lab: exit 4", b"cut off\n# lab: exit 4", None),
        (b"", b"", None),
    ],
)
def test_command_stream(sent: bytes, output: bytes, status: int | None) -> None:
    assert feed(sent) == (output, status)
    assert feed(*(sent[i : i + 1] for i in range(len(sent)))) == (output, status)
    half = len(sent) // 2
    assert feed(sent[:half], sent[half:]) == (output, status)

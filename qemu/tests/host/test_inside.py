# SPDX-License-Identifier: GPL-2.0
"""Tests that run inside a guest: what they print is what happened, and its reader agrees."""

import os
import signal
import subprocess
import sys
from contextlib import nullcontext
from errno import EINVAL, EIO, ENOENT, ENOSPC
from pathlib import Path

import pytest

from inside import calls, ktap, lottery, lottery_api, wrais
from inside.ktap import Case, Test, Tests
from inside.task import released
from inside.workers import Workers
from inside.wrais_disk import Disk
from inside.wrais_tasks import Crew, Use
from lab.guest import python
from lab.guest.ktap import Document, Status, parse

CPU = "cpu 0 pool list tasks 1 tickets 20 lotteries 300"
OPS = "enqueue_count 1 enqueue_ns 2 dequeue_count 3 dequeue_ns 4 draw_count 5 draw_ns 6"
HEAD = "version 1\ntick_ns 1000000\nstats"


def raise_one(_: Case) -> None:
    """It cannot go on."""
    raise OSError("no such thing")


def fail_and_skip(case: Case) -> None:
    """What failed before stays failed."""
    case.equal(1, 2, "sum")
    case.skip("no card")


def miss(case: Case) -> None:
    """It goes on after that."""
    case.expect_bound(False, "3 of 4 %")
    case.note("two\nlines")


def run(capfd: pytest.CaptureFixture[str], tests: Tests) -> tuple[object, list[str], Document]:
    """The exit code of a program of these tests, and what it printed."""
    with pytest.raises(SystemExit) as ended:
        ktap.run(tests)
    lines = capfd.readouterr().out.splitlines()
    return ended.value.code, lines, parse(lines)


@pytest.mark.parametrize("depth", range(3))
@pytest.mark.parametrize(
    ("test", "bounds", "code", "status", "said"),
    [
        (lambda case: case.expect([0], "not said"), "on", ktap.GOOD, Status.OK, []),
        (lambda case: case.expect("", "empty"), "off", ktap.FAILED, Status.FAIL, ["# empty"]),
        (fail_and_skip, "on", ktap.FAILED, Status.FAIL, ["# sum: 1, wanted 2"]),
        (raise_one, "on", ktap.FAILED, Status.FAIL, ["# OSError: no such thing"]),
        (lambda case: case.skip("no card"), "on", ktap.SKIPPED, Status.SKIP, []),
        (lambda case: case.expect_bound(1, "4 %"), "on", ktap.GOOD, Status.OK, ["# 4 %"]),
        (miss, "on", ktap.FAILED, Status.FAIL, ["# 3 of 4 %", "# two", "# lines"]),
        (miss, "off", ktap.GOOD, Status.OK, ["# bound missed: 3 of 4 %", "# two", "# lines"]),
    ],
)
def test_a_test(
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    test: Test,
    bounds: str,
    code: int,
    status: Status,
    said: list[str],
    depth: int,
) -> None:
    """Alone, in a group, and in a group in one that makes what its tests share."""
    monkeypatch.setenv("LAB_BOUNDS", bounds)
    tests: Tests = {"it": test}
    for level in range(depth):
        tests = {"group": nullcontext(tests) if level else tests}
    found_code, lines, document = run(capfd, tests)
    assert not document.errors and found_code == code
    cases = document.cases
    for _ in range(depth):
        assert [(case.name, case.status) for case in cases] == [("group", status)]
        cases = [*cases[0].subtests]
    (case,) = cases
    assert (case.name, case.status) == ("it", status)
    assert case.reason == ("no card" if status is Status.SKIP else "")
    notes = lines[: next(i for i, line in enumerate(lines) if "ok 1 it" in line)]
    assert notes[len(notes) - len(said) :] == ["  " * depth + line for line in said]


def test_one_that_fails_does_not_keep_others_from_running(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """It fails its groups and the program, whatever the others are."""
    good: Tests = {"one": lambda _: None, "two": lambda case: case.skip("no card")}
    code, _, document = run(capfd, {"bad": {"raises": raise_one, **good}, "good": good})
    assert code == ktap.FAILED and not document.errors
    found = [[case.status, *(sub.status for sub in case.subtests)] for case in document.cases]
    assert found == [
        [Status.FAIL, Status.FAIL, Status.OK, Status.SKIP],
        [Status.OK, Status.OK, Status.SKIP],
    ]


PROGRAM = """
from contextlib import contextmanager
from inside import ktap

@contextmanager
def breaks():
    raise OSError("cannot be made")
    yield {}

words = ktap.options(reads=3, fail=False, broken=False)
ktap.run({
    "read": lambda case: case.note(f"{words['reads']} reads"),
    "good": lambda case: case.expect(not words["fail"], "asked to fail"),
    **({"group": breaks()} if words["broken"] else {}),
})
"""


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        ([], ktap.GOOD, "# 3 reads\nok 1 read\nok 2 good\n"),
        (["--ktap", "--reads", "12"], ktap.GOOD, "# 12 reads\nok 1 read\nok 2 good\n"),
        (["--fail"], ktap.FAILED, "# 3 reads\nok 1 read\n# asked to fail\nnot ok 2 good\n"),
        (["--broken"], ktap.FAILED, "OSError: cannot be made\n"),
        (["--reads"], ktap.USAGE, "--reads: bad value or option"),
        (["--reads", "0"], ktap.USAGE, "--reads: bad value or option"),
        (["--reads", "0x10"], ktap.USAGE, "--reads: bad value or option"),
        (["--fail=1"], ktap.USAGE, "--fail=1: bad value or option"),
        (["reads", "5"], ktap.USAGE, "reads: bad value or option"),
    ],
)
def test_a_program(tmp_path: Path, args: list[str], code: int, said: str) -> None:
    """As a guest runs it: exit codes, options, and one that comes to no end."""
    for name, file in python.sources().items():
        found = tmp_path / name
        found.parent.mkdir(parents=True, exist_ok=True)
        found.symlink_to(file)
    (tmp_path / python.FOLDER / "inside/own.py").write_text(PROGRAM)
    words = python.command("own", *args)
    argv = [sys.executable, words[1], f"{tmp_path}{words[2]}", *words[3:]]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == code and said in done.stdout + done.stderr
    errors = parse(done.stdout.splitlines()).errors
    if "--broken" in args:
        assert errors == ["truncated: 2 of 3 results"]
    assert bool(errors) == (code == ktap.USAGE or "--broken" in args)


def test_a_child() -> None:
    """What its work returns; no work that failed and no child that was killed passes."""
    assert released(lambda: [1, (2, "three")]) == [1, (2, "three")]
    with pytest.raises(ChildProcessError, match="ended with status 0x100"):
        released(lambda: os.listdir("/none"))
    with pytest.raises(ChildProcessError, match="ended with status 0x9"):
        released(lambda: os.kill(os.getpid(), signal.SIGKILL))


@pytest.fixture
def no_class(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel without the class has no tickets; a tick is 1 ms."""
    monkeypatch.setattr(lottery, "tickets", lambda: 0)
    monkeypatch.setattr(lottery, "state", lambda: lottery.parse(f"{HEAD} 0\n{CPU}\n"))
    monkeypatch.delenv("LAB_BOUNDS", raising=False)


@pytest.mark.usefixtures("no_class")
def test_workers_do_what_they_are_told() -> None:
    """They do two things that they are told at once; one that fails or exits says how it ended."""
    case = Case(0)
    with Workers(case, 0, 0, 0) as w:
        w.spin()
        ran = w.run(0.3)
        w[1].sleep()
        slept = w.run(0.3)[1]
        w[1].tell("lend", -1, 0, 0, 0)
        os.kill(w[2].pid, signal.SIGSTOP)
        w[2].tell()
        w[2].tell("exit", 0)
        os.kill(w[2].pid, signal.SIGCONT)
        assert w[2].result() is None
        with pytest.raises(ChildProcessError, match="ended with status 0x100"):
            w[1].result()
    assert all(ran) and slept < ran[1] / 2 and not case.failed


@pytest.mark.usefixtures("no_class")
@pytest.mark.parametrize(
    ("ran", "due", "good"),
    [
        ([3.0, 1.0], 3 / 4, True),
        ([3.05, 0.95], 3 / 4, True),
        ([3.15, 0.85], 3 / 4, False),
        ([2.85, 1.15], 3 / 4, False),
        ([4.0, 0.0], 1, True),
        ([3.99, 0.01], 1, False),
    ],
)
def test_shares_of_workers_are_judged(
    monkeypatch: pytest.MonkeyPatch, ran: list[float], due: float, good: bool
) -> None:
    """Five standard deviations of 4,000 draws are 3.4 points of 75 %."""
    monkeypatch.setattr(Workers, "run", lambda *_: ran)
    case = Case(0)
    with Workers(case, 0, 0) as w:
        w.expect_share(w[0], due)
    assert case.failed != good


@pytest.mark.usefixtures("no_class")
def test_workers_leave_no_tickets(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is in the pools after their end fails the test."""
    case = Case(0)
    with Workers(case):
        monkeypatch.setattr(lottery, "await_tickets", lambda wanted: wanted == 1)
    assert case.failed


@pytest.mark.parametrize(
    ("use", "found", "wanted"),
    [
        (Use("fill", path="/dev/full"), ENOSPC, ENOSPC),
        (Use("fill", path="/dev/full"), ENOSPC, EIO),
        (Use("read", path="/none"), ENOENT, ENOENT),
        *((Use(role), 0, 0) for role in ("write", "sync", "read")),
    ],
    ids=str,
)
def test_a_crew(tmp_path: Path, use: Use, found: int, wanted: int) -> None:
    """What has ended a task, and nothing else, is good; one that is ended does not get on."""
    disk = Disk.__new__(Disk)
    disk.folder = str(tmp_path)
    case = Case(0)
    with Crew(case, (disk,), use) as crew:
        if found:
            with pytest.raises(OSError, match="task 1: "):
                crew.advance(3)
            crew.ended(wanted)
        else:
            crew.advance(2, 0)
            crew.stop()
            assert crew.bytes() > 0
    assert case.failed == (found != wanted)
    assert (tmp_path / "task.1").exists() == (not use.path)


@pytest.mark.parametrize(
    ("text", "tickets"),
    [
        (f"{HEAD} 0\n{CPU}\n", 20),
        (f"{HEAD} 1\n{CPU} {OPS}\n{CPU.replace('cpu 0', 'cpu 9')} {OPS}\n", 40),
        ("", None),
        (f"{HEAD} 0\n", None),
        (f"{HEAD} 0\n{CPU}", None),
        (f"{HEAD} 0\n{CPU} \n", None),
        (f"{HEAD} 0\n\n{CPU}\n", None),
        (f"{HEAD} 0\n{CPU} {OPS}\n", None),
        (f"{HEAD} 1\n{CPU}\n", None),
        (f"{HEAD} 2\n{CPU}\n", None),
        (f"{HEAD} 0\n{CPU.replace('20', '-20')}\n", None),
        (f"{HEAD} 0\n{CPU}\n".replace("version 1", "version 2"), None),
        (f"{HEAD} 0\n{CPU}\n".replace("1000000", "0"), None),
    ],
)
def test_the_form_of_sched_lottery(text: str, tickets: int | None) -> None:
    if tickets is None:
        with pytest.raises(ValueError, match="not in its form"):
            lottery.parse(text)
    else:
        assert sum(cpu.tickets for cpu in lottery.parse(text).cpus.values()) == tickets


def test_sysrq_is_only_tried_where_that_is_asked_for() -> None:
    """It sets every task of the machine to SCHED_OTHER."""
    case = Case(0)
    lottery_api.sysrq_normalises(0, case)
    assert case.skipped == "without --sysrq" and not case.failed


def test_counters() -> None:
    assert wrais.parse("version 1\none 1\ntwo 18446744073709551615\n") == {
        "one": 1,
        "two": 2**64 - 1,
    }


@pytest.mark.parametrize("text", ["", "version 2\n", "version 1", "one 1\nversion 1\n"])
def test_counters_begin_with_their_version(text: str) -> None:
    with pytest.raises(ValueError, match="not 'version 1'"):
        wrais.parse(text)


@pytest.mark.parametrize(
    "line", ["", "one", "one ", " 1", "one -1", "one 1 2", "one  1", "one 0x1"]
)
def test_a_counter_is_a_name_and_a_number(line: str) -> None:
    with pytest.raises(ValueError, match="not a name and a value"):
        wrais.parse(f"version 1\n{line}\ntwo 2\n")


@pytest.mark.parametrize("text", ["", "x\n", "-1\n", "1\n\n", "1 1\n", "0x1\n"])
def test_a_number_is_decimal_and_alone(tmp_path: Path, text: str) -> None:
    file = tmp_path / "value"
    file.write_text(text)
    assert calls.fails(calls.number, str(file)) == EINVAL


def test_values(tmp_path: Path) -> None:
    """Of both forms that the kernel has, with or without a unit."""
    file = tmp_path / "values"
    file.write_text("nr_dirty 12\n\nMemAvailable:   34 kB\n")
    assert calls.values(str(file)) == {"nr_dirty": 12, "MemAvailable": 34}


def test_a_write_makes_no_file(tmp_path: Path) -> None:
    file = tmp_path / "value"
    assert calls.fails(calls.write, str(file), "1") == ENOENT and not file.exists()
    file.touch()
    calls.write(str(file), "12\n")
    assert calls.number(str(file)) == 12

# SPDX-License-Identifier: GPL-2.0
"""lottery top on the host: bad input, recordings, the terminal, and what it is without one."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest

from lab.paths import Paths
from tests.host import native

LIB = (
    *("affinity", "args", "clock", "files", "json", "lottery_proc", "lottery_sched", "memory"),
    *("procfs", "traceline", "waterfill"),
)
SOURCES = (
    "qemu/tests/host/lottery_top_here.c",
    *(f"userland/lottery/{name}.c" for name in ("lottery_top", "top_json", "top_look")),
    *(f"userland/lottery/{name}.c" for name in ("top_screen", "top_show", "top_trace")),
    *(f"userland/lib/{name}.c" for name in LIB),
)
STATE = "version 1\ntick_ns 1000000\nstats 0\ncpu 0 pool sums tasks 0 tickets 0 lotteries 9\n"
ANSWER_S = 30


def top(paths: Paths, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [paths.bin / "lottery", "top", *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--delay", "0"), "--delay: bad value '0': allowed 0.1..3600 s"),
        (("-d", "3600.1"), "--delay: bad value '3600.1': allowed 0.1..3600 s"),
        (("-d", "0.09"), "--delay: bad value '0.09': allowed 0.1..3600 s"),
        (("-d", ".5"), "--delay: bad value '.5'"),
        (("-d", "1,5"), "--delay: bad value '1,5'"),
        (("--count", "0"), "--count: bad value '0': allowed 1..1000000000"),
        (("-n", "1000000001"), "--count: bad value '1000000001'"),
        (("-n", "-1"), "--count: bad value '-1'"),
        (("--sort", "pid"), "--sort: bad value 'pid': allowed tickets, got"),
        (("-s", ""), "--sort: bad value ''"),
        (("--delay",), "option --delay needs a value"),
        (("-n",), "option -n needs a value"),
        (("--batch", "now"), "unexpected argument 'now'"),
        (("-p", "1"), "unknown option '-p'"),
        (("--trace",), "option --trace needs a value"),
        (("--max",), "unknown or ambiguous option '--max'"),
    ],
)
def test_bad_input(lab_paths: Paths, words: tuple[str, ...], said: str) -> None:
    done = top(lab_paths, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"lottery: {said}") and done.stderr.count("\n") == 1


def test_help_is_its_own(lab_paths: Paths) -> None:
    done = top(lab_paths, "-h")
    assert done.returncode == 0 and done.stdout.startswith("Usage: lottery top [-d S]")
    whole = subprocess.run([lab_paths.bin / "lottery", "-h"], capture_output=True, text=True)
    assert "lottery lend" in whole.stdout and "lottery lend" not in done.stdout
    options = re.findall(r"^ +(?:-., )?--(?:delay|count|sort|batch|trace) .*", done.stdout, re.M)
    assert len(options) == 5 and all(line in whole.stdout for line in options)


@pytest.mark.parametrize("words", [("tpo",), ("make", "-j8")])
def test_a_word_that_is_no_verb(lab_paths: Paths, words: tuple[str, ...]) -> None:
    argv = [str(lab_paths.bin / "lottery"), *words]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=30, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    verbs = "the verbs are top, lend and currency"
    missing = "for a command -t TICKETS is missing (0..1000000)"
    assert done.stderr == f"lottery: '{words[0]}': {verbs}; {missing}\n"


@pytest.fixture(scope="module")
def top_here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("top")
    (folder / "state").write_text(STATE)
    return native.build(folder, *SOURCES, options=(f'-DLOTTERY_PROC="{folder}/state"',))


def test_parts_of_a_second(top_here: Path) -> None:
    """Three blocks after a fifth of a second each, or later where the host is busy."""
    argv = [str(top_here), "-d", "0.2", "-n", "3"]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=True)
    seconds = [float(text) for text in re.findall(r"^lottery top: (\S+) s,", done.stdout, re.M)]
    assert len(seconds) == 3 and sum(seconds) >= 0.5 and min(seconds) < 1


def test_json_is_a_line_for_each_block(top_here: Path) -> None:
    argv = [str(top_here), "--json", "-d", "0.1", "-n", "2"]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=True)
    looks = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(looks) == 2 and all(look.pop("seconds") >= 0.05 for look in looks)
    cpu = {"cpu": 0, "tasks": 0, "tickets": 0, "draws_per_s": 0}
    assert looks == [{"tool": "lottery", "cpus": [cpu], "tasks": []}] * 2


@pytest.fixture
def screen(top_here: Path) -> Iterator[pexpect.spawn[bytes]]:
    child: pexpect.spawn[bytes] = pexpect.spawn(
        str(top_here), ["-d", "0.5"], env={**os.environ, "TERM": "xterm"}, timeout=ANSWER_S
    )
    child.delaybeforesend = None
    child.expect_exact(b"by tickets)")
    yield child
    child.close(force=True)


def ended(child: pexpect.spawn[bytes]) -> bool:
    """With a good status, and the terminal as it was: its screen, and keys that are shown."""
    child.expect_exact(b"\033[?7h\033[?25h\033[?1049l")
    child.expect(pexpect.EOF)
    echo = child.getecho()
    child.wait()
    return echo and child.exitstatus == 0


def test_keys(screen: pexpect.spawn[bytes]) -> None:
    assert not screen.getecho()
    for sort in (b"got", b"tickets"):
        screen.send(b"xs")
        screen.expect_exact(b"by " + sort + b")")
    screen.send(b"q")
    assert ended(screen)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT])
def test_the_terminal_is_as_before(screen: pexpect.spawn[bytes], number: int) -> None:
    screen.kill(number)
    assert ended(screen)


def test_the_terminal_is_as_before_while_it_is_stopped(screen: pexpect.spawn[bytes]) -> None:
    screen.send(b"\x1a")
    screen.expect_exact(b"\033[?1049l")
    assert screen.pid and os.waitpid(screen.pid, os.WUNTRACED)
    assert screen.getecho()
    screen.kill(signal.SIGCONT)
    screen.expect_exact(b"\033[?1049h")
    screen.expect_exact(b"by tickets)")
    assert not screen.getecho()
    screen.send(b"q")
    assert ended(screen)


def test_without_a_terminal(lab_paths: Paths) -> None:
    done = top(lab_paths, "--count", "1")
    if Path("/proc/sched_lottery").exists():
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("lottery top: ") and "\033" not in done.stdout
    else:
        assert (done.returncode, done.stdout) == (3, "")
        assert done.stderr.startswith("lottery: this kernel lacks SCHED_LOTTERY")


RECORDED = """\
cpus=2
 <idle>-0  [001]   100.000000000: sched_switch:    prev_comm=x prev_pid=0 prev_state=R ==> \
next_comm=a next_pid=11 next_prio=120
     sh-1  [001]   100.000000000: lottery_enqueue: cpu=1 pid=11 comm=a tickets=300 \
total=300 contenders=1
     sh-1  [001]   100.000000000: lottery_enqueue: cpu=1 pid=12 comm=b [0 tickets=100 \
total=400 contenders=2
      a-11 [001]   103.000000: lottery_draw: cpu=1 pid=12 comm=b [0 tickets=100 \
total=400 contenders=2
      a-11 [001]   103.000000: sched_switch:       prev_comm=a prev_pid=11 prev_state=R ==> \
next_comm=b [0 next_pid=12 next_prio=120
   b [0-12 [001]   104.000000000: lottery_dequeue: cpu=1 pid=12 comm=b [0 tickets=100 \
total=300 contenders=1
   b [0-12 [001]   104.000000000: sched_switch:    prev_comm=b [0 prev_pid=12 prev_state=S ==> \
next_comm=a next_pid=11 next_prio=120
      a-11 [001]   105.000000000: lottery_enqueue: cpu=0 pid=12 comm=b [0 tickets=100 \
total=100 contenders=1
      a-11 [001]   110.000000000: lottery_draw:    cpu=1 pid=11 comm=a tickets=300 \
total=300 contenders=1
"""


def test_a_recording_is_one_look(lab_paths: Paths, tmp_path: Path) -> None:
    """300 of 400 tickets for 4 s and all for 6; 100 of 400 for 4, asleep for 1, all for 5."""
    report = tmp_path / "report.txt"
    report.write_text(RECORDED)
    done = top(lab_paths, "--trace", str(report))
    assert (done.returncode, done.stderr) == (0, "")
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert lines[0] == "lottery top: 10.00 s, 2 tasks; 400 tickets queued on 2 CPUs"
    assert lines[2:4] == ["0 1 100 0.0", "1 1 300 0.2"]
    assert lines[6] == "11 1 R 300 - 300 - 90.0 90.0 0.2 a"
    assert lines[7] == "12 0 R 100 - 100 - 60.0 10.0 0.1 b [0"

    look = json.loads(top(lab_paths, "--trace", str(report), "--json").stdout)
    assert look["seconds"] == 10
    assert look["cpus"][1] == {"cpu": 1, "tasks": 1, "tickets": 300, "draws_per_s": 0.2}
    names = ("pid", "comm", "cpu", "state", "tickets", "worth", "due_pct", "got_pct", "runs_per_s")
    assert [tuple(task.values()) for task in look["tasks"]] == [
        (11, "a", 1, "R", 300, 300, 90, 90, 0.2),
        (12, "b [0", 0, "R", 100, 100, 60, 10, 0.1),
    ]
    assert all(tuple(task) == names for task in look["tasks"])


@pytest.mark.parametrize(
    ("line", "lost"),
    [
        ("CPU:1 [LOST 25 EVENTS]", 25),
        ("CPU:1 [25 EVENTS DROPPED]", 25),
        ("CPU:1 [LOST EVENTS]", 1),
        ("CPU:1 [EVENTS DROPPED]", 1),
        ("a-11 [001] 101.0: sched_wakeup: comm=[LOST 25 EVENTS] pid=12", 0),
    ],
)
def test_a_recording_with_a_gap(lab_paths: Paths, tmp_path: Path, line: str, lost: int) -> None:
    first, rest = RECORDED.split("\n", 1)
    report = tmp_path / "report.txt"
    report.write_text(f"{first}\n{line}\n{rest}")
    done = top(lab_paths, "--trace", str(report))
    said = f"lottery: {lost} events of the trace were lost\n" if lost else ""
    assert (done.returncode, done.stderr) == (0, said)
    assert done.stdout.startswith("lottery top: 10.00 s, 2 tasks")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no events of sched_lottery in it"),
        ("a-1 [001] 1.0: sched_switch: prev_pid=1 prev_state=R ==> next_pid=2\n" * 2, "no events"),
        ("a-1 [001] 1.0: lottery_draw: cpu=1 pid=1 comm=a tickets=1 total=1\n", "no events"),
    ],
)
def test_what_tells_nothing(lab_paths: Paths, tmp_path: Path, text: str, said: str) -> None:
    report = tmp_path / "report.txt"
    report.write_text(text)
    done = top(lab_paths, "--trace", str(report))
    assert (done.returncode, done.stdout) == (1, "") and said in done.stderr
    done = top(lab_paths, "--trace", str(tmp_path / "none"))
    assert done.returncode == 1 and "none: No such file" in done.stderr

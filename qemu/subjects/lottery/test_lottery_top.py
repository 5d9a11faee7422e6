# SPDX-License-Identifier: GPL-2.0
"""lottery top on the host: bad input, recordings, the terminal, and what it is without one."""

from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pexpect
import pytest

from lab.paths import Paths
from tests.host import native
from tests.host.programs import Done, assert_refused, run

SOURCES = (
    "qemu/tests/host/lottery_top_here.c",
    *(f"userland/lottery/{name}.c" for name in ("lottery_top", "top_json", "top_look")),
    *(f"userland/lottery/{name}.c" for name in ("top_screen", "top_show", "top_trace")),
    *native.lib("affinity", "args", "clock", "files", "json", "lottery_sched"),
    *native.lib("opts", "policy", "procfs", "tracefs", "waterfill"),
)
STATE = "version 1\ntick_ns 1000000\nstats 0\ncpu 0 pool sums tasks 0 tickets 0 lotteries 9\n"
ANSWER_S = 30
Run = Callable[..., Done]


@pytest.fixture
def top(lab_paths: Paths) -> Run:
    return partial(run, lab_paths.bin / "lottery", "top")


def test_help_is_its_own(lab_paths: Paths, top: Run) -> None:
    done, whole = top("-h"), run(lab_paths.bin / "lottery", "-h")
    assert done.returncode == 0 and done.stdout.startswith("Usage: lottery top [-d S]")
    assert "lottery lend" in whole.stdout and "lottery lend" not in done.stdout
    options = re.findall(r"^ +(?:-., )?--(?:delay|count|sort|batch|trace) .*", done.stdout, re.M)
    assert len(options) == 5 and all(line in whole.stdout for line in options)


@pytest.fixture(scope="module")
def top_here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("top")
    (folder / "state").write_text(STATE)
    return native.build(folder, *SOURCES, options=(f'-DLOTTERY_PROC="{folder}/state"',))


def test_json_is_a_line_for_each_block(top_here: Path) -> None:
    done = run(top_here, "--json", "-d", "0.1", "-n", "2")
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


def test_without_a_terminal(top: Run) -> None:
    done = top("--count", "1")
    if Path("/proc/sched_lottery").exists():
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("lottery top: ") and "\033" not in done.stdout
    else:
        assert_refused(done, "lottery: this kernel lacks SCHED_LOTTERY", 3)


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


@pytest.fixture
def traced(top: Run, tmp_path: Path) -> Run:
    def read(text: str, *words: str) -> Done:
        report = tmp_path / "report.txt"
        report.write_text(text)
        return top("--trace", report, *words)

    return read


def test_a_recording_is_one_look(traced: Run) -> None:
    """300 of 400 tickets for 4 s and all for 6; 100 of 400 for 4, asleep for 1, all for 5."""
    done = traced(RECORDED)
    assert (done.returncode, done.stderr) == (0, "")
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert lines[0] == "lottery top: 10.00 s, 2 tasks; 400 tickets queued on 2 CPUs"
    assert lines[2:4] == ["0 1 100 0.0", "1 1 300 0.2"]
    assert lines[6] == "11 1 R 300 - 300 - 90.0 90.0 0.2 a"
    assert lines[7] == "12 0 R 100 - 100 - 60.0 10.0 0.1 b [0"

    look = json.loads(traced(RECORDED, "--json").stdout)
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
def test_a_recording_with_a_gap(traced: Run, line: str, lost: int) -> None:
    first, rest = RECORDED.split("\n", 1)
    done = traced(f"{first}\n{line}\n{rest}")
    said = f"lottery: {lost} events of the trace were lost\n" if lost else ""
    assert (done.returncode, done.stderr) == (0, said)
    assert done.stdout.startswith("lottery top: 10.00 s, 2 tasks")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a-1 [001] 1.0: sched_switch: prev_pid=1 prev_state=R ==> next_pid=2\n" * 2,
        "a-1 [001] 1.0: lottery_draw: cpu=1 pid=1 comm=a tickets=1 total=1\n",
    ],
)
def test_what_tells_nothing(traced: Run, text: str) -> None:
    assert_refused(traced(text), "no events of sched_lottery in it", 1)


def test_a_recording_that_is_not_there(top: Run, tmp_path: Path) -> None:
    assert_refused(top("--trace", tmp_path / "none"), "none: No such file", 1)

# SPDX-License-Identifier: GPL-2.0
"""lottery top on the host: bad input, and no word to a terminal that is not there."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from lab.paths import Paths


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
        (("--delay", "0"), "--delay: bad value '0': allowed 1..3600"),
        (("-d", "3601"), "--delay: bad value '3601': allowed 1..3600"),
        (("-d", "0.5"), "--delay: bad value '0.5'"),
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


def test_help_is_that_of_the_tool(lab_paths: Paths) -> None:
    done = top(lab_paths, "--help")
    assert done.returncode == 0 and "lottery top [-d S]" in done.stdout


def test_without_a_terminal(lab_paths: Paths) -> None:
    """A block of plain text, or, where the class is missing, a line that says so."""
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
    """Of a gap it is said how large it is: what the recording tells is not all."""
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

# SPDX-License-Identifier: GPL-2.0
"""A run that is recorded in a guest: what comes out of it, and what it says."""

import json
import subprocess
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from lab import LabError
from lab.guest.boot import Program
from lab.guest.places import DEPTHS
from lab.paths import Paths
from lab.trace.events import report
from lab.trace.record import DAT, Recording, record
from lab.trace.traced import Traced
from lab.trace.waits import Span, What, attributed, longest, sums, within
from subjects.lottery import trace as lottery
from subjects.wrais import trace as wrais

KNOWN = 0.98
WOKEN_NS = 1_000_000
SERVER_NS = 50_000_000
"""In a second, which may all be in one stretch of what is looked at."""


def recorded(paths: Paths, scratch: Path, recording: Recording) -> Traced:
    """In a folder of its own: what a person has recorded stays."""
    own = Paths(paths.top, scratch)
    scratch.mkdir()
    for there in paths.out.iterdir():
        if there.name not in ("traces", "logs"):
            (scratch / there.name).symlink_to(there)
    return Traced(record(own, recording))


def test_of_three_tasks_one_runs_at_a_time(lab_paths: Paths, tmp_path: Path) -> None:
    traced = recorded(lab_paths, tmp_path / "out", lottery.PICTURE.recordings[1])
    begin, end, lanes = lottery.lanes(traced)
    shown = {lane.name: list(within(lane.spans, begin, end)) for lane in lanes}
    draws = [event for event in traced.named("lottery_draw") if begin <= event.time_ns < end]
    assert 200 <= len(draws) <= 300
    runs: list[Span] = []
    for name in lottery.SHARES:
        parts = sums(shown[name])
        assert sum(parts.values()) == end - begin
        assert set(parts) == {What.RUNS, What.CPU}
        runs += [span for span in shown[name] if span.what is What.RUNS]
    runs.sort(key=lambda span: span.begin_ns)
    assert all(one.end_ns <= other.begin_ns for one, other in pairwise(runs))
    # what is not theirs others have: a tick of 18, and what the deadline server gives
    others = sum(
        max(min(after.time_ns, end) - max(before.time_ns, begin), 0)
        for before, after in pairwise(traced.named("sched_switch"))
        if after.comm not in lottery.SHARES
    )
    assert sum(span.ns for span in runs) + others == end - begin
    assert others <= (end - begin) / 18 + SERVER_NS + lottery.TICK_NS
    # and a person opens it with the usual tool
    said = subprocess.run(
        ["trace-cmd", "report", "-i", str(traced.folder / DAT)], capture_output=True, check=True
    )
    assert said.stdout.count(b"lottery_draw:") == len(traced.named("lottery_draw"))
    # of which lottery top makes a look: what each was due, and what it got
    lottery_top = (str(lab_paths.bin / "lottery"), "top", "--trace", "-")
    text = report(traced.folder / DAT)
    look = subprocess.run(lottery_top, input=text, capture_output=True, text=True, check=True)
    rows = [line.split() for line in look.stdout.splitlines()]
    ours = [row for row in rows if row and row[-1] in lottery.SHARES]
    top = {row[-1]: (float(row[7]), float(row[8])) for row in ours}
    # they came one behind the other
    assert top["three"] > top["two"] > top["one"]
    for due, got in top.values():
        assert got == pytest.approx(due, abs=8)
    assert sum(due for due, _ in top.values()) > 90


def test_a_start_waits_for_reads_and_its_requests_are_in_the_disk(
    lab_paths: Paths, tmp_path: Path
) -> None:
    traced = recorded(lab_paths, tmp_path / "out", wrais.PICTURE.recordings[1])
    begin, end, lanes = wrais.lanes(traced)
    parts = {lane.name: sums(within(lane.spans, begin, end)) for lane in lanes}
    assert set(parts) == {wrais.PROBE, "reader", "writer", "journal", "flusher", "in the disk"}
    probe, disk = parts[wrais.PROBE], parts["in the disk"]
    # the start of a wait is not seen, or a few us of it
    assert sum(probe.values()) > 0.999 * (end - begin)
    assert probe[What.READ] > 0.8 * (end - begin) and What.THROTTLE not in probe
    assert parts["writer"][What.THROTTLE] > 0.5 * (end - begin)
    assert parts["journal"][What.WRITE] > 0
    assert disk[What.PRIVILEGED] > 5 * disk[What.OTHERS]
    assert sum(disk.values()) <= DEPTHS[0] * (end - begin)
    pid = traced.pid(wrais.PROBE)
    asleep = [e for e in traced.named("sched_switch") if e.pid == pid and e.stack]
    # each task waits for what is known
    for lane in lanes:
        assert attributed(lane.spans) >= KNOWN, lane.name
    # as many as wrais stalls finds in the same recording, and the same ten longest
    text = traced.folder / "report.txt"
    text.write_text(report(traced.folder / DAT))
    wrais_stalls = (str(lab_paths.bin / "wrais"), "stalls", "-a", "-t", "0", "--json")
    argv = [*wrais_stalls, "-p", str(pid), "--trace", str(text)]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    stalls = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(asleep) == len(stalls) + 1
    by_begin = {stall["at_s"]: stall for stall in stalls}
    waits = longest((span for span in traced.task(pid) if span.what is not What.CPU), 10)
    for span in waits:
        stall = by_begin[span.begin_ns / 10**9]
        assert ";".join(span.stack) == stall["stack"]
        # which also counts until the task has the CPU
        assert 0 <= 10**6 * stall["ms"] - span.ns < WOKEN_NS
    assert sorted(stall["ms"] for stall in stalls)[-10] * 10**6 < waits[-1].ns + WOKEN_NS


def test_a_command_that_fails_is_no_recording(lab_paths: Paths, tmp_path: Path) -> None:
    boot = lottery.PICTURE.recordings[0].boot
    program = Program("fails", ("lottery", "-t", "nothing"))
    failing = Recording("fails", "", replace(boot, programs=(program,)), (), 1)
    with pytest.raises(LabError, match=r"fails: fails: fail: exit 2: .*nothing"):
        recorded(lab_paths, tmp_path / "out", failing)

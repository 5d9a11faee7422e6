# SPDX-License-Identifier: GPL-2.0
"""Recorded runs: events, what tasks wait for, the disk's requests, and how they are drawn."""

import json
import struct
from pathlib import Path

import pytest

from lab import LabError
from lab.__main__ import main
from lab.guest.boot import Boot, Program
from lab.paths import Paths
from lab.trace import page
from lab.trace.events import Event, parse
from lab.trace.record import PORT, Recording
from lab.trace.requests import MAGIC, RECORD, VERSION, requests
from lab.trace.timeline import COLOURS, Lane, Side, Timeline, columns, draw, text
from lab.trace.traced import Traced
from lab.trace.waits import (
    WAITS,
    Span,
    What,
    attributed,
    longest,
    reason,
    spans,
    sums,
    within,
    without,
)
from subjects.livelock.trace import interrupts
from tests.host.browser import WIDE, Browser
from tests.host.programs import assert_refused, run

REPORT = """\
cpus=1
          idle-0     [000]     1.000000000: sched_switch:         prev_comm=swapper/0 prev_pid=0 \
prev_prio=120 prev_state=R ==> next_comm=a task next_pid=7 next_prio=120
        a task-7     [000]     1.000000100: sched_switch:         prev_comm=a task prev_pid=7 \
prev_prio=120 prev_state=D ==> next_comm=b next_pid=8 next_prio=120
        a task-7     [000]     1.000000110: kernel_stack:         <stack trace >
=> trace_event_raw_event_sched_switch (ffffffff810984c5)
=> __schedule (ffffffff817a49f0)
=> io_schedule (ffffffff817a599c)
=> folio_wait_bit_common (ffffffff81229ca6)
=> filemap_get_pages (ffffffff8122baf2)
             b-8     [000]     1.000000400: sched_waking:         comm=a task pid=7 prio=120 \
target_cpu=000
             b-8     [000]     1.000000500: sched_switch:         prev_comm=b prev_pid=8 \
prev_prio=120 prev_state=R+ ==> next_comm=a task next_pid=7 next_prio=120
        a task-7     [000]     1.000000900: sched_switch:         prev_comm=a task prev_pid=7 \
prev_prio=120 prev_state=X ==> next_comm=b next_pid=8 next_prio=120
             b-8     [000]     1.000001000: lottery_draw:         cpu=0 pid=8 comm=b tickets=5
"""


@pytest.fixture
def events() -> list[Event]:
    return list(parse(REPORT.splitlines()))


def test_a_report_is_read_as_events(events: list[Event]) -> None:
    assert [event.name for event in events].count("sched_switch") == 4
    first = events[0]
    assert (first.time_ns, first.pid, first.cpu) == (10**9, 0, 0)
    assert first.fields["next_comm"] == "a task" and first.number("next_pid") == 7
    assert events[-1].fields == {"cpu": "0", "pid": "8", "comm": "b", "tickets": "5"}
    with pytest.raises(LabError, match=r"lottery_draw: .*: no weight"):
        events[-1].number("weight")


def test_a_stack_belongs_to_the_switch_before_it(events: list[Event]) -> None:
    stacks = [event.stack for event in events if event.stack]
    names = ["__schedule", "io_schedule", "folio_wait_bit_common", "filemap_get_pages"]
    assert stacks == [names] and events[1].stack == names


def test_what_a_task_does_adds_up_to_its_life(events: list[Event]) -> None:
    found = spans(events, 7)
    assert [(s.begin_ns - 10**9, s.end_ns - 10**9, s.what) for s in found] == [
        (0, 100, What.RUNS),
        (100, 400, What.READ),
        (400, 500, What.CPU),
        (500, 900, What.RUNS),
    ]
    assert sums(found) == {What.RUNS: 500, What.READ: 300, What.CPU: 100}
    # for the disk, and then for the task that had the CPU; the longest wait first
    assert [(s.ns, s.whom, s.stack[-1:]) for s in longest(found, 9)] == [
        (300, "the disk", ("filemap_get_pages",)),
        (100, "b-8", ()),
    ]
    assert longest(found, 1) == longest(found, 9)[:1]
    # preempted, not asleep; and it goes on to the end of what was recorded
    assert [s.what for s in spans(events, 8)] == [What.RUNS, What.CPU, What.RUNS]
    assert spans(events, 8)[-1].end_ns == events[-1].time_ns
    assert spans([], 7) == []


def test_a_wait_for_a_task_ends_with_the_task_that_wakes(events: list[Event]) -> None:
    events[1].stack[:] = ["schedule", "__mutex_lock.constprop.0", "ext4_file_write_iter"]
    wait = spans(events, 7)[1]
    assert (wait.what, wait.whom) == (What.LOCK, "b-8")
    # it stays the same in a part of the time
    (part,) = within([wait], wait.begin_ns + 10, wait.end_ns - 10)
    assert (part.ns, part.whom, part.stack) == (280, "b-8", wait.stack)


def test_the_part_with_a_known_cause_leaves_out_what_is_no_wait() -> None:
    known = [Span(0, 60, What.READ), Span(60, 90, What.CPU), Span(90, 500, What.REST)]
    assert attributed([*known, Span(500, 510, What.UNKNOWN)]) == pytest.approx(0.9)
    assert attributed(known) == attributed([]) == 1
    assert {What.RUNS, What.REST, What.PRIVILEGED}.isdisjoint(WAITS)


@pytest.mark.parametrize(
    ("stack", "what"),
    [
        ("io_schedule_timeout balance_dirty_pages generic_perform_write", What.THROTTLE),
        ("schedule jbd2_log_wait_commit ext4_sync_file", What.JOURNAL),
        ("io_schedule bit_wait_io do_get_write_access ext4_reserve_inode_write", What.SHADOW),
        ("schedule wait_transaction_locked add_transaction_credits ext4_create", What.CLOSING),
        ("schedule jbd2_journal_wait_updates jbd2_journal_commit_transaction", What.TASK),
        ("io_schedule bit_wait_io jbd2_journal_commit_transaction kjournald2", What.WRITE),
        ("schedule kjournald2 kthread", What.REST),
        ("io_schedule folio_wait_bit_common filemap_get_pages filemap_read", What.READ),
        ("io_schedule folio_wait_bit_common folio_wait_writeback ext4_sync_file", What.PAGE),
        ("io_schedule blk_mq_get_tag ext4_io_submit", What.TAG),
        ("io_schedule blk_mq_get_tag ext4_mpage_readpages filemap_get_pages", What.TAG),
        ("io_schedule bit_wait_io ext4_read_bh ext4_lookup", What.READ),
        ("io_schedule bit_wait_io some_file_system vfs_write", What.WRITE),
        ("schedule rwsem_down_write_slowpath ext4_map_blocks", What.LOCK),
        ("schedule_timeout __skb_wait_for_more_packets udp_recvmsg", What.FRAME),
        ("schedule pipe_read vfs_read", What.TASK),
        ("schedule do_nanosleep hrtimer_nanosleep", What.REST),
        ("schedule worker_thread kthread", What.REST),
        ("io_schedule ext4_io_submit wb_workfn process_one_work worker_thread", What.WRITE),
        ("schedule some_work process_one_work worker_thread kthread", What.UNKNOWN),
        ("schedule some_function vfs_read", What.UNKNOWN),
        ("", What.UNKNOWN),
    ],
)
def test_a_stack_says_what_a_task_waits_for(stack: str, what: What) -> None:
    assert reason(stack.split()) is what


def test_wrais_stalls_reads_the_same_report(lab_paths: Paths, tmp_path: Path) -> None:
    report = tmp_path / "report.txt"
    # A name may have any bytes.
    report.write_bytes(REPORT.encode().replace(b"a task", b'a "\\\xff'))
    stalls = (lab_paths.bin / "wrais", "stalls", "-t", "0", "--json")
    done = run(*stalls, "-p", "7", "--trace", report)
    assert done.returncode == 0, done.stderr
    (one,) = map(json.loads, done.stdout.splitlines())
    stack = "__schedule;io_schedule;folio_wait_bit_common;filemap_get_pages"
    assert one == {
        **{"tool": "wrais", "pid": 7, "comm": 'a "\\\ufffd', "state": "D", "at_s": 1.0000001},
        **{"ms": 0.0004, "waker": "b-8", "stack": stack},
    }
    assert_refused(run(*stalls, "--trace", "-"), "--trace: -p PID says whose")
    missing = run(*stalls, "-p", "7", "--trace", tmp_path / "none")
    assert_refused(missing, "none: No such file", status=1)


def test_time_that_interrupts_take_is_not_the_tasks() -> None:
    task = [Span(0, 100, What.RUNS), Span(100, 150, What.FRAME), Span(150, 200, What.RUNS)]
    taken = [Span(10, 20, What.RECEIVES), Span(90, 160, What.RECEIVES)]
    found = list(without(task, taken, What.CPU))
    assert sums(found) == {What.RUNS: 120, What.CPU: 30, What.FRAME: 50}
    assert [s.begin_ns for s in found] == [0, 10, 20, 90, 100, 150, 160]
    assert list(within(found, 95, 155)) == [
        Span(95, 100, What.CPU),
        Span(100, 150, What.FRAME),
        Span(150, 155, What.CPU),
    ]


def test_interrupts_within_interrupts_are_one(tmp_path: Path) -> None:
    names = ("softirq_entry", "irq_handler_entry", "irq_handler_exit", "softirq_exit")
    traced = Traced(tmp_path)
    made = [Event(10 * at, "idle", 0, 0, name, "") for at, name in enumerate(names)]
    traced.__dict__["events"] = [*made, Event(90, "idle", 0, 0, "softirq_exit", "")]
    assert list(interrupts(traced)) == [Span(0, 30, What.RECEIVES)]


def record(time_ns: int, sector: int, action: int, pid: int, pdu: bytes = b"") -> bytes:
    fields = (MAGIC | VERSION, 0, time_ns, sector, 4096, action, pid, 0, 0, 0, len(pdu))
    return RECORD.pack(*fields) + pdu


def test_a_request_is_of_the_task_that_queued_it_first(tmp_path: Path) -> None:
    queue, issue, complete = 1, 7, 8
    parts = (
        record(1, 0, 1 << 26, 0, b"notified"),
        record(10, 800, queue, 7),
        record(20, 800, issue, 99),
        record(50, 800, complete, 0, struct.pack("<Q", 0)),
        record(60, 900, complete, 0),
    )
    (tmp_path / "disk.blktrace.0").write_bytes(b"".join(parts))
    assert [(r.begin_ns, r.end_ns, r.pid) for r in requests(tmp_path)] == [(20, 50, 7)]
    (tmp_path / "disk.blktrace.1").write_bytes(bytes(RECORD.size))
    with pytest.raises(LabError, match="no record of blktrace"):
        list(requests(tmp_path))


def test_a_column_shows_parts_of_its_time() -> None:
    lane = Lane("disk", [Span(0, 30, What.PRIVILEGED), Span(10, 20, What.OTHERS)], 2)
    held = columns(lane, 0, 40, 4)
    assert held == [
        {What.PRIVILEGED: 0.5},
        {What.PRIVILEGED: 0.5, What.OTHERS: 0.5},
        {What.PRIVILEGED: 0.5},
        {},
    ]


def test_a_picture_repeats_to_the_byte(tmp_path: Path) -> None:
    assert set(COLOURS) == set(What)
    assert len({COLOURS[what] for what in (*WAITS, What.RUNS, What.REST)}) == len(WAITS) + 2
    stack = ("schedule", "jbd2_log_wait_commit", "ext4_sync_file")
    waits = Span(5 * 10**6, 10**7, What.JOURNAL, "jbd2-9", stack)
    lane = Lane("task", [Span(0, 5 * 10**6, What.RUNS), waits])
    sides = [Side("stock", 0, 10**7, [lane]), Side("ours", 0, 6 * 10**6, [lane])]
    timeline = Timeline("title", "subtitle", "ms", sides)
    said = (
        "  task: runs 0.005 s, a commit 0.005 s",
        "  100.00 % of what task waited has a known cause:",
        "        5.000 ms, from 0.005 s on: a commit (jbd2-9): "
        "jbd2_log_wait_commit < ext4_sync_file",
    )
    assert list(text(timeline)) == ["stock: 0.010 s", *said, "ours: 0.006 s", *said]
    files = draw(timeline, tmp_path, "trace-toy")
    before = [file.read_bytes() for file in files]
    assert [file.name for file in files] == ["trace-toy.png", "trace-toy.svg"]
    assert [file.read_bytes() for file in draw(timeline, tmp_path, "trace-toy")] == before


ENLARGED = """(() => {
    document.querySelector("tr[data-from]").click();
    const canvas = document.querySelector("canvas"), box = canvas.getBoundingClientRect();
    const at = {clientX: box.left + box.width / 2, clientY: box.top + 1};
    canvas.dispatchEvent(new PointerEvent("pointermove", at));
    canvas.dispatchEvent(new WheelEvent("wheel", {...at, deltaY: -1, cancelable: true}));
    return [document.getElementById("said").textContent,
            document.getElementById("shown").textContent];
})()"""
# The colours in the middle of the lanes.
SEEN = """[...document.querySelectorAll("canvas")].map(one => {
    const at = [Math.floor(one.width * 0.75), Math.floor(one.height / 2), 1, 1];
    const found = [...one.getContext("2d").getImageData(...at).data];
    return "#" + found.slice(0, 3).map(part => part.toString(16).padStart(2, "0")).join("");
})"""


@pytest.mark.parametrize("width", [390, 1280])
def test_a_page_shows_a_wait_enlarged(chromium: Browser, tmp_path: Path, width: int) -> None:
    stack = ("schedule", "__mutex_lock", "</script><b>")
    waits = Span(6 * 10**6, 10**7, What.LOCK, "<b>-9", stack)
    tasks = Lane("task", [Span(0, 6 * 10**6, What.RUNS), waits])
    disk = Lane("disk", [Span(5 * 10**6, 10**7, What.OTHERS)], 1)
    sides = [Side(label, 0, 10**7, [tasks, disk]) for label in ("stock", "ours")]
    made = Timeline("<title>", "subtitle", "ms", sides)
    file = page.write(made, tmp_path, "trace-toy")
    before = file.read_bytes()
    assert page.write(made, tmp_path, "trace-toy").read_bytes() == before
    chromium.look(width)
    seen = chromium.open(file)
    assert seen.complaints == [] and seen.requests == [file.as_uri()]
    assert chromium.ask(WIDE) <= 0
    assert chromium.ask(SEEN) == 2 * [COLOURS[What.LOCK], COLOURS[What.OTHERS]]
    said, shown = chromium.ask(ENLARGED)
    assert said == ("task, 4.000 ms from 0.006000 s on: a lock (<b>-9) __mutex_lock < </script><b>")
    # the wait and half of it on both sides, as far as there is time, and then a fifth less
    low, high = (float(word) for word in shown.split()[::3])
    assert high - low == pytest.approx(0.8 * 0.008, abs=2e-6) and low >= 0.002


def test_the_last_program_is_recorded(tmp_path: Path) -> None:
    boot = Boot("b", programs=(Program("first", ("one",)), Program("last", ("two", "-x"), 10)))
    recording = Recording("n", "label", boot, ("jbd2",), 3, start="two", disk="/dev/x")
    made = recording.recorded(tmp_path / "a,b.tar")
    assert made.programs[0] == boot.programs[0]
    words = ("3", "two", "/dev/x", "jbd2", "--", "two", "-x")
    assert made.programs[1].argv == ("busybox", "sh", "/lab/record.sh", PORT, *words)
    assert f"path={tmp_path}/a,,b.tar" in made.machine.devices[1]


def test_what_cannot_be_traced_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trace", "--exp", "ipc"]) == 2
    assert "EXP 'ipc': traced are lottery, wrais, livelock" in capsys.readouterr().err
    assert main(["trace", "--exp", "nothing"]) == 2

# SPDX-License-Identifier: GPL-2.0
"""What a task does at each moment: it runs, or it waits, and for what.

A task that goes to sleep leaves its stack; the functions in it say what it waits for.
Once it was woken, it waits for the CPU.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from lab.trace.events import Event


class What(StrEnum):
    """What fills a span of time: of a task, and of what is drawn below the tasks."""

    RUNS = "runs"
    CPU = "waits for the CPU"
    READ = "a read"
    WRITE = "a write"
    JOURNAL = "the journal"
    THROTTLE = "the throttle"
    FRAME = "a frame"
    TASK = "another task"
    REST = "nothing, or the time"
    PRIVILEGED = "request of the application"
    OTHERS = "request of others"
    DRAW = "draw"
    RECEIVES = "receiving"
    TAKEN = "frame taken"
    DROPPED = "frame dropped"


# The first row of which a function is in the stack; a name stands for all that begin so.
REASONS: tuple[tuple[What, tuple[str, ...]], ...] = (
    (What.THROTTLE, ("balance_dirty_pages", "wb_wait_for_completion")),
    (
        What.JOURNAL,
        (
            *("jbd2_log_wait_commit", "start_this_handle", "add_transaction_credits"),
            *("wait_transaction_", "do_get_write_access", "__jbd2_log_wait_for_space"),
            *("jbd2_log_do_checkpoint", "jbd2_fc_", "ext4_fc_", "xlog_wait", "xfs_log_force"),
        ),
    ),
    (What.WRITE, ("folio_wait_writeback", "__filemap_fdatawait_range", "wb_workfn")),
    (What.READ, ("filemap_get_pages", "filemap_fault", "filemap_read", "ext4_bread", "__bread")),
    (What.WRITE, ("io_schedule", "blk_mq_get_tag", "submit_bio_wait")),
    (What.FRAME, ("__skb_wait_for_more_packets", "sk_wait_data")),
    (
        What.TASK,
        (
            *("futex_wait", "__futex_wait", "pipe_read", "pipe_write", "anon_pipe_"),
            *("do_wait", "__mutex_lock", "rwsem_down", "unix_stream_"),
        ),
    ),
)
JOURNAL_THREAD = "kjournald2"
COMMIT = "jbd2_journal_commit_transaction"
# What is woken in one of these was not asleep, or it is not known what it did.
AWAKE = (None, What.RUNS, What.CPU)


def reason(stack: Sequence[str]) -> What:
    """What a task with that stack waits for."""
    if JOURNAL_THREAD in stack:
        return What.WRITE if COMMIT in stack else What.REST
    for what, names in REASONS:
        if any(function.startswith(names) for function in stack):
            return what
    return What.REST


def left(state: str, stack: Sequence[str]) -> What | None:
    """What a task does that has left the CPU in this state; None if it has ended."""
    if state[0] in "XZ":
        return None
    return What.CPU if state[0] == "R" else reason(stack)


@dataclass(frozen=True)
class Span:
    """From begin to end, in ns of the guest's clock."""

    begin_ns: int
    end_ns: int
    what: What

    @property
    def ns(self) -> int:
        """How long it is."""
        return self.end_ns - self.begin_ns


def _changes(events: Sequence[Event], pid: int) -> Iterator[tuple[int, What | None]]:
    """When a task begins to do something else, and what, as far as it is known; last the end."""
    what: What | None = None
    for event in events:
        if event.name == "sched_switch":
            fields = event.fields
            if int(fields["next_pid"]) == pid:
                what = What.RUNS
            elif int(fields["prev_pid"]) == pid:
                what = left(fields["prev_state"], event.stack)
            else:
                continue
        elif event.name == "sched_waking" and what not in AWAKE and event.number("pid") == pid:
            what = What.CPU
        else:
            continue
        yield event.time_ns, what
    if events:
        yield events[-1].time_ns, None


def spans(events: Sequence[Event], pid: int) -> list[Span]:
    """All that a task did while it was recorded: what it did last goes on until the end."""
    changes = pairwise(_changes(events, pid))
    return [Span(begin, end, what) for (begin, what), (end, _) in changes if what and begin < end]


def within(found: Iterable[Span], begin_ns: int, end_ns: int) -> Iterator[Span]:
    """What of the spans is in that stretch of time."""
    for span in found:
        low, high = max(span.begin_ns, begin_ns), min(span.end_ns, end_ns)
        if low < high:
            yield Span(low, high, span.what)


def sums(found: Iterable[Span]) -> dict[What, int]:
    """How long for each, in ns."""
    total: dict[What, int] = {}
    for span in found:
        total[span.what] = total.get(span.what, 0) + span.ns
    return total


def without(found: Iterable[Span], taken: Sequence[Span], what: What) -> Iterator[Span]:
    """The spans in which a task runs, less the time that was taken from it: then `what`.

    Both are in order, and neither overlaps itself.
    """
    place = 0
    for span in found:
        if span.what is not What.RUNS:
            yield span
            continue
        begin = span.begin_ns
        while place < len(taken) and taken[place].end_ns <= begin:
            place += 1
        for at in range(place, len(taken)):
            one = taken[at]
            if one.begin_ns >= span.end_ns:
                break
            if one.begin_ns > begin:
                yield Span(begin, one.begin_ns, What.RUNS)
            low, begin = max(begin, one.begin_ns), min(one.end_ns, span.end_ns)
            yield Span(low, begin, what)
        if begin < span.end_ns:
            yield Span(begin, span.end_ns, What.RUNS)

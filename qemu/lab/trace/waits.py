# SPDX-License-Identifier: GPL-2.0
"""What a task does at each moment: it runs, or it waits, and for what.

A task that goes to sleep leaves its stack; the functions in it say what it waits for.
Once it was woken, it waits for the CPU.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

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


class Task:
    """What one task does, as far as it is known."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._since = 0
        self._what: What | None = None

    @property
    def _asleep(self) -> bool:
        return self._what not in (None, What.RUNS, What.CPU)

    def _becomes(self, now_ns: int, what: What | None) -> Iterator[Span]:
        if self._what and now_ns > self._since:
            yield Span(self._since, now_ns, self._what)
        self._since, self._what = now_ns, what

    def follow(self, event: Event) -> Iterator[Span]:
        """The span that ends with the event, if one does."""
        if event.name == "sched_switch":
            fields = event.fields
            if int(fields["next_pid"]) == self._pid:
                yield from self._becomes(event.time_ns, What.RUNS)
            elif int(fields["prev_pid"]) == self._pid:
                yield from self._becomes(event.time_ns, left(fields["prev_state"], event.stack))
        elif event.name == "sched_waking" and self._asleep and event.number("pid") == self._pid:
            yield from self._becomes(event.time_ns, What.CPU)

    def close(self, end_ns: int) -> Iterator[Span]:
        """What it did last goes on until the recording ends."""
        if self._what:
            yield from self._becomes(end_ns, self._what)


def spans(events: Sequence[Event], pid: int) -> list[Span]:
    """All that a task did while it was recorded."""
    task = Task(pid)
    found = [span for event in events for span in task.follow(event)]
    return [*found, *task.close(events[-1].time_ns)] if events else []


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

# SPDX-License-Identifier: GPL-2.0
"""What a task does at each moment: it runs, or it waits, for what, and for whom.

A task that goes to sleep leaves its stack; the functions in it say what it waits for.
Once it was woken, it waits for the CPU.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise

from lab.trace.events import Event


class What(StrEnum):
    """What fills a span of time: of a task, and of what is drawn below the tasks."""

    RUNS = "runs"
    CPU = "waits for the CPU"
    READ = "a read"
    WRITE = "a write"
    TAG = "a place in the queue"
    PAGE = "a page in writeback"
    JOURNAL = "a commit"
    CLOSING = "a closing transaction"
    SHADOW = "a block in a commit"
    THROTTLE = "the throttle"
    FRAME = "a frame"
    LOCK = "a lock"
    TASK = "another task"
    UNKNOWN = "an unknown cause"
    REST = "nothing, or the time"
    PRIVILEGED = "request of the application"
    OTHERS = "request of others"
    DRAW = "draw"
    RECEIVES = "receiving"
    TAKEN = "frame taken"
    DROPPED = "frame dropped"


# The innermost function of a stack that is here decides; a name stands for all that begin so.
REASONS: tuple[tuple[What, tuple[str, ...]], ...] = (
    (What.THROTTLE, ("balance_dirty_pages", "wb_wait_for_completion")),
    (What.TAG, ("blk_mq_get_tag", "__blk_mq_get_tag", "rq_qos_wait")),
    (What.PAGE, ("folio_wait_writeback", "__filemap_fdatawait_range")),
    (
        What.CLOSING,
        ("start_this_handle", "add_transaction_credits", "wait_transaction_", "jbd2_fc_begin"),
    ),
    (What.SHADOW, ("do_get_write_access",)),
    (
        What.JOURNAL,
        (
            *("jbd2_log_wait_commit", "__jbd2_log_wait_for_space", "jbd2_log_do_checkpoint"),
            *("jbd2_fc_", "ext4_fc_", "xlog_wait", "xfs_log_force"),
        ),
    ),
    (
        What.READ,
        (
            *("filemap_get_pages", "filemap_fault", "filemap_read", "filemap_update_page"),
            *("ext4_bread", "__bread", "ext4_read_bh", "ext4_sb_bread", "__ext4_get_inode_loc"),
            *("ext4_wait_block_bitmap", "ext4_read_inode_bitmap", "ext4_find_entry"),
        ),
    ),
    (What.LOCK, ("__mutex_lock", "rwsem_down", "percpu_rwsem_wait", "__down", "rt_mutex")),
    (What.FRAME, ("__skb_wait_for_more_packets", "sk_wait_data")),
    (
        What.TASK,
        (
            *("futex_wait", "__futex_wait", "pipe_read", "pipe_write", "anon_pipe_"),
            *("do_wait", "unix_stream_", "jbd2_journal_wait_updates", "wait_for_completion"),
        ),
    ),
    (What.WRITE, ("jbd2_journal_commit_transaction", "wb_workfn", "submit_bio_wait")),
    # A worker has this outside of its work as well, below what it works at.
    (What.UNKNOWN, ("process_one_work",)),
    (
        What.REST,
        (
            *("do_nanosleep", "schedule_hrtimeout", "poll_schedule", "do_poll", "ep_poll"),
            *("sigsuspend", "do_sigtimedwait", "do_signal_stop", "worker_thread", "kjournald2"),
            *("kthread_worker_fn", "smpboot_thread_fn", "rcu_gp_", "kswapd", "kcompactd"),
        ),
    ),
)
DISK = (What.READ, What.WRITE, What.TAG, What.PAGE)
# For whom, if it is not a task; a task is known by the event that ends the wait.
WHOM = dict.fromkeys(DISK, "the disk") | {What.THROTTLE: "the flusher", What.FRAME: "the card"}
# What is woken in one of these was not asleep, or it is not known what it did.
AWAKE = (None, What.RUNS, What.CPU)
# What a task waits for; the time and nothing are no causes.
WAITS = (
    *(What.CPU, *DISK, What.JOURNAL, What.CLOSING, What.SHADOW, What.THROTTLE),
    *(What.FRAME, What.LOCK, What.TASK, What.UNKNOWN),
)
# In every stack of a task that sleeps.
ASLEEP = ("__schedule", "schedule", "io_schedule", "bit_wait", "__wait_on_bit", "out_of_line_wait")


def reason(stack: Sequence[str]) -> What:
    """What a task with that stack waits for."""
    known = (what for function in stack for what, names in REASONS if function.startswith(names))
    found = next(known, What.UNKNOWN)
    if found is What.UNKNOWN and any(function.startswith("io_schedule") for function in stack):
        return What.WRITE
    return found


def left(state: str, stack: Sequence[str]) -> What | None:
    """What a task does that has left the CPU in this state; None if it has ended."""
    if state[0] in "XZ":
        return None
    return What.CPU if state[0] == "R" else reason(stack)


@dataclass(frozen=True)
class Span:
    """From begin to end, in ns of the guest's clock; of a wait, for whom and from where."""

    begin_ns: int
    end_ns: int
    what: What
    whom: str = ""
    stack: tuple[str, ...] = ()

    @property
    def ns(self) -> int:
        """How long it is."""
        return self.end_ns - self.begin_ns

    @property
    def calls(self) -> list[str]:
        """The functions of the stack, less those that any sleep has."""
        return [name for name in self.stack if not name.startswith(ASLEEP)]


@dataclass(frozen=True)
class _Change:
    """A task begins to do something else, as far as it is known; `by` made it do so."""

    time_ns: int
    what: What | None
    by: str = ""
    stack: tuple[str, ...] = ()


def _changes(events: Sequence[Event], pid: int) -> Iterator[_Change]:
    """All of a task, and last the end."""
    what: What | None = None
    for event in events:
        by = ""
        stack: tuple[str, ...] = ()
        if event.name == "sched_switch":
            fields = event.fields
            if int(fields["next_pid"]) == pid:
                what = What.RUNS
                by = f"{fields['prev_comm']}-{fields['prev_pid']}"
            elif int(fields["prev_pid"]) == pid:
                what = left(fields["prev_state"], event.stack)
                stack = tuple(event.stack)
            else:
                continue
        elif event.name == "sched_waking" and what not in AWAKE and event.number("pid") == pid:
            what = What.CPU
            by = f"{event.comm}-{event.pid}"
        else:
            continue
        yield _Change(event.time_ns, what, by, stack)
    if events:
        yield _Change(events[-1].time_ns, None)


def spans(events: Sequence[Event], pid: int) -> list[Span]:
    """All that a task did while it was recorded: what it did last goes on until the end."""
    return [
        Span(
            one.time_ns,
            after.time_ns,
            one.what,
            WHOM.get(one.what, after.by if one.what in WAITS else ""),
            one.stack,
        )
        for one, after in pairwise(_changes(events, pid))
        if one.what and one.time_ns < after.time_ns
    ]


def longest(found: Iterable[Span], count: int) -> list[Span]:
    """The `count` longest waits, the longest one first."""
    waits = [span for span in found if span.what in WAITS]
    return sorted(waits, key=lambda span: (-span.ns, span.begin_ns))[:count]


def attributed(found: Iterable[Span]) -> float:
    """Of the time that was waited, the part with a known cause: 0 to 1; 1 without a wait."""
    parts = sums(span for span in found if span.what in WAITS)
    return 1 - parts.get(What.UNKNOWN, 0) / max(sum(parts.values()), 1)


def within(found: Iterable[Span], begin_ns: int, end_ns: int) -> Iterator[Span]:
    """What of the spans is in that stretch of time."""
    for span in found:
        low, high = max(span.begin_ns, begin_ns), min(span.end_ns, end_ns)
        if low < high:
            yield replace(span, begin_ns=low, end_ns=high)


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

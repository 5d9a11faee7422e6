# SPDX-License-Identifier: GPL-2.0
"""A start-up under a reader and a writer, as a picture: which task waits for what of the disk."""

from __future__ import annotations

from collections.abc import Iterator

from lab.guest import slowdisk
from lab.guest.places import DEPTHS
from lab.trace.record import Recording
from lab.trace.timeline import Lane
from lab.trace.traced import Picture, Traced
from lab.trace.waits import Span, What
from subjects.wrais import variants as v
from subjects.wrais.experiment import Cell, boot
from subjects.wrais.variants import Variant

PROBE = "lprobe"
LOADS = {"load-reader": "reader", "load-writer": "writer"}
FLUSHES = ("ext4_do_writepages", "ext4_bio_write_folio", "ext4_io_submit")
LONGEST_S = 30
EVENTS = ("jbd2", "writeback:balance_dirty_pages", "wrais")


def recording(name: str, variant: Variant) -> Recording:
    """One start of LProbe."""
    cell = Cell(variant, PROBE, "1r1w", DEPTHS[0], 1)
    return Recording(
        name,
        variant.label,
        boot([cell]),
        EVENTS,
        LONGEST_S,
        start=PROBE,
        disk=slowdisk.DEVICE,
    )


def flusher(traced: Traced) -> int:
    """The worker that wrote back most of the time."""
    counts: dict[int, int] = {}
    for event in traced.named("sched_switch"):
        if event.comm.startswith("kworker/u") and any(f in FLUSHES for f in event.stack):
            counts[event.pid] = counts.get(event.pid, 0) + 1
    return max(counts, key=lambda pid: counts[pid], default=0)


def in_disk(traced: Traced, pid: int) -> Iterator[Span]:
    """Its requests: of the application, and of others."""
    for request in traced.requests:
        what = What.PRIVILEGED if request.pid == pid else What.OTHERS
        yield Span(request.begin_ns, request.end_ns, what)


def started(traced: Traced) -> tuple[int, int, int]:
    """The task that was started, when it began, and when it ended."""
    pid = traced.pid(PROBE)
    times = [e.time_ns for e in traced.events if e.pid == pid and e.comm == PROBE]
    return pid, times[0], times[-1]


def lanes(traced: Traced) -> tuple[int, int, list[Lane]]:
    """The application, the load, the tasks that write for them all, and the disk."""
    pid, begin, end = started(traced)
    tasks = {PROBE: pid}
    tasks.update({name: traced.pid(comm) for comm, name in LOADS.items()})
    tasks["journal"] = traced.pid("jbd2/")
    tasks["flusher"] = flusher(traced)
    found = [Lane(name, traced.task(one)) for name, one in tasks.items() if one]
    disk = list(in_disk(traced, pid))
    return begin, end, [*found, Lane("in the disk", disk, DEPTHS[0])]


PICTURE = Picture(
    "A start-up under a reader and a writer",
    "what each task does, or waits for; below, whose requests the disk has (two at a time)",
    "s",
    (recording("wrais-stock", v.BFQ), recording("wrais-ours", v.WRAIS)),
    lanes,
)

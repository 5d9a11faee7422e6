# SPDX-License-Identifier: GPL-2.0
"""The lab's slow disk: null_blk with a serial server's times, in the guest's own memory.

It serves one request after the other, 300 us each and 30 MB/s, as the flash of a
phone does; wrais-disk lays a file system onto it.
"""

from __future__ import annotations

from lab import LabError

DEVICE = "/dev/nullb0"
MBPS = 30
"""10^6 bytes a second."""
NSEC = 300_000
"""Each request's own time."""
SIZE_MB = 1024
DEPTH_MAX = 1024

DISK = ("wrais-disk", "--json", "--disk", DEVICE)
"""The command that lays the file system in /lab/disk onto it."""

WORDS = {
    "nr_devices": 1,
    "memory_backed": 1,
    "queue_mode": 2,
    "irqmode": 2,
    "submit_queues": 1,
    "gb": SIZE_MB // 1024,
    "bs": 4096,
    "max_sectors": 1024,
    "service_mbps": MBPS,
    "service_nsec": NSEC,
}
"""Parameters of null_blk. By default it would split every readahead of 128 KiB."""


def words(depth: int) -> tuple[str, ...]:
    """Kernel arguments of the disk with `depth` requests at a time.  Raises LabError."""
    if not 1 <= depth <= DEPTH_MAX:
        raise LabError(f"disk depth {depth}: allowed are 1 to {DEPTH_MAX}")
    every = {**WORDS, "hw_queue_depth": depth}
    return tuple(f"null_blk.{name}={value}" for name, value in every.items())

# SPDX-License-Identifier: GPL-2.0
"""The lab's slow disks: null_blk with a device's times, in the guest's own memory.

The usual one serves one request after the other, 300 us each and 30 MB/s, as the
flash of a phone does; wrais-disk lays a file system onto it.
"""

from dataclasses import dataclass

from lab import within

DEVICE = "/dev/nullb0"
SIZE_MB = 1024
DEPTH_MAX = 1024


@dataclass(frozen=True)
class Timing:
    """How long a disk takes: 10^6 bytes a second and each request's own time, in turn; what
    a request that does not follow the last takes more; requests a second; and what passes
    for all requests at the same time.
    """

    mbps: int
    nsec: int = 0
    seek_nsec: int = 0
    iops: int = 0
    latency_nsec: int = 0

    def words(self) -> dict[str, int]:
        """Parameters of null_blk."""
        return {
            "service_mbps": self.mbps,
            "service_nsec": self.nsec,
            "service_seek_nsec": self.seek_nsec,
            "service_iops": self.iops,
            "completion_nsec": self.latency_nsec,
        }


FLASH = Timing(mbps=30, nsec=300_000)
"""A phone's."""
SEEK = Timing(mbps=100, seek_nsec=8_000_000)
"""A disk with heads."""
CLOUD = Timing(mbps=125, iops=3000, latency_nsec=1_000_000)
"""A volume that is rented."""

DISK = ("wrais-disk", "--json", "--disk", DEVICE)
"""The command that lays the file system in /lab/disk onto it."""

WORDS = {
    "nr_devices": 1,
    "memory_backed": 1,
    "queue_mode": 2,
    "irqmode": 2,
    "submit_queues": 1,
    "bs": 4096,
    "max_sectors": 1024,
}
"""Parameters of null_blk. By default it would split every readahead of 128 KiB."""


def words(depth: int, timing: Timing = FLASH, size_mb: int = SIZE_MB) -> tuple[str, ...]:
    """Kernel arguments of the disk with `depth` requests at a time.  Raises LabError."""
    within("disk depth", depth, 1, DEPTH_MAX)
    every = {**WORDS, **timing.words(), "gb": size_mb // 1024, "hw_queue_depth": depth}
    return tuple(f"null_blk.{name}={value}" for name, value in every.items())

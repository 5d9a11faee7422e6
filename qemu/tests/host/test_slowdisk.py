# SPDX-License-Identifier: GPL-2.0
"""The slow disk's kernel arguments."""

from __future__ import annotations

import pytest

from lab import LabError
from lab.guest import slowdisk


@pytest.mark.parametrize(
    ("timing", "wanted"),
    [
        (slowdisk.FLASH, {"service_mbps=30", "service_nsec=300000", "service_seek_nsec=0"}),
        (slowdisk.SEEK, {"service_mbps=100", "service_nsec=0", "service_seek_nsec=8000000"}),
        (slowdisk.CLOUD, {"service_mbps=125", "service_iops=3000", "completion_nsec=1000000"}),
    ],
)
def test_words(timing: slowdisk.Timing, wanted: set[str]) -> None:
    """Nothing is left to null_blk's defaults, which have a time of their own."""
    words = slowdisk.words(32, timing, 2048)
    usual = ("memory_backed=1", "gb=2", "hw_queue_depth=32", "max_sectors=1024")
    assert {f"null_blk.{word}" for word in (*wanted, *usual)} <= set(words)
    assert all(word.startswith("null_blk.") for word in words)


@pytest.mark.parametrize("depth", [0, 1025])
def test_depth_is_checked(depth: int) -> None:
    with pytest.raises(LabError, match=f"disk depth {depth}: allowed are 1 to 1024"):
        slowdisk.words(depth)

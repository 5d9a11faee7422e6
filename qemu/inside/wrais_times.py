# SPDX-License-Identifier: GPL-2.0
"""How long null_blk takes for requests when it models a device.

Served one after the other, with seeks, with so many tokens per second, and with a latency that
all have at the same time. How long they take at the most holds in a guest with virtual time.
"""

from __future__ import annotations

import mmap
import os
import time
from contextlib import ExitStack
from functools import partial

from inside import calls
from inside.ktap import UNSUPPORTED, Case, Test, options, run, stop
from inside.task import Task
from inside.wrais_disk import NULLB

NAME = "wrais-times"
ITEM = f"{NULLB}/{NAME}"
OVER_PERCENT = 10
"""How much longer they may take than the model says, in virtual time."""
FORM = {"memory_backed": 0, "queue_mode": 2, "irqmode": 2, "blocksize": 4096, "hw_queue_depth": 64}


def read(reads: int, stride: int) -> int:
    """So many pages, of which those in between are left out; when they were read."""
    file = os.open(f"/dev/{NAME}", os.O_RDONLY | os.O_DIRECT)
    page = [mmap.mmap(-1, mmap.PAGESIZE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | mmap.MAP_POPULATE)]
    for i in range(reads):
        os.preadv(file, page, i * stride * mmap.PAGESIZE)
    return time.monotonic_ns()


def took_us(readers: int, reads: int, stride: int) -> int:
    """How long all of them take."""
    with ExitStack() as stack:
        tasks = [stack.enter_context(Task(partial(read, reads, stride))) for _ in range(readers)]
        begin = time.monotonic_ns()
        for task in tasks:
            task.release()
        return int(max(task.result() for task in tasks) - begin) // 1000


def check(
    model: dict[str, int], readers: int, reads: int, stride: int, us: int, case: Case
) -> None:
    """They take as long as the model says, on a device that is made for it."""
    try:
        os.mkdir(ITEM)
    except OSError as error:
        stop(UNSUPPORTED, f"{ITEM}: {error.strerror}")
    for name, value in {**FORM, **model, "power": 1}.items():
        calls.write(f"{ITEM}/{name}", str(value))
    took = took_us(readers, reads, stride)
    calls.write(f"{ITEM}/power", "0")
    os.rmdir(ITEM)
    text = f"{readers} x {reads} reads took {took} us, {us} us expected"
    case.expect(took >= us, text)
    case.expect_bound(100 * took <= (100 + OVER_PERCENT) * us, text)


def service(mbps: int = 0, us: int = 0, seek_us: int = 0, iops: int = 0) -> dict[str, int]:
    """How long requests take that are served one after the other."""
    return {
        "service_mbps": mbps,
        "service_nsec": 1000 * us,
        "service_seek_nsec": 1000 * seek_us,
        "service_iops": iops,
    }


LATENCY = {**service(iops=1_000_000), "completion_nsec": 1_000_000}
TESTS: dict[str, Test] = {
    "in-turn": partial(check, service(us=1000), 4, 10, 0, 40000),
    # 4096 bytes at 4 MB/s are 1024 us
    "bandwidth": partial(check, service(mbps=4), 4, 10, 0, 40960),
    # A reader that goes on where the last request ended does not wait for the heads; but for
    # the first read, for they are where the kernel looked for partitions.
    "sequence": partial(check, service(us=1000, seek_us=8000), 1, 40, 1, 48000),
    "seek": partial(check, service(seek_us=8000), 1, 10, 2, 80000),
    "latency": partial(check, LATENCY, 4, 40, 0, 40000),
    # those of the last 10 ms are there
    "tokens": partial(check, service(iops=1000), 4, 25, 0, 90000),
}

if __name__ == "__main__":
    options()
    run(TESTS)

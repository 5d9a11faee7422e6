# SPDX-License-Identifier: GPL-2.0
"""The goals of the IPC experiment.

A median of single messages is judged when there are enough of them, as those of
the demo are not; wider bounds hold on a busy host, too.
"""

from __future__ import annotations

from lab.report.goals import Goal
from lab.report.records import Param
from lab.subjects.ipc.reference import TABLE

NATIVE: dict[str, Param] = {"where": "host", "load": "none", "policy": "other"}
MEDIAN: dict[str, Param] = {**NATIVE, "stat": "p50"}
REFERENCE = (*TABLE, "shm-containers")
"""Every mechanism of the reference, and the one it could not get to work."""
DOCUMENT = ("Documentation/tools/ipclat.rst",)

GOALS = (
    Goal(
        name="spin (threads), median / bare flag ping-pong",
        metric="latency_ns",
        variant="spin",
        where=MEDIAN,
        over="flag",
        high=1.1,
        # blocks of 100 flags
        least_n=80,
        quoted=DOCUMENT,
    ),
    Goal(
        name="zmq-ipc, median / local_lat and remote_lat",
        metric="latency_ns",
        variant="zmq-ipc",
        where=MEDIAN,
        over="zmq-perf",
        low=0.9,
        high=1.1,
        least_n=7500,
        quoted=DOCUMENT,
    ),
    Goal(
        name="spin (threads), the same on a busy host",
        metric="latency_ns",
        variant="spin",
        where=MEDIAN,
        over="flag",
        high=2.0,
    ),
    Goal(
        name="zmq-ipc, the same on a busy host",
        metric="latency_ns",
        variant="zmq-ipc",
        where=MEDIAN,
        over="zmq-perf",
        high=2.0,
    ),
    Goal(
        name="semaphore in the guest, median: lottery / other",
        metric="latency_ns",
        variant="semaphore",
        where={**MEDIAN, "where": "guest", "policy": "lottery"},
        over_where={"policy": "other"},
        high=1.25,
        quoted=DOCUMENT,
    ),
    Goal(
        name="mechanisms of the reference measured natively",
        metric="reference_measured",
        where=NATIVE,
        by="variant",
        low=1,
        form=".0f",
        worst=True,
        quoted=DOCUMENT,
    ),
)

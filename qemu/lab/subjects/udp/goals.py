# SPDX-License-Identifier: GPL-2.0
"""The goals of the UDP experiment.

What the host measures is judged from two runs on, by their median; wider bounds
hold on a busy host, too. In the guest's virtual time one run is enough.
"""

from __future__ import annotations

from lab.report.goals import Goal
from lab.report.records import Param
from lab.subjects.udp.experiment import ALONE as BY_ITSELF
from lab.subjects.udp.experiment import GUEST_MBPS, POLICIES

ALONE: dict[str, Param] = {"workers": 1, "where": "host", "load": "none", "policy": "other"}
GUEST: dict[str, Param] = {"workers": 1, "where": "guest", "load": "hogs", "rate_mbps": GUEST_MBPS}
DOCUMENT = ("Documentation/tools/udprate.rst",)
REPEATS = 2


def _guest(policy: str) -> Goal:
    """Beside hogs; only SCHED_FIFO is judged, the others are reported."""
    return Goal(
        name=f"guest, 4 hogs, {GUEST_MBPS} Mbit/s, {policy}: rate_error_pct",
        metric="rate_error_pct",
        variant="udprate",
        where={**GUEST, "policy": policy},
        high=1.0,
        magnitude=True,
        form=".4f",
        judged=policy == "fifo",
        quoted=DOCUMENT,
    )


GOALS = (
    Goal(
        name="udprate, one process, every rate: rate_error_pct",
        metric="rate_error_pct",
        variant="udprate",
        where=ALONE,
        by="rate_mbps",
        high=0.1,
        magnitude=True,
        form=".4f",
        worst=True,
        least_n=REPEATS,
        quoted=DOCUMENT,
    ),
    Goal(
        name="udprate, one process, every rate, as received: received_error_pct",
        metric="received_error_pct",
        variant="udprate",
        where=ALONE,
        by="rate_mbps",
        high=0.1,
        magnitude=True,
        form=".4f",
        worst=True,
        least_n=REPEATS,
        quoted=DOCUMENT,
    ),
    Goal(
        name="udprate, the same on a busy host",
        metric="rate_error_pct",
        variant="udprate",
        where=ALONE,
        by="rate_mbps",
        high=1.0,
        magnitude=True,
        form=".4f",
        worst=True,
    ),
    Goal(
        name="rate_sd_mbps, udprate / iperf3, one process",
        metric="rate_sd_mbps",
        variant="udprate",
        where=ALONE,
        by="rate_mbps",
        over="iperf3",
        high=1.0,
        form=".3g",
        least_n=REPEATS,
        quoted=DOCUMENT,
    ),
    Goal(
        name="cpu_pct at 512, udprate / iperf3",
        metric="cpu_pct",
        variant="udprate",
        where={**ALONE, "rate_mbps": 512},
        over="iperf3",
        high=0.6,
        form=".3g",
        least_n=REPEATS,
        quoted=DOCUMENT,
    ),
    Goal(
        name="rate_sd_mbps, udprate --quantum 0 / iperf3, one process",
        metric="rate_sd_mbps",
        variant=BY_ITSELF,
        where=ALONE,
        by="rate_mbps",
        over="iperf3",
        high=1.0,
        form=".3g",
        least_n=REPEATS,
        judged=False,
        quoted=DOCUMENT,
    ),
    Goal(
        name="cpu_pct at 512, udprate --quantum 0 / iperf3",
        metric="cpu_pct",
        variant=BY_ITSELF,
        where={**ALONE, "rate_mbps": 512},
        over="iperf3",
        high=1.0,
        form=".3g",
        least_n=REPEATS,
        quoted=DOCUMENT,
    ),
    Goal(
        name="16 workers: total rate_error_pct",
        metric="rate_error_pct",
        variant="udprate",
        where={**ALONE, "workers": 16},
        by="rate_mbps",
        high=0.2,
        magnitude=True,
        form=".4f",
        worst=True,
        least_n=REPEATS,
        quoted=DOCUMENT,
    ),
    *map(_guest, POLICIES),
)

# SPDX-License-Identifier: GPL-2.0
"""The tables of the reference: Ryzen 7 7700X."""

from __future__ import annotations

from dataclasses import dataclass

from lab.report.references import references


@dataclass(frozen=True)
class Printed:
    """One line: mean, 1 % and 99 % quantile of 200 means of a million messages each."""

    mean: float
    p1: float
    p99: float


def _columns(figure: str) -> dict[str, Printed]:
    """The lines of one of its tables, in nanoseconds."""
    mean, p1, p99 = (references().column(figure, name) for name in ("mean", "1 %", "99 %"))
    return {name: Printed(mean[name], p1[name], p99[name]) for name in mean}


TABLE = _columns("ipc-t5")

GHZ = 5.44
"""It prints cycles, and takes so many for a nanosecond."""
# 95 % intervals of the means, in cycles.
_INTERVALS = {
    "spin": (122.28, 122.54),
    "spin-affinity": (232.52, 246.70),
    "spin-shm": (111.67, 112.27),
    "semaphore": (642.52, 700.90),
    "zmq-inproc": (54368.14, 62689.91),
    "zmq-ipc": (56970.80, 57320.87),
    "zmq-tcp": (79705.51, 90078.61),
    "zmq-tcp-containers": (78836.24, 81561.33),
}
CYCLE_TABLES = {
    1: ("spin", "spin-affinity", "spin-shm"),
    2: ("semaphore",),
    3: ("zmq-inproc", "zmq-ipc", "zmq-tcp"),
    4: ("zmq-tcp-containers",),
}
"""What tables 1 to 4 are of, by number."""


def in_cycles(number: int, name: str) -> tuple[float, ...]:
    """A line of table `number`: mean, 95 % interval of it, 1 % and 99 % quantile."""
    line, (low, high) = _columns(f"ipc-t{number}")[name], _INTERVALS[name]
    return (line.mean * GHZ, low, high, line.p1 * GHZ, line.p99 * GHZ)

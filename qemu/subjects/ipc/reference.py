# SPDX-License-Identifier: GPL-2.0
"""The tables of the reference: Ryzen 7 7700X."""

from __future__ import annotations

from lab.report.references import references

COLUMNS = {"mean": "mean", "p1": "1 %", "p99": "99 %"}
"""Of 200 means of a million messages each, by statistic."""


def _lines(figure: str) -> dict[str, dict[str, float]]:
    """The lines of one of its tables, in nanoseconds."""
    columns = {stat: references().column(figure, name) for stat, name in COLUMNS.items()}
    return {
        name: {stat: column[name] for stat, column in columns.items()} for name in columns["mean"]
    }


TABLE = _lines("ipc-t5")

GHZ = 5.44
"""It prints cycles, and takes so many for a nanosecond."""
CYCLE_TABLES = {
    1: {
        "spin": (122.28, 122.54),
        "spin-affinity": (232.52, 246.70),
        "spin-shm": (111.67, 112.27),
    },
    2: {"semaphore": (642.52, 700.90)},
    3: {
        "zmq-inproc": (54368.14, 62689.91),
        "zmq-ipc": (56970.80, 57320.87),
        "zmq-tcp": (79705.51, 90078.61),
    },
    4: {"zmq-tcp-containers": (78836.24, 81561.33)},
}
"""What tables 1 to 4 are of, by number, with the 95 % intervals of the means, in cycles."""


def in_cycles(number: int, name: str) -> tuple[float, ...]:
    """A line of table `number`: mean, 95 % interval of it, 1 % and 99 % quantile."""
    mean, p1, p99 = (GHZ * ns for ns in _lines(f"ipc-t{number}")[name].values())
    return (mean, *CYCLE_TABLES[number][name], p1, p99)

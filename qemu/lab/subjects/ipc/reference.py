# SPDX-License-Identifier: GPL-2.0
"""Table 5 of the reference: Ryzen 7 7700X, nanoseconds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Printed:
    """One line: mean, 1 % and 99 % quantile of 200 means of a million messages each."""

    mean: float
    p1: float
    p99: float


TABLE = {
    "spin": Printed(22.50, 22.06, 22.79),
    "spin-affinity": Printed(44.03, 36.57, 84.20),
    "spin-shm": Printed(20.58, 20.22, 20.96),
    "semaphore": Printed(123.36, 28.12, 209.74),
    "zmq-inproc": Printed(10731.79, 1796.95, 32880.65),
    "zmq-ipc": Printed(10504.70, 10088.68, 10950.77),
    "zmq-tcp": Printed(15576.01, 14926.97, 15231.61),
    "zmq-tcp-containers": Printed(14740.30, 14484.68, 14792.01),
}

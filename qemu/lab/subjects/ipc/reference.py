# SPDX-License-Identifier: GPL-2.0
"""Table 5 of the reference: Ryzen 7 7700X, nanoseconds."""

from __future__ import annotations

from dataclasses import dataclass

from lab.report.references import references


@dataclass(frozen=True)
class Printed:
    """One line: mean, 1 % and 99 % quantile of 200 means of a million messages each."""

    mean: float
    p1: float
    p99: float


_MEAN, _P1, _P99 = (references().column("ipc-t5", name) for name in ("mean", "1 %", "99 %"))
TABLE = {name: Printed(mean, _P1[name], _P99[name]) for name, mean in _MEAN.items()}

# SPDX-License-Identifier: GPL-2.0
"""The goals of the IPC experiment against its records."""

from __future__ import annotations

from collections.abc import Sequence

from lab.report.goals import Verdict, find, ratio, value
from lab.report.records import Param, Record
from lab.subjects.ipc.reference import TABLE

NATIVE: dict[str, Param] = {"where": "host", "load": "none", "policy": "other", "stat": "p50"}
SPIN_MOST = 1.1
PERF_BAND = (0.9, 1.1)


def _quotient(records: Sequence[Record], above: str, below: str) -> float | None:
    """Medians of two mechanisms that took turns in one run."""
    one = value(records, "latency_ns", above, **NATIVE)
    return ratio(one, value(records, "latency_ns", below, **NATIVE))


def _times(number: float | None) -> str:
    return "not measured" if number is None else f"{number:.3f} x"


def spin_goal(records: Sequence[Record]) -> Verdict:
    """Stamps must not make spinning much slower than it is."""
    quotient = _quotient(records, "spin", "flag")
    met = None if quotient is None else quotient <= SPIN_MOST
    what = "spin (threads), median / bare flag ping-pong"
    return Verdict(what, f"<= {SPIN_MOST:g}", _times(quotient), met)


def perf_goal(records: Sequence[Record]) -> Verdict:
    """What libzmq's own tool would say."""
    low, high = PERF_BAND
    quotient = _quotient(records, "zmq-ipc", "zmq-perf")
    met = None if quotient is None else low <= quotient <= high
    what = "zmq-ipc, median / local_lat and remote_lat"
    return Verdict(what, f"{low:g} to {high:g}", _times(quotient), met)


def reference_goal(records: Sequence[Record]) -> Verdict:
    """Every mechanism of the reference, and the one it could not get to work."""
    wanted = (*TABLE, "shm-containers")
    found = {record.variant for record in find(records, "latency_ns", None, **NATIVE)}
    lacking = [name for name in wanted if name not in found]
    what = "mechanisms of the reference measured natively"
    if not found:
        return Verdict(what, f"{len(wanted)}", "not measured", None)
    shown = f"{len(wanted) - len(lacking)}"
    if lacking:
        shown += f", not {', '.join(lacking)}"
    return Verdict(what, f"{len(wanted)}", shown, not lacking)


def goals(records: Sequence[Record]) -> list[Verdict]:
    """The whole table, in its usual order."""
    return [spin_goal(records), perf_goal(records), reference_goal(records)]

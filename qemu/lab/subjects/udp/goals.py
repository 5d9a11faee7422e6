# SPDX-License-Identifier: GPL-2.0
"""The goals of the UDP experiment against its records."""

from __future__ import annotations

from collections.abc import Sequence

from lab.report.goals import Verdict, find, ratio, value
from lab.report.records import Param, Record
from lab.subjects.udp.experiment import GUEST_MBPS, POLICIES

ALONE: dict[str, Param] = {"workers": 1, "where": "host", "load": "none", "policy": "other"}
ERROR_PCT = 0.1
MANY_ERROR_PCT = 0.2
FIFO_ERROR_PCT = 1.0


def _rates(records: Sequence[Record], metric: str, variant: str) -> dict[int, float]:
    """A metric of one process on the idle host, by rate."""
    found = find(records, metric, variant, **ALONE)
    return {int(record.params["rate_mbps"]): record.value for record in found}


def error_goal(records: Sequence[Record]) -> Verdict:
    """The worst rate error of one process."""
    what = "udprate, one process, every rate: rate_error_pct"
    errors = _rates(records, "rate_error_pct", "udprate")
    if not errors:
        return Verdict(what, f"<= {ERROR_PCT:g}", "not measured", None)
    worst = max(errors, key=lambda rate: abs(errors[rate]))
    shown = f"worst {errors[worst]:.4f} at {worst}, {len(errors)} rates"
    return Verdict(what, f"<= {ERROR_PCT:g}", shown, abs(errors[worst]) <= ERROR_PCT)


def spread_goal(records: Sequence[Record]) -> Verdict:
    """The standard deviation of the seconds against iperf3's, at every rate."""
    what, wanted = "rate_sd_mbps, udprate / iperf3, one process", "<= 1.0 each"
    ours = _rates(records, "rate_sd_mbps", "udprate")
    theirs = _rates(records, "rate_sd_mbps", "iperf3")
    both = sorted(set(ours) & set(theirs))
    if not both:
        return Verdict(what, wanted, "not measured", None)
    shown = ", ".join(f"{rate}: {_quotient(ours[rate], theirs[rate])}" for rate in both)
    return Verdict(what, wanted, shown, all(ours[rate] <= theirs[rate] for rate in both))


def _quotient(ours: float, theirs: float) -> str:
    return f"{ours / theirs:.3g}" if theirs else f"{ours:.2g} / 0"


def cpu_goal(records: Sequence[Record]) -> Verdict:
    """What 512 Mbit/s cost."""
    quotient = ratio(
        value(records, "cpu_pct", "udprate", rate_mbps=512, **ALONE),
        value(records, "cpu_pct", "iperf3", rate_mbps=512, **ALONE),
    )
    shown = "not measured" if quotient is None else f"{quotient:.3g} x"
    met = None if quotient is None else quotient <= 1
    return Verdict("cpu_pct at 512, udprate / iperf3", "<= 1.0", shown, met)


def workers_goal(records: Sequence[Record]) -> Verdict:
    """Sixteen processes share a rate."""
    what, wanted = "16 workers: total rate_error_pct", f"<= {MANY_ERROR_PCT:g}"
    found = find(records, "rate_error_pct", "udprate", **{**ALONE, "workers": 16})
    if not found:
        return Verdict(what, wanted, "not measured", None)
    worst = max(found, key=lambda record: abs(record.value))
    shown = f"{worst.value:.4f} at {worst.params['rate_mbps']}"
    return Verdict(what, wanted, shown, abs(worst.value) <= MANY_ERROR_PCT)


def policy_goal(records: Sequence[Record], policy: str) -> Verdict:
    """The guest with hogs; only SCHED_FIFO is judged, the others are reported."""
    what = f"guest, 4 hogs, {GUEST_MBPS} Mbit/s, {policy}: rate_error_pct"
    judged = policy == "fifo"
    wanted = f"<= {FIFO_ERROR_PCT:g}" if judged else "reported"
    error = value(
        records,
        "rate_error_pct",
        "udprate",
        rate_mbps=GUEST_MBPS,
        workers=1,
        where="guest",
        load="hogs",
        policy=policy,
    )
    if error is None:
        return Verdict(what, wanted, "not measured", None)
    return Verdict(what, wanted, f"{error:.4f}", abs(error) <= FIFO_ERROR_PCT if judged else None)


def goals(records: Sequence[Record]) -> list[Verdict]:
    """The whole table, in its usual order."""
    return [
        error_goal(records),
        spread_goal(records),
        cpu_goal(records),
        workers_goal(records),
        *(policy_goal(records, policy) for policy in POLICIES),
    ]

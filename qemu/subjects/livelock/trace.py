# SPDX-License-Identifier: GPL-2.0
"""Receiving under overload, as a picture: the use of the CPU, and what becomes of the frames."""

from __future__ import annotations

from collections.abc import Iterator

from lab.trace.record import Recording
from lab.trace.timeline import Lane
from lab.trace.traced import Picture, Traced
from lab.trace.waits import Span, What, without
from subjects.livelock import variants as v
from subjects.livelock.experiment import CONSTANT, FLOOD_PPS, SHORT_MS, Curve
from subjects.livelock.variants import Variant

LASTS_S = 3
SETTLED_NS = 600_000_000
SHOWN_NS = 60_000_000
TASKS = ("application", "hog")
INTERRUPTS = {
    "irq_handler_entry": "irq_handler_exit",
    "softirq_entry": "softirq_exit",
}
ARRIVES = "netif_receive_skb"
TOOK = "udp_recvmsg"
GAP_NS = 10**9 // FLOOD_PPS
"""Between two frames: a lane of all that were sent is full."""
EVENTS = (
    *("irq", "napi:napi_poll", f"net:{ARRIVES}", "rxgov"),
    *("skb:kfree_skb", "skb:consume_skb"),
)


def recording(name: str, variant: Variant) -> Recording:
    """One card with far more frames than it can take."""
    curve = Curve(variant, 1, CONSTANT, "off", (FLOOD_PPS,), SHORT_MS, 0)
    return Recording(name, variant.label, curve.boot(), EVENTS, LASTS_S)


def interrupts(traced: Traced) -> Iterator[Span]:
    """When the CPU served interrupts, hard ones within soft ones as one."""
    depth, begin = 0, 0
    for event in traced.named(*INTERRUPTS, *INTERRUPTS.values()):
        if event.name in INTERRUPTS:
            begin = begin if depth else event.time_ns
            depth += 1
        elif depth:
            depth -= 1
            if not depth:
                yield Span(begin, event.time_ns, What.RECEIVES)


def frames(traced: Traced) -> Iterator[Span]:
    """Of all that were sent: those that the application took, those that were dropped."""
    for event in traced.named("consume_skb", "kfree_skb"):
        if event.name == "kfree_skb":
            yield Span(event.time_ns, event.time_ns + GAP_NS, What.DROPPED)
        elif TOOK in event.text:
            yield Span(event.time_ns, event.time_ns + GAP_NS, What.TAKEN)


def lanes(traced: Traced) -> tuple[int, int, list[Lane]]:
    """The tasks without the time that interrupts took from them, these, and the frames."""
    begin = traced.named(ARRIVES)[0].time_ns + SETTLED_NS
    taken = list(interrupts(traced))
    tasks = {name: traced.task(traced.pid(name)) for name in TASKS}
    found = [Lane(name, list(without(spans, taken, What.CPU))) for name, spans in tasks.items()]
    rest = [Lane("receiving", taken), Lane("frames", list(frames(traced)))]
    return begin, begin + SHOWN_NS, [*found, *rest]


PICTURE = Picture(
    f"{FLOOD_PPS:,} frames a second for one card, many more than it can take",
    "what each task does, or waits for; below, when the CPU receives, and what becomes of all "
    "frames that were sent (white: the card had no room)",
    "ms",
    (recording("livelock-stock", v.PLAIN), recording("livelock-ours", v.GOVERNOR)),
    lanes,
)

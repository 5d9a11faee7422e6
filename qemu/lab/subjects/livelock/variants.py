# SPDX-License-Identifier: GPL-2.0
"""Who is measured: a driver of the receiving cards, and how it receives."""

from __future__ import annotations

from dataclasses import dataclass

from lab.guest.nics import IN_TREE, OURS


@dataclass(frozen=True)
class Variant:
    """`sets` are attributes of every receiving interface, below /sys/class/net/NAME.

    `limit_pct` is the share of the CPU that receiving may take, None for the
    driver's default or where there is none.
    """

    name: str
    label: str
    driver: str
    sets: tuple[str, ...]
    limit_pct: int | None = None

    def options(self) -> tuple[str, ...]:
        """livelock-run's options."""
        sets = [("--set", text) for text in self.sets]
        return ("--driver", self.driver, *(word for pair in sets for word in pair))


def _ours(name: str, label: str, mode: str, threaded: int = 0) -> Variant:
    return Variant(name, label, OURS, (f"threaded={threaded}", f"nll/mode={mode}"))


INTERRUPT = _ours("interrupt", "interrupts", "interrupt")
POLL = _ours("poll", "polling", "poll")
NAPI = _ours("napi", "NAPI", "napi")
THREADED = _ours("napi-threaded", "threaded NAPI", "napi", threaded=1)
HYBRID = _ours("hybrid", "hybrid", "hybrid")
E1000 = Variant("e1000", "e1000, NAPI", IN_TREE, ("threaded=0",))
GOVERNED = Variant(
    "e1000-governor", "e1000, governor", IN_TREE, ("threaded=0", "governor/mode=auto")
)
E1000_THREADED = Variant("e1000-threaded", "e1000, threaded NAPI", IN_TREE, ("threaded=1",))

ALL = (INTERRUPT, POLL, NAPI, THREADED, HYBRID, E1000, E1000_THREADED)
THREADS = (THREADED, E1000_THREADED)

LIMITS = (20, 30, 40, 50, 60, 70, 80)
"""Of the CPU, in per cent, for receiving."""


def limited(limit_pct: int) -> Variant:
    """The hybrid with a limit of its own."""
    return Variant(
        f"hybrid-limit{limit_pct}",
        f"hybrid, limit {limit_pct} %",
        OURS,
        (*HYBRID.sets, f"nll/limit={limit_pct}"),
        limit_pct,
    )


LIMITED = tuple(limited(limit) for limit in LIMITS)
HYBRIDS = (HYBRID, *LIMITED)
LABELS = {variant.name: variant.label for variant in (*ALL, *LIMITED)}

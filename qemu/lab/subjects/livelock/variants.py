# SPDX-License-Identifier: GPL-2.0
"""Who is measured: a driver of the receiving cards, and how it receives."""

from __future__ import annotations

from dataclasses import dataclass

from lab.guest.nics import IN_TREE, OURS


@dataclass(frozen=True)
class Variant:
    """`sets` are attributes of every receiving interface, below /sys/class/net/NAME.

    `limit_pct` is the share of the CPU that receiving may take, None for the
    driver's default or where there is none. gro: generic receive offload, which
    costs frames of one flow more than it saves them.
    """

    name: str
    label: str
    driver: str
    sets: tuple[str, ...]
    limit_pct: int | None = None
    gro: bool = True

    def options(self) -> tuple[str, ...]:
        """livelock-run's options."""
        sets = [("--set", text) for text in self.sets]
        gro = () if self.gro else ("--no-gro",)
        return ("--driver", self.driver, *gro, *(word for pair in sets for word in pair))


def _ours(name: str, label: str, mode: str, threaded: int = 0) -> Variant:
    return Variant(name, label, OURS, (f"threaded={threaded}", f"nll/mode={mode}"))


INTERRUPT = _ours("interrupt", "interrupts", "interrupt")
POLL = _ours("poll", "polling", "poll")
NAPI = _ours("napi", "NAPI", "napi")
THREADED = _ours("napi-threaded", "threaded NAPI", "napi", threaded=1)
HYBRID = _ours("hybrid", "hybrid", "hybrid")
E1000 = Variant("e1000", "e1000, NAPI", IN_TREE, ("threaded=0",))
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


def _in_tree(name: str, label: str, *sets: str, limit_pct: int | None = None) -> Variant:
    """The in-tree driver without GRO."""
    return Variant(f"e1000-{name}", f"e1000, {label}", IN_TREE, sets, limit_pct, gro=False)


# What may be set of a device outlives a run, so each says it.
OFF = ("governor/mode=off", "napi_defer_hard_irqs=0", "gro_flush_timeout=0")
AUTO = ("threaded=0", "governor/mode=auto", *OFF[1:])
GOVERNOR = _in_tree("governor", "governor", *AUTO, "governor/limit=50")
PLAIN = _in_tree("nogro", "NAPI, no GRO", "threaded=0", *OFF)
PLAIN_THREADED = _in_tree("threaded-nogro", "threaded NAPI, no GRO", "threaded=1", *OFF)
STATIC = _in_tree(
    "static",
    "rounds of 200 us, no GRO",
    *("threaded=0", OFF[0], "napi_defer_hard_irqs=50", "gro_flush_timeout=200000"),
)
IN_TREES = (GOVERNOR, PLAIN, PLAIN_THREADED, STATIC)
IN_TREE_THREADS = (E1000_THREADED, PLAIN_THREADED)

GOVERNOR_LIMITS = (20, 40, 44, 48, 60, 80)


def governed(limit_pct: int) -> Variant:
    """The governor with a limit of its own."""
    label = f"governor, limit {limit_pct} %"
    sets = (*AUTO, f"governor/limit={limit_pct}")
    return _in_tree(f"governor-limit{limit_pct}", label, *sets, limit_pct=limit_pct)


GOVERNOR_LIMITED = tuple(governed(limit) for limit in GOVERNOR_LIMITS)
GOVERNORS = (GOVERNOR, *GOVERNOR_LIMITED)
NAMED = (*ALL, *LIMITED, *IN_TREES, *GOVERNOR_LIMITED)
LABELS = {variant.name: variant.label for variant in NAMED}

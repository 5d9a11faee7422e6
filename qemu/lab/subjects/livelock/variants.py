# SPDX-License-Identifier: GPL-2.0
"""Who is measured: a driver of the receiving cards, and how it receives."""

from __future__ import annotations

from dataclasses import dataclass

from lab.guest.nics import IN_TREE, IN_TREE_82574L, MODEL, MODELS, OURS


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

    @property
    def model(self) -> str:
        """Of the cards that receive; each driver but ours is named as QEMU's model."""
        return self.driver if self.driver in MODELS else MODEL

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


def _in_tree(
    name: str, label: str, *sets: str, driver: str = IN_TREE, limit_pct: int | None = None
) -> Variant:
    """An in-tree driver without GRO."""
    return Variant(f"{driver}-{name}", f"{driver}, {label}", driver, sets, limit_pct, gro=False)


# What may be set of a device outlives a run, so each says it.
OFF = ("governor/mode=off", "napi_defer_hard_irqs=0", "gro_flush_timeout=0")
AUTO = ("threaded=0", "governor/mode=auto", *OFF[1:])


def _governor(driver: str) -> Variant:
    return _in_tree("governor", "governor", *AUTO, "governor/limit=50", driver=driver)


def _plain(driver: str) -> Variant:
    return _in_tree("nogro", "NAPI, no GRO", "threaded=0", *OFF, driver=driver)


def _threaded(driver: str) -> Variant:
    label = "threaded NAPI, no GRO"
    return _in_tree("threaded-nogro", label, "threaded=1", *OFF, driver=driver)


def governed(limit_pct: int, driver: str = IN_TREE) -> Variant:
    """The governor with a limit of its own."""
    label = f"governor, limit {limit_pct} %"
    sets = (*AUTO, f"governor/limit={limit_pct}")
    name = f"governor-limit{limit_pct}"
    return _in_tree(name, label, *sets, driver=driver, limit_pct=limit_pct)


GOVERNOR = _governor(IN_TREE)
PLAIN = _plain(IN_TREE)
PLAIN_THREADED = _threaded(IN_TREE)
STATIC = _in_tree(
    "static",
    "rounds of 200 us, no GRO",
    *("threaded=0", OFF[0], "napi_defer_hard_irqs=50", "gro_flush_timeout=200000"),
)
IN_TREES = (GOVERNOR, PLAIN, PLAIN_THREADED, STATIC)

GOVERNOR_LIMITS = (20, 40, 44, 48, 60, 80)
GOVERNOR_LIMITED = tuple(governed(limit) for limit in GOVERNOR_LIMITS)


@dataclass(frozen=True)
class InTree:
    """An in-tree driver: with the governor and each of its limits, and without it."""

    governors: tuple[Variant, ...]
    plain: Variant
    threads: tuple[Variant, ...]

    @property
    def governor(self) -> Variant:
        """With its default limit."""
        return self.governors[0]


E1000S = InTree((GOVERNOR, *GOVERNOR_LIMITED), PLAIN, (E1000_THREADED, PLAIN_THREADED))
E1000ES = InTree(
    (_governor(IN_TREE_82574L), *(governed(limit, IN_TREE_82574L) for limit in (40, 45))),
    _plain(IN_TREE_82574L),
    (_threaded(IN_TREE_82574L),),
)
E1000E = (E1000ES.governor, E1000ES.plain, *E1000ES.threads)
NAMED = (*ALL, *LIMITED, *IN_TREES, *GOVERNOR_LIMITED, *E1000E, *E1000ES.governors[1:])
LABELS = {variant.name: variant.label for variant in NAMED}

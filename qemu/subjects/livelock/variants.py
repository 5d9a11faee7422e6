# SPDX-License-Identifier: GPL-2.0
"""What is measured: a driver of the receiving cards, and how it receives."""

from __future__ import annotations

from dataclasses import dataclass, replace

from lab.guest.nics import IN_TREE, IN_TREE_82574L, MODEL, MODEL_VIRTIO, OURS, VIRTIO


@dataclass(frozen=True)
class Variant:
    """`sets` are attributes of every receiving interface, below /sys/class/net/NAME.

    `limit_pct` is the share of the CPU that receiving may take, None for the
    driver's default or without a limit. gro: generic receive offload, which
    costs frames of one flow more than it saves them. nice is that of NAPI's threads;
    busy_us: how long an application with nothing to read polls the card itself; kernel:
    the one that it runs on; hog_idle: no task waits for the process that wants the CPU.
    """

    name: str
    label: str
    driver: str
    sets: tuple[str, ...]
    limit_pct: int | None = None
    gro: bool = True
    nice: int = 0
    busy_us: int = 0
    kernel: str = "guest"
    hog_idle: bool = False

    @property
    def model(self) -> str:
        """Of the cards that receive."""
        return MODEL_OF.get(self.driver, MODEL)

    def options(self) -> tuple[str, ...]:
        """livelock-run's options."""
        sets = [("--set", text) for text in self.sets]
        more = [] if self.gro else ["--no-gro"]
        if self.nice:
            more += ["--nice", str(self.nice)]
        if self.busy_us:
            more += ["--busy-poll", str(self.busy_us)]
        if self.hog_idle:
            more += ["--hog-idle"]
        return ("--driver", self.driver, *more, *(word for pair in sets for word in pair))


MODEL_OF = {IN_TREE_82574L: "e1000e", VIRTIO: MODEL_VIRTIO}
"""QEMU's, by driver; the others drive its default."""

# What may be set of a device outlives a run, so each says it.
OFF = ("governor/mode=off", "napi_defer_hard_irqs=0", "gro_flush_timeout=0")
AUTO = ("threaded=0", "governor/mode=auto", *OFF[1:], "governor/limit=50")


def _ours(name: str, label: str, mode: str, *sets: str) -> Variant:
    """Our driver without GRO."""
    return Variant(name, label, OURS, (f"nll/mode={mode}", *sets), gro=False)


INTERRUPT = _ours("interrupt", "interrupts", "interrupt", "threaded=0", *OFF)
POLL = _ours("poll", "polling", "poll", "threaded=0", *OFF)
NAPI = _ours("napi", "NAPI", "napi", "threaded=0", *OFF)
THREADED = _ours("napi-threaded", "threaded NAPI", "napi", "threaded=1", *OFF)
HYBRID = _ours("hybrid", "hybrid", "napi", *AUTO)
E1000 = Variant("e1000", "e1000, NAPI", IN_TREE, ("threaded=0",))
E1000_THREADED = Variant("e1000-threaded", "e1000, threaded NAPI", IN_TREE, ("threaded=1",))

ALL = (INTERRUPT, POLL, NAPI, THREADED, HYBRID, E1000, E1000_THREADED)
THREADS = (THREADED, E1000_THREADED)


def limited(of: Variant, limit_pct: int) -> Variant:
    """One with the governor, and a limit of its own: the last of what it sets."""
    return replace(
        of,
        name=f"{of.name}-limit{limit_pct}",
        label=f"{of.label}, limit {limit_pct} %",
        sets=(*of.sets[:-1], f"governor/limit={limit_pct}"),
        limit_pct=limit_pct,
    )


LIMITED = tuple(limited(HYBRID, limit) for limit in (40, 45))


def _in_tree(driver: str, name: str, label: str, *sets: str) -> Variant:
    """An in-tree driver without GRO."""
    return Variant(f"{driver}-{name}", f"{driver}, {label}", driver, sets, gro=False)


def _ways(driver: str) -> tuple[Variant, Variant, Variant]:
    """With the governor, without it, and with threads instead."""
    return (
        _in_tree(driver, "governor", "governor", *AUTO),
        _in_tree(driver, "nogro", "NAPI, no GRO", "threaded=0", *OFF),
        _in_tree(driver, "threaded-nogro", "threaded NAPI, no GRO", "threaded=1", *OFF),
    )


GOVERNOR, PLAIN, PLAIN_THREADED = WAYS = _ways(IN_TREE)
STATIC = _in_tree(
    IN_TREE,
    "static",
    "rounds of 200 us, no GRO",
    *("threaded=0", OFF[0], "napi_defer_hard_irqs=50", "gro_flush_timeout=200000"),
)
BUSY_US = 50
BUSY = replace(PLAIN, name="e1000-busy", label="e1000, busy polling, no GRO", busy_us=BUSY_US)


def niced(nice: int) -> Variant:
    """Threads of another nice value than the process that wants the CPU."""
    name, label = f"{PLAIN_THREADED.name}-nice{nice}", f"{PLAIN_THREADED.label}, nice {nice}"
    return replace(PLAIN_THREADED, name=name, label=label, nice=nice)


NICED = tuple(niced(nice) for nice in (2, 5))
"""Threads with less of the CPU, a fifth a level. With more of it the application starves."""
PEERS = (BUSY, *NICED)
IN_TREES = (GOVERNOR, PLAIN, PLAIN_THREADED, STATIC)
SWITCHED_OFF = replace(
    PLAIN, name="e1000-off", label="e1000, NAPI, no GRO, governor off", hog_idle=True
)
COMPILED_OUT = replace(
    SWITCHED_OFF,
    name="e1000-compiled-out",
    label="e1000, NAPI, no GRO, governor compiled out",
    sets=tuple(text for text in PLAIN.sets if not text.startswith("governor/")),
    kernel="plain",
)
COSTS = (SWITCHED_OFF, COMPILED_OUT)
"""For the price of the governor where it is off."""

GOVERNOR_LIMITED = tuple(limited(GOVERNOR, limit) for limit in (20, 40, 44, 48, 60, 80))


@dataclass(frozen=True)
class Governed:
    """A driver: with the governor and each of its limits, and without it.

    niced: threads with other nice values.
    """

    governors: tuple[Variant, ...]
    plain: Variant
    threads: tuple[Variant, ...]
    niced: tuple[Variant, ...] = ()

    @property
    def governor(self) -> Variant:
        """With its default limit."""
        return self.governors[0]


OWN = Governed((HYBRID, *LIMITED), NAPI, (THREADED,))
E1000S = Governed((GOVERNOR, *GOVERNOR_LIMITED), PLAIN, (E1000_THREADED, PLAIN_THREADED), NICED)


def _other(driver: str) -> Governed:
    """Another driver in the tree; with limits on both sides of what its threads take."""
    governor, plain, threaded = _ways(driver)
    limits = tuple(limited(governor, limit) for limit in (40, 45, 55, 62))
    return Governed((governor, *limits), plain, (threaded,))


E1000ES = _other(IN_TREE_82574L)
VIRTIOS = _other(VIRTIO)
OTHERS = tuple(
    variant for of in (E1000ES, VIRTIOS) for variant in (of.governor, of.plain, *of.threads)
)
OTHERS_LIMITED = (*E1000ES.governors[1:], *VIRTIOS.governors[1:])
OTHERS_MOST = (E1000ES.governors[-1], VIRTIOS.governors[-1])
"""With the highest limit: on several cards threads leave even less to others."""
NAMED = (
    *(*ALL, *LIMITED, *IN_TREES, *PEERS, *GOVERNOR_LIMITED),
    *(*OTHERS, *OTHERS_LIMITED, *COSTS),
)
LABELS = {variant.name: variant.label for variant in NAMED}

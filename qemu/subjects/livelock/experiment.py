# SPDX-License-Identifier: GPL-2.0
"""What the livelock experiment runs in the guest: curves, one boot each.

A curve is one variant on a number of ports under one rate function; livelock-run
measures it at one rate after the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from lab.guest.boot import Boot, Program
from lab.guest.machine import Machine
from lab.guest.nics import SOURCE, VIRTIO, pairs
from subjects.livelock import variants as v
from subjects.livelock.variants import Variant

CONSTANT = "constant"
METRICS = {
    "goodput_pps": "packets/s",
    "user_share_pct": "%",
    "latency_us": "us",
    "late_share_pct": "%",
    "receiving_ns": "ns",
    "lost_pps": "packets/s",
    "buffer_full": "count",
    "switches_per_s": "1/s",
    "apps_share_pct": "%",
    "source_pct": "%",
    "port_split": "ratio",
}
"""Metrics and their units."""
FUNCTIONS = (CONSTANT, "poisson", "normal", "peaks", "ramp")
"""How the frames lie in time."""
STRAY = "stray"
"""Every second frame, at a constant rate, is for a socket without a reader."""
STRAY_PPS = (20000, 40000)
"""As many again as one card takes with ease, and as it takes at all."""
FAST = "fast"
"""A constant rate on a CPU that is eight times as fast."""
FAST_PPS = (100000, 150000, 200000)
MITIGATION = {"off": False, "on": True}
"""Whether the card may delay its interrupts."""

QUANTILES = ("p1", "p50", "p90", "p99", "p999", "max")
PLACES = ("tail", "ring", "early", "backlog", "socket", "other")
"""Where frames are lost: at the card without a free descriptor, in the driver, by the
governor, before the protocols, at a full socket, and as not right."""
SHIFT = 3
"""8 ns an instruction: the model CPU of 125 million instructions a second."""
DURATION_MS = 3200
WARMUP_MS = 200
FRAMES = 12000
"""That a measurement has at least, for its 99 % quantile: it takes longer at low rates."""
SHORT_MS = 1200
"""Where the shape of a curve is enough."""
TURNS_PPS = 20000
"""The highest rate that is measured in several turns: below, quantiles are compared, and which
frames have to wait for the scheduler's tick differs from turn to turn."""
OVERHEAD_S = 1.5
"""Guest seconds of CPU around the measurements of a curve: links, calibration."""

RATES = (
    *(2000, 4000, 6000, 8000, 10000, 12000, 14000, 16000, 18000, 20000),
    *(25000, 30000, 60000, 100000, 200000, 300000),
)
"""Frames a second, all ports together; at last ten times what three take without a loss."""
KNEE = (2000, 6000, 10000, 16000, 20000, 30000, 60000, 200000)
PORTS = (1, 3)
FLOOD_PPS = 60000
OVERLOAD = (FLOOD_PPS, 200000)
CALM_PPS = 2000
LOW = (CALM_PPS, 6000)
COST_PPS = (*LOW, 10000)


@dataclass(frozen=True)
class Curve:
    """One boot: a variant at one rate after the other."""

    variant: Variant
    ports: int
    function: str
    mitigation: str
    rates: tuple[int, ...]
    duration_ms: int = DURATION_MS
    frames: int = FRAMES
    turns: int = 1

    @property
    def windows(self) -> tuple[tuple[int, int], ...]:
        """Rate and turn, from 1, of every measurement in its order."""
        return tuple(
            (rate, turn)
            for rate in self.rates
            for turn in range(1, 1 + (self.turns if rate <= TURNS_PPS else 1))
        )

    @property
    def name(self) -> str:
        """Of the boot."""
        return f"{self.variant.name}-{self.ports}-{self.function}-mitigation-{self.mitigation}"

    @property
    def shift(self) -> int:
        """2**shift ns an instruction."""
        return 0 if self.function == FAST else SHIFT

    def argv(self) -> tuple[str, ...]:
        """The command in the guest."""
        stray = self.function == STRAY
        function = CONSTANT if self.function in (STRAY, FAST) else self.function
        return (
            "livelock-run",
            *self.variant.options(),
            *("--ports", str(self.ports), "--function", function),
            *(("--malformed", "stray", "--every", "2") if stray else ()),
            *("--duration", str(self.duration_ms), "--warmup", str(WARMUP_MS)),
            *("--frames", str(self.frames), "--never-idle"),
            *(str(rate) for rate, _ in self.windows),
        )

    def lasts_ms(self, rate: int) -> int:
        """How long frames are sent at a rate, warm-up included."""
        return max(self.duration_ms, WARMUP_MS - 1000 * self.frames // -rate)

    def busy_s(self) -> float:
        """About the guest seconds of CPU, of SHIFT; a hog always wants it."""
        lasts_s = OVERHEAD_S + sum(self.lasts_ms(rate) for rate, _ in self.windows) / 1000
        return lasts_s * (1 << SHIFT - self.shift)

    def boot(self) -> Boot:
        """The guest that measures it."""
        timeout_s, driver = 30 + round(10 * self.busy_s()), self.variant.driver
        program = Program("curve", self.argv(), timeout_s, busy_s=self.busy_s(), what=self)
        machine = Machine(
            accel="icount",
            kernel=self.variant.kernel,
            append=("idle=poll",),
            root=False,
            icount_shift=self.shift,
            modules=(SOURCE, *(() if driver == VIRTIO else (driver,))),
            nics=pairs(self.ports, MITIGATION[self.mitigation], self.variant.model),
        )
        return Boot(self.name, machine, (program,), defer=True)


Scope = tuple[Curve, ...]
"""How much is measured; no two curves of a scope are of the same name."""


def curves(
    variants: tuple[Variant, ...],
    rates: tuple[int, ...],
    ports: tuple[int, ...] = (1,),
    functions: tuple[str, ...] = (CONSTANT,),
    mitigations: tuple[str, ...] = ("off",),
    **more: int,
) -> Scope:
    """Every variant on every number of ports under every function; more are fields of each."""
    return tuple(
        Curve(variant, cards, function, mitigation, rates, **more)
        for cards, function, mitigation, variant in product(ports, functions, mitigations, variants)
    )


COST = curves(v.COSTS, COST_PPS, turns=5)
"""Half of it on another kernel: the price of what is switched off."""

COMPARED = (*v.ALL, *v.IN_TREES, *v.PEERS, *v.OTHERS)

FULL: Scope = (
    # Quantiles are compared on one card, and need the turns; three show what overload does.
    *curves(COMPARED, RATES, turns=5),
    *curves(COMPARED, RATES, ports=(3,)),
    *curves((*v.GOVERNOR_LIMITED, *v.OTHERS_LIMITED), (30000, *OVERLOAD), ports=PORTS),
    *curves(v.LIMITED, (30000, *OVERLOAD), ports=PORTS),
    *curves((*v.ALL, v.GOVERNOR), KNEE, functions=FUNCTIONS[1:], duration_ms=SHORT_MS, frames=0),
    *curves((*v.ALL, v.GOVERNOR), KNEE, mitigations=("on",), duration_ms=SHORT_MS, frames=0),
    *curves(v.WAYS, STRAY_PPS, functions=(STRAY,)),
    *curves(v.WAYS, FAST_PPS, functions=(FAST,), duration_ms=SHORT_MS),
    *COST,
)

QUICK: Scope = (
    *curves(v.ALL, (2000, 6000, 16000, 20000, 60000, 200000), turns=5),
    *curves(v.LIMITED, OVERLOAD),
    *curves((v.E1000, *v.THREADS, v.NAPI, v.HYBRID), (6000, 20000, *OVERLOAD), ports=(3,)),
    *curves((v.HYBRID, v.GOVERNOR), (10000, 20000), functions=("peaks",)),
    *curves(v.IN_TREES, (2000, 6000, 10000, 20000, 60000, 200000), turns=5),
    *curves(v.PEERS, (10000, 20000, *OVERLOAD), turns=5),
    *curves(v.WAYS, STRAY_PPS, functions=(STRAY,)),
    *curves(v.WAYS, FAST_PPS, functions=(FAST,), duration_ms=SHORT_MS),
    *curves(v.GOVERNOR_LIMITED, OVERLOAD),
    *curves(v.OTHERS, (2000, 6000, 10000, 20000, 60000, 200000), turns=5),
    *curves(v.OTHERS_LIMITED, OVERLOAD),
    *curves((*v.WAYS, *v.NICED), (6000, 20000, *OVERLOAD), ports=(3,)),
    *curves(v.OTHERS, (6000, 20000, *OVERLOAD), ports=(3,)),
    *curves(v.OTHERS_MOST, OVERLOAD, ports=(3,)),
)

DEMO: Scope = (
    *curves(
        (v.E1000, v.THREADED, v.HYBRID, v.GOVERNOR),
        (2000, 10000, 20000, 60000),
        duration_ms=SHORT_MS,
        frames=0,
    ),
    # What threads leave to others is compared with what the hybrid does at other limits.
    *curves(v.LIMITED, (60000,), duration_ms=SHORT_MS, frames=0),
)


def boots(scope: Scope, only: str | None = None) -> list[Boot]:
    """The boots of a scope."""
    del only  # every curve measures every metric
    return [curve.boot() for curve in scope]

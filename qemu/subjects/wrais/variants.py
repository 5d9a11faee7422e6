# SPDX-License-Identifier: GPL-2.0
"""What is measured: an I/O scheduler, the application's priority, and the parts switched on."""

from __future__ import annotations

from dataclasses import dataclass, replace

PARTS = ("raise", "dirty", "copy_out", "inherit", "tags", "floor")
"""What can be switched off by itself."""
NO_PARTS = "none"
ALL_PARTS = "all"
SIMPLE = "dirty,tags"
"""What needs no weight raising: raising must justify itself against these."""


@dataclass(frozen=True)
class Variant:
    """`klass` and `level` are the application's ioprio, `parts` is what wrais-run switches on.

    `weights` are those of the application's cgroup and of the load's, if they have any; of a
    `member` the cgroup is privileged. `load` is the I/O class of the load, if it has one.
    `kernel` is the kernel that it runs on.
    """

    name: str
    label: str
    sched: str = "bfq"
    klass: str = "be"
    level: int = 4
    parts: str = NO_PARTS
    weights: str = ""
    member: bool = False
    load: str = ""
    kernel: str = "guest"

    def options(self) -> tuple[str, ...]:
        """wrais-run's options."""
        ioprio = ("--class", self.klass, "--level", str(self.level))
        groups = ("--groups", self.weights) if self.weights else ()
        member = ("--member",) if self.member else ()
        load = ("--load-class", self.load) if self.load else ()
        return ("--sched", self.sched, *ioprio, "--wrais", self.parts, *groups, *member, *load)


BFQ = Variant("bfq", "BFQ, BE/4")
BE0 = Variant("bfq-be0", "BFQ, BE/0", level=0)
RT0 = Variant("bfq-rt0", "BFQ, RT/0", klass="rt", level=0)
SIMPLE_RT = Variant("rt-simple", "RT/0, no raising", klass="rt", level=0, parts=SIMPLE)
WRAIS = Variant("wrais", "privileged", klass="rt", level=0, parts=ALL_PARTS)
WEIGHTS = "50,1000"
"""Of the application's cgroup and of the load's: the io controller is against it."""
GROUPED = replace(WRAIS, name="wrais-groups", label="privileged, in a group", weights=WEIGHTS)
MEMBER = Variant("wrais-member", "io.wrais", parts=ALL_PARTS, weights=WEIGHTS, member=True)
RT0_GROUPED = replace(RT0, name="bfq-rt0-groups", label="RT/0, in a group", weights=WEIGHTS)
SIMPLE_RT_GROUPED = replace(
    SIMPLE_RT, name="rt-simple-groups", label="RT/0, no raising, in a group", weights=WEIGHTS
)
IN_GROUPS = (RT0_GROUPED, SIMPLE_RT_GROUPED, GROUPED, MEMBER)
DEADLINE = Variant("mq-deadline", "mq-deadline", sched="mq-deadline")
KYBER = Variant("kyber", "kyber", sched="kyber")
NONE = Variant("none", "none", sched="none")

PEERS = (BE0, RT0, SIMPLE_RT, DEADLINE, KYBER, NONE)
"""What a user could pick instead of stock BFQ and of the privilege."""

PLAIN = Variant("bfq-plain", "BFQ, compiled out", kernel="plain")
"""Stock BFQ on a kernel without the options, for the price of what is switched off."""

ON = Variant("bfq-on", "BFQ, switched on", parts=ALL_PARTS)
"""Stock BFQ with everything switched on for no task, for what all pay then."""


def without(part: str) -> Variant:
    """All parts but one."""
    return replace(WRAIS, name=f"wrais-no-{part}", label=f"no {part}", parts=f"{ALL_PARTS},-{part}")


ABLATIONS = tuple(without(part) for part in PARTS)
"""Each part switched off in turn."""


LABELS = {
    variant.name: variant.label
    for variant in (BFQ, *PEERS, WRAIS, *IN_GROUPS, *ABLATIONS, PLAIN, ON)
}
"""Of all variants, in the order of the figures."""

# SPDX-License-Identifier: GPL-2.0
"""How long each suite may take on two cores, in host seconds.

About two to three times what was measured on a quiet machine. A suite that takes
longer is named at the end of the run; one that takes four times as long is lost.
$(O)/logs/durations-KERNEL.json has what the last run took.
"""

from __future__ import annotations

from dataclasses import replace

from lab import LabError
from lab.guest.boot import Boot
from lab.paths import CHECKED, MATRIX

GUEST = {
    "boot": 25,
    "kunit": 15,
    "lottery-api": 20,
    "lottery-list": 70,
    "lottery-rbtree": 70,
    "lottery-sums": 70,
    "lottery-tools": 110,
    "lottery-smp-list": 40,
    "lottery-smp-sums": 45,
    "lottery-bounds": 70,
    "lottery-displaced": 60,
    "lottery-lend": 90,
    "lottery-mutex": 25,
    "lottery-currency": 120,
    "lottery-core": 35,
    "lottery-nohz": 30,
    "lottery-torture-list": 60,
    "lottery-torture-rbtree": 60,
    "lottery-torture-sums": 60,
    "lottery-torture-core": 60,
    "wrais-api": 30,
    "wrais-io": 210,
    "wrais-deadline": 40,
    "wrais-safety": 280,
    "wrais-safety-smp": 120,
    "wrais-crypt": 60,
    "wrais-loop": 90,
    "wrais-cloud": 120,
    "ipclat": 70,
    "ipclat-containers": 60,
    "udprate": 90,
    "udprate-tools": 100,
    "livelock": 90,
    "livelock-governor": 80,
    "livelock-ports": 20,
    "livelock-tools": 25,
    "livelock-driver": 120,
    "livelock-hostile": 180,
    "livelock-cards": 60,
    "livelock-virtio": 40,
    "livelock-smp": 60,
    "livelock-backlog": 60,
    "livelock-hotplug": 120,
    "livelock-options": 40,
    "livelock-mitigation": 40,
    "livelock-beside": 60,
    "livelock-other-card": 60,
    "livelock-forward": 60,
    "livelock-torture": 60,
    "livelock-torture-smp": 60,
    "livelock-torture-calm": 60,
    "livelock-torture-e1000": 60,
    "livelock-torture-e1000-smp": 90,
}
"""On the normal kernel, in full."""

DEBUG = {
    "boot": 180,
    "kunit": 120,
    "lottery-api": 160,
    "lottery-sums": 160,
    "lottery-tools": 160,
    "lottery-smp-sums": 320,
    "lottery-lend": 240,
    "lottery-mutex": 120,
    "lottery-currency": 240,
    "lottery-torture-list": 180,
    "lottery-torture-rbtree": 180,
    "lottery-torture-sums": 180,
    "lottery-torture-core": 200,
    "wrais-api": 120,
    "wrais-io": 600,
    "wrais-deadline": 160,
    "wrais-safety": 300,
    "wrais-safety-smp": 300,
    "ipclat": 300,
    "livelock": 640,
    "livelock-governor": 160,
    "livelock-ports": 220,
    "livelock-tools": 110,
    "livelock-driver": 600,
    "livelock-hostile": 440,
    "livelock-cards": 200,
    "livelock-hotplug": 300,
    "livelock-torture-smp": 170,
    "livelock-torture-calm": 150,
    "livelock-torture-e1000-smp": 170,
}
"""On the kernel with checks, shortened; about twice what was measured."""

BUDGETS = {
    "guest": GUEST,
    "debug": DEBUG,
    **{kernel: DEBUG if kernel in CHECKED else GUEST for kernel in MATRIX},
}


def budgeted(boot: Boot, kernel: str) -> Boot:
    """The suite with its budget on a kernel.  Raises LabError if it has none."""
    of_kernel = BUDGETS[kernel]
    if boot.name not in of_kernel:
        raise LabError(f"{boot.name}: no budget on the {kernel} kernel", exit_code=1)
    return replace(boot, budget_s=of_kernel[boot.name])

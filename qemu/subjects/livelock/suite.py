# SPDX-License-Identifier: GPL-2.0
"""The suites of the receive path: plan.toml, with the options of each variant."""

from lab import plan
from lab.guest.boot import Boot
from subjects.livelock.experiment import FUNCTIONS
from subjects.livelock.variants import ALL


def boots() -> tuple[Boot, ...]:
    """All of them, and the long ones."""
    variants = {variant.name: " ".join(variant.options()) for variant in ALL}
    return plan.boots("livelock", functions=" ".join(FUNCTIONS), **variants)

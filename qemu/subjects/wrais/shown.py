# SPDX-License-Identifier: GPL-2.0
"""How the demo tells of the experiment."""

from __future__ import annotations

from lab.experiment import Shown
from lab.guest import places
from lab.guest.places import DEPTHS
from lab.report.goals import value
from lab.report.measured import Measured
from lab.report.records import Param
from subjects.wrais import variants
from subjects.wrais.goals import GOALS


def _told(measured: Measured) -> str | None:
    beside: dict[str, Param] = {
        **{"background": "1r1w", "probe": "lprobe", "depth": DEPTHS[0]},
        "disk": places.FLASH.name,
    }
    ours, stock = (
        value(measured.records, "startup_over_idle", variant.name, **beside)
        for variant in (variants.WRAIS, variants.BFQ)
    )
    if ours is None or stock is None:
        return None
    return f"A start under load took {ours:.2f} x that on an idle disk, stock {stock:.2f} x."


SHOWN = Shown(
    _told,
    "start-up-depth2",
    GOALS,
    tuple(variant.name for variant in (variants.BFQ, *variants.PEERS)),
)

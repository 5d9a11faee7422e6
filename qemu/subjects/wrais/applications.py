# SPDX-License-Identifier: GPL-2.0
"""Applications other than LProbe: start-ups like real ones', and probes that must not starve.

Names of wrais-run's probes and the variants that they need; experiment.py has the rows.
"""

from __future__ import annotations

from dataclasses import replace

from subjects.wrais.variants import ALL_PARTS, SIMPLE, SIMPLE_RT, WRAIS, Variant

APPS = {"app-uring": 1, "app-direct": 2, "app-mmap": 3, "app-aio": 5, "app-pread": 10}
"""Start-ups of real applications' shape, with about their guest seconds on an idle disk."""
APP_LOAD = ("--sync", "2000")
"""While they start another process calls sync(2) every 2 s, if there are writers."""
APP_MEAN = "app-mean"
"""The mean of them, as a probe of its own."""

ENDLESS = {"endless-random": 60, "endless-write": 60, "endless-fsync": 60}
"""Probes that never stop, in addition to the endless reader."""
WINDOW_S = 30
"""The others have their part of the disk in any row of N seconds."""

WAITS = {"append": 40, "commit": 40}
"""Probes that append a page every 10 ms, without and with an fsync: never privileged."""

FAIR_LOAD = "1r"
"""One privileged reader as the load of another."""

PAIR = replace(WRAIS, name="wrais-pair", label="two privileged", load="rt")
PAIR_SIMPLE = replace(SIMPLE_RT, name="rt-simple-pair", label="two of RT/0, no raising", load="rt")
PAIRS = (PAIR, PAIR_SIMPLE)
BESIDE = Variant("wrais-beside", "under a privileged load", parts=ALL_PARTS, load="rt")
"""The load is privileged, the probe is not."""
BESIDE_RT0 = Variant("bfq-beside-rt0", "BFQ, under RT/0", load="rt")
BESIDE_SIMPLE = Variant("rt-simple-beside", "under RT/0, no raising", parts=SIMPLE, load="rt")
BESIDE_ANY = (BESIDE, BESIDE_RT0, BESIDE_SIMPLE)


def group(probe: str) -> str:
    """Applications share a boot; any other probe has its own."""
    return "apps" if probe in APPS else probe


def load(probe: str, writers: int) -> tuple[str, ...]:
    """What the load does besides."""
    return APP_LOAD if probe in APPS and writers else ()

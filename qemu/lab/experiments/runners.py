# SPDX-License-Identifier: GPL-2.0
"""The runner of all boots: guests in QEMU, the rest on the host, with its peers."""

from __future__ import annotations

from collections.abc import Collection

from lab.experiments.boots import Runner
from lab.experiments.guest import guest_runner
from lab.experiments.host import host_runner
from lab.experiments.udp import iperf
from lab.paths import Paths


def runner(paths: Paths, label: str, kernels: Collection[str] = ("guest",)) -> Runner:
    """See guest_runner."""
    return host_runner(paths, {iperf.KIND: iperf.run}, guest_runner(paths, label, kernels))

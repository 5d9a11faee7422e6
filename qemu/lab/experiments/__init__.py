# SPDX-License-Identifier: GPL-2.0
"""Experiments: what is measured in the guest, and the `bench` verb that runs one."""

from lab.experiments.bench import register

__all__ = ["register"]

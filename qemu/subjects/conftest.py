# SPDX-License-Identifier: GPL-2.0
"""Tests of a subject need no guest: they have the fixtures of such tests of the lab."""

from tests.host.conftest import interruptible, paths

__all__ = ["interruptible", "paths"]

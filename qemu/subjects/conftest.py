# SPDX-License-Identifier: GPL-2.0
"""Tests of a subject need no guest: they have the fixtures of such tests of the lab."""

from tests.host.conftest import interruptible, nothing_outlives_the_tests, paths

__all__ = ["interruptible", "nothing_outlives_the_tests", "paths"]

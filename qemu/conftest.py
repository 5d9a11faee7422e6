# SPDX-License-Identifier: GPL-2.0
"""Tests of the lab and of all subjects have the same fixtures and hooks."""

pytest_plugins = ["tests.session"]

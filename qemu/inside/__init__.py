# SPDX-License-Identifier: GPL-2.0
"""Tests that run inside a guest, and what they share; nothing beyond Python's library is there."""

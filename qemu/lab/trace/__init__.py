# SPDX-License-Identifier: GPL-2.0
"""Runs that are recorded, to draw who waits for whom."""

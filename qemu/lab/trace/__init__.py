# SPDX-License-Identifier: GPL-2.0
"""Runs that are recorded, and drawn as who waits for whom."""

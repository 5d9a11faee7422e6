# SPDX-License-Identifier: GPL-2.0
"""The lottery experiment: the cost of both pools, and how often each task wins."""

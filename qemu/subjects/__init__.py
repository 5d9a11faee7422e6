# SPDX-License-Identifier: GPL-2.0
"""A folder a subject: its suite, its experiment, its goals and its figures."""

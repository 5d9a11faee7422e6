# SPDX-License-Identifier: GPL-2.0
"""One guest: the machine, what boots it, its life, its results and its console."""

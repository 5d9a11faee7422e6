# SPDX-License-Identifier: GPL-2.0
"""Records of what was measured, their statistics, goals, tables and figures."""

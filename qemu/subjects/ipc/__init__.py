# SPDX-License-Identifier: GPL-2.0
"""The IPC experiment: how long a message needs, by mechanism, policy and load."""

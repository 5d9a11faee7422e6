# SPDX-License-Identifier: GPL-2.0
"""The I/O experiment: how long a privileged application takes to start on a busy disk."""

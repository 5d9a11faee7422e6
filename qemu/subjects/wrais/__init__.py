# SPDX-License-Identifier: GPL-2.0
"""The I/O experiment: how long a privileged application takes to start beside a busy disk."""

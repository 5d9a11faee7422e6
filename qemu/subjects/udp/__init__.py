# SPDX-License-Identifier: GPL-2.0
"""The UDP experiment: how exactly a process sends at a rate, beside iperf3 and a naive one."""

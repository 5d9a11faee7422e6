# SPDX-License-Identifier: GPL-2.0
"""The UDP experiment: how exactly a process holds a rate, against iperf3 and a naive one."""

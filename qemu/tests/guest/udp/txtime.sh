#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: txtime
# What: The kernel sends each packet at its own time: 118 us apart, and 0 without the qdisc.
# Needs: root
# Time: 60
# Debug: no
#
# Arguments: the qdisc, its options. A hog keeps the guest from waiting in the host's time.
qdisc=$1
tc qdisc replace dev lo root "$@"
udprate -r 100 -t 1 --loop --strict --txtime "$qdisc" --hogs 1 --policy fifo --json >/tmp/out
cat /tmp/out
tc -s qdisc show dev lo
tc qdisc del dev lo root
grep -E '"received_gap_us_p50":1[0-3][0-9]\.' /tmp/out

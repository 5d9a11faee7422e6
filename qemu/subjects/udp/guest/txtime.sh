#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: txtime
# What: The kernel sends each packet at its own time: 118 us apart, and 0 without the qdisc.
# Needs: nothing
# Time: 60
# Debug: no
#
# Arguments: the qdisc, its options.
qdisc=$1
trap 'tc qdisc del dev lo root || true' EXIT
tc qdisc replace dev lo root "$@"
udprate -r 100 -t 1 --loop --strict --txtime "$qdisc" --policy fifo --json >/tmp/out
cat /tmp/out
tc -s qdisc show dev lo
grep -E '"received_gap_us_p50":1[0-3][0-9]\.' /tmp/out

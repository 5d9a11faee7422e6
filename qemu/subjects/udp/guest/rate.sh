#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: rate
# What: What the receiver counts, by its own clock, is the rate in the argument, to 0.1 %.
# Needs: nothing
# Time: 60
# Debug: no
#
# Whatever the sender says of itself: it may be wrong in the same way.
udprate -r "$1" -t 2 --loop --policy fifo --json >/tmp/out
cat /tmp/out
bytes=$(grep -o '"received_bytes":[0-9]*' /tmp/out | cut -d: -f2)
mbps=$(grep -o '"received_mbps":[0-9.]*' /tmp/out | cut -d: -f2)
awk -v wanted="$1" -v bytes="$bytes" -v mbps="$mbps" '
function off(value) { return (value / wanted - 1) ^ 2 > 0.001 ^ 2 }
BEGIN { exit off(bytes * 8 / 1e6 / 2) || off(mbps) }'

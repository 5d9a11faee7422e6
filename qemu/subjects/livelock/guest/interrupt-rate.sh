#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: interrupt-rate
# What: The card keeps the least time between two interrupts that ethtool has set.
# Needs: cards=2 module=napi_livelock
# Time: 120
. "${0%/*}/common.sh"

# Two seconds of frames from the far side: how many interrupts do they take?
interrupts() {
	from=$(received)
	before=$(counter interrupts)
	ip netns exec far udprate -r 1 -t 2 -s 64 -p 9003 --blind --best-effort $near || true
	frames=$(($(received) - from))
	[ $frames -gt 0 ]
	bound [ $frames -ge 200 ]
	took=$(($(counter interrupts) - before))
	echo "$took interrupts for $frames frames"
}

bring_up
rxmode eth0 mode napi
interrupts
bound [ $((100 * took)) -ge $((30 * frames)) ]
# At most 100 a second, and a few for what comes before and after.
most=250
ethtool -C eth0 rx-usecs 10000
interrupts
bound [ "$took" -le $most ]
# Of a card that was down as well.
ip link set eth0 down
ip link set eth0 up
tries far_pings
interrupts
bound [ "$took" -le $most ]
ethtool -C eth0 rx-usecs 0

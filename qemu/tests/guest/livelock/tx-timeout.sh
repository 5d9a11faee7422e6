#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: tx-timeout
# What: A card that does not send any more is begun anew.
# Needs: root cards=2 module=napi_livelock
# Time: 120
. "${0%/*}/common.sh"

bring_up
rxmode eth0 mode napi
reach 56
nll-stick "/sys/class/net/eth0/device"
# What is sent now stays in the card. More than it may keep, until the watchdog looks.
udprate -r 1 -t 1 -s 64 -p 9003 --blind --best-effort $far || true
until [ "$(counter tx_timeouts)" -ge 1 ]; do
	true
done
tries far_pings
reach 56

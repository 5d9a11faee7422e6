#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: tx-queue
# What: What may wait in the card is limited, and in rounds what was sent costs no interrupt.
# Needs: cards=2 module=napi_livelock
# Time: 120
# Debug: no
. "${0%/*}/common.sh"

# Two seconds of 2,000 frames each to the far side: how many interrupts did they take?
send() {
	before=$(counter interrupts)
	udprate -r 1 -t 2 -s 64 -p 9003 --blind --best-effort $far
	took=$(($(counter interrupts) - before))
}

bring_up
rxmode eth0 mode napi
send
bound [ $took -ge 400 ]
[ "$(cat /sys/class/net/eth0/queues/tx-0/byte_queue_limits/limit)" -gt 0 ]
rxmode --governor eth0 mode poll round_us 10000
send
bound [ $took -le 40 ]
rxmode --governor eth0 mode off

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: duplicates
# What: Packets that a network duplicates are counted as such, not as arrivals; with --strict: 1.
# Needs: nothing
# Time: 60
# Debug: no
trap 'tc qdisc del dev lo root || true' EXIT
tc qdisc add dev lo root netem duplicate 5%
send() {
	udprate -r 20 -t 1 --loop --method send --policy fifo --json "$@" >/tmp/out
}
value() {
	grep -o "\"$1\":[0-9.]*" /tmp/out | head -n 1 | cut -d: -f2
}
send
cat /tmp/out
[ "$(value received)" -eq "$(value packets)" ]
[ "$(value received_bytes)" -eq "$(value bytes)" ]
[ "$(value duplicates)" -gt 20 ]
status=0
send --strict || status=$?
[ $status -eq 1 ]

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: clock-set
# What: The wall clock is set on and back by an hour during a run: no figure or time of it follows.
# Needs: nothing
# Time: 60
# Debug: no
#
# Arguments: of udprate. The kernel stamps packets by that clock.
set_clock() {
	date -s "@$(($(date +%s) + $1))" >/tmp/date
}
back=0
trap 'set_clock $back' EXIT
: >/tmp/intervals
udprate -r 20 -t 2 -i 0.5 --loop --policy fifo --json "$@" >/tmp/out 2>>/tmp/intervals &
sender=$!
for seconds in 3600 -7200; do
	was=$(wc -l </tmp/intervals)
	until [ "$(wc -l </tmp/intervals)" -gt "$was" ] || ! kill -0 $sender; do
		sleep 0.01
	done
	set_clock $seconds
	back=$((back - seconds))
done
wait $sender
cat /tmp/out
value() {
	grep -o "\"$1\":[0-9.]*" /tmp/out | head -n 1 | cut -d: -f2
}
awk -v mbps="$(value received_mbps)" -v gap="$(value received_gap_us_max)" '
BEGIN { exit mbps < 19.8 || mbps > 20.2 || gap > 100000 }'

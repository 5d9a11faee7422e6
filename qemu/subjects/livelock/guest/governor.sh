#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: governor
# What: rxmode speaks to the governor of any device; rounds are counted and traced.
# Needs: cards=2 module=napi_livelock
# Time: 120
. "${0%/*}/common.sh"

bring_up
rxmode lo | grep -x 'lo mode off limit 50 high 30 low 20 quota 64 round_us 200 hold_us 20000'
rxmode eth0 mode napi
# All of it or nothing.
status=0
rxmode --governor eth0 mode poll low 26 || status=$?
test $status -eq 2
rxmode --governor --json eth0 | grep '"mode":"off"'
# Rounds, for as long as they are asked for, with what is asked for from the first one on,
# though frames come meanwhile. Before that, interrupts again.
rxmode --governor eth0 mode auto
reach 56
trace-cmd start -e rxgov
asked='rxgov_switch: dev=eth0 .* why=asked'
# Receiving may have had its part of the CPU just then: that reason goes before.
for _ in 1 2 3 4 5 6 7 8; do
	rxmode --governor eth0 mode auto round_us 200
	before=$(received)
	ip netns exec far udprate -r 1 -t 60 -s 64 --blind --best-effort -p 9005 $near >/dev/null &
	flood=$!
	until [ "$(received)" -gt "$before" ]; do
		[ -e "/proc/$flood/exe" ]
	done
	rxmode --governor eth0 mode poll round_us 500
	kill $flood
	wait $flood || true
	reach 56
	if trace-cmd show | grep "$asked"; then
		break
	fi
done
trace-cmd stop
# Half of it more where frames come close.
trace-cmd show | grep -m 1 "$asked" | grep 'delay_ns=\(500000\|750000\)$'
rxmode --governor --json eth0 | grep '"asked":[1-9]'
rxmode --governor eth0 mode off
reach 56

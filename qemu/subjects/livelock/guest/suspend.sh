#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: suspend
# What: Devices that sleep and wake up receive as before, in each mode and under the governor.
# Needs: cards=2 module=napi_livelock
# Time: 120
. "${0%/*}/common.sh"

# All but the machine itself sleeps, and wakes up at once: the wait between is a busy one.
sleeps() {
	echo freeze >/sys/power/state
	tries far_pings
	reach 56
}

bring_up
echo devices >/sys/power/pm_test
echo 0 >/sys/module/suspend/parameters/pm_test_delay
for mode in interrupt poll napi; do
	rxmode eth0 mode $mode
	sleeps
done
rxmode --governor eth0 mode auto
sleeps
rxmode --governor eth0 mode poll
sleeps
rxmode --governor eth0 mode off
# One that is down stays down.
ip link set eth0 down
echo freeze >/sys/power/state
[ ! -e /sys/class/net/eth0/carrier ] || fails cat /sys/class/net/eth0/carrier
ip link set eth0 up
tries far_pings

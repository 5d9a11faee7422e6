#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: rmmod
# What: The module goes, with its devices and its timer, as often as it came.
# Needs: root cards=2 module=napi_livelock
. "${0%/*}/common.sh"

bring_up
rxmode eth0 mode poll
ip netns del far
rmmod napi_livelock
test ! -e /sys/class/net/eth0
# A timer that were left would fire meanwhile.
for _ in 1 2 3; do
	insmod /lab/modules/napi_livelock.ko
	rmmod napi_livelock
done
# Another scenario brings the cards up anew.
leave_cards

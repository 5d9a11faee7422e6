#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: multicast
# What: The card takes frames for a group as long as it is joined.
# Needs: root cards=2 module=napi_livelock
# Time: 60
. "${0%/*}/common.sh"

# Its bit of the card's table is no other group's, as that of all hosts is 0x10.
group=01:00:5e:7f:12:34

bring_up
far_takes_us_for $group
fails far_pings
ip maddress add $group dev eth0
tries far_pings
ip maddress del $group dev eth0
fails far_pings
far_forgets_us

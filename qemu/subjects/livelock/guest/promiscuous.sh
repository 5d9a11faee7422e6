#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: promiscuous
# What: A promiscuous card takes frames for others, and no longer than that.
# Needs: root cards=2 module=napi_livelock
# Time: 60
. "${0%/*}/common.sh"

bring_up
far_takes_us_for 02:00:00:00:00:99
fails arrives
ip link set eth0 promisc on
tries arrives
ip link set eth0 promisc off
fails arrives
far_forgets_us
tries far_pings

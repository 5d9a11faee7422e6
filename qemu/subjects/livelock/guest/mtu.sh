#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: mtu
# What: The largest MTU is 2026, and other MTUs than the usual work.
# Needs: root cards=2 module=napi_livelock
. "${0%/*}/common.sh"

bring_up
ip link set eth0 mtu 2026
fails ip link set eth0 mtu 2027
reach 1400
ip -n far link set eth1 mtu 2026
reach 1998
ip -n far link set eth1 mtu 1500
ip link set eth0 mtu 1500

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: mtu
# What: The largest MTU is 1642, and other MTUs than the usual work.
# Needs: root cards=2 module=napi_livelock
. "${0%/*}/common.sh"

bring_up
ip link set eth0 mtu 1642
fails ip link set eth0 mtu 1643
reach 1400
ip link set eth0 mtu 1500

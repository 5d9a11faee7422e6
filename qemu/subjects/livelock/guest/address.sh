#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: address
# What: The card takes frames for the address that it is given.
# Needs: root cards=2 module=napi_livelock
. "${0%/*}/common.sh"

bring_up
ip link set eth0 down
ip link set eth0 address 02:00:00:00:00:77
ip link set eth0 up
reach 56

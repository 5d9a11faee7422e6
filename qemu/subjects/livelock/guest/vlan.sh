#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: vlan
# What: Frames with a VLAN tag are not too long.
# Needs: root cards=2 module=napi_livelock
. "${0%/*}/common.sh"

bring_up
ip link add link eth0 name tag0 type vlan id 5
ip -n far link add link eth1 name tag1 type vlan id 5
ip address add 10.10.0.1/24 dev tag0
ip link set tag0 up
ip -n far address add 10.10.0.2/24 dev tag1
ip -n far link set tag1 up
reach 1472 10.10.0.2
# Else the far side asks, five seconds later, whether we are still there.
ip link del tag0
ip -n far link del tag1

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: up
# What: Two cards come up and see each other.
# Needs: root cards=2 module=napi_livelock
. "${0%/*}/common.sh"

bring_up
grep -x 1 /sys/class/net/eth0/carrier

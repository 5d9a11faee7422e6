#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: coalesce
# What: The least time between two interrupts is set by ethtool.
# Needs: root cards=2 module=napi_livelock
. "${0%/*}/common.sh"

bring_up
ethtool -C eth0 rx-usecs 500
fails ethtool -C eth0 rx-usecs 16777
ethtool -c eth0 | grep '^rx-usecs:.*500$'
reach 56
ethtool -C eth0 rx-usecs 0

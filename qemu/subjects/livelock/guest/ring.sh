#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: ring
# What: Rings can be of another length, of some lengths only, and work then.
# Needs: root cards=2 module=napi_livelock
. "${0%/*}/common.sh"

bring_up
ethtool -G eth0 rx 1024
ethtool -g eth0 | grep -x 'RX:.*1024'
fails ethtool -G eth0 rx 60
fails ethtool -G eth0 rx 4104
ethtool -g eth0 | sed -n '/^Current/,$p' | grep -x 'RX:.*1024'
tries far_pings

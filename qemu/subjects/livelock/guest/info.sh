#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: info
# What: ethtool names the driver.
# Needs: root cards=2 module=napi_livelock
. "${0%/*}/common.sh"

bring_up
ethtool -i eth0 | grep -x 'driver: napi_livelock'

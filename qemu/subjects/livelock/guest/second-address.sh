#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: second-address
# What: The card takes frames for a second address as long as it has one.
# Needs: root cards=2 module=napi_livelock
# Time: 60
. "${0%/*}/common.sh"

other=02:00:00:00:00:99

bring_up
far_takes_us_for $other
fails arrives
bridge fdb add $other dev eth0 self
tries arrives
bridge fdb del $other dev eth0 self
fails arrives
far_forgets_us

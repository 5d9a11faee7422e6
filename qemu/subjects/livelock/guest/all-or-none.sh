#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: all-or-none
# What: A bad value is refused, and the good ones with it are not set.
# Needs: root cards=2 module=napi_livelock
. "${0%/*}/common.sh"

bring_up
rxmode eth0 mode poll
status=0
rxmode eth0 mode interrupt poll_us 777 quota 0 || status=$?
test $status -eq 2
rxmode eth0 | grep 'mode poll'
[ "$(cat /sys/class/net/eth0/nll/poll_us)" -ne 777 ]

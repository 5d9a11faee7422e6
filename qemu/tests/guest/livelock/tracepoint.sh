#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: tracepoint
# What: A change of the mode is traced with its reason.
# Needs: root cards=2 module=napi_livelock
# Time: 120
. "${0%/*}/common.sh"

bring_up
rxmode eth0 mode napi
trace-cmd record -q -e napi_livelock -o /tmp/trace rxmode eth0 mode poll
trace-cmd report -i /tmp/trace | grep 'to=poll reason=asked'

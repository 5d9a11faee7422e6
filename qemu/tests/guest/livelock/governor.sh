#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: governor
# What: rxmode speaks to the governor of any device; rounds are counted and traced.
# Needs: root cards=2 module=napi_livelock
# Time: 120
. "${0%/*}/common.sh"

bring_up
rxmode lo | grep -x 'lo mode off limit 50 high 30 low 20 quota 64 round_us 200 hold_us 20000'
rxmode eth0 mode napi
# All of it or nothing.
status=0
rxmode --governor eth0 mode poll low 26 || status=$?
test $status -eq 2
rxmode --governor --json eth0 | grep '"mode":"off"'
# Rounds, for as long as they are asked for. Before that, interrupts again.
rxmode --governor eth0 mode auto
reach 56
trace-cmd start -e net_governor
rxmode --governor eth0 mode poll round_us 500
reach 56
rxmode --governor --json eth0 | grep '"asked":"*[1-9]'
rxmode --governor eth0 mode off
reach 56
trace-cmd stop
trace-cmd show | grep 'nll_governor_switch: dev=eth0 .* why=asked .* delay_ns=500000'

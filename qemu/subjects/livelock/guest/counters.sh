#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: counters
# What: The driver counts frames, interrupts and polls; polled, it has no interrupts.
# Needs: root cards=2 module=napi_livelock
. "${0%/*}/common.sh"

bring_up
rxmode eth0 mode napi
frames=$(received) interrupts=$(counter interrupts) polls=$(counter polls)
reach 56
test "$(received)" -ge $((frames + 3))
test "$(counter interrupts)" -ge $((interrupts + 3))
test "$(counter polls)" -ge $((polls + 3))
rxmode eth0 mode poll
interrupts=$(counter interrupts) polls=$(counter polls)
reach 56
test "$(counter interrupts)" -eq "$interrupts"
test "$(counter polls)" -gt "$polls"
bound [ "$(counter polls)" -ge $((polls + 100)) ]
rxmode eth0 mode napi

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: json
# What: rxmode writes JSON of the driver, and of the governor.
# Needs: root cards=2 module=napi_livelock
. "${0%/*}/common.sh"

bring_up
rxmode eth0 mode poll
rxmode --json eth0 | grep '"by":"driver","settings":{"mode":"poll","quota":[0-9]*,"poll_us":[0-9]*},"counters":{'
rxmode --json -g eth0 | grep '"by":"governor".*"napi":\[{"id":[0-9]*,"mode":"off","state":"interrupts"}\]}$'

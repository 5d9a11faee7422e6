#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: json
# What: rxmode writes JSON.
# Needs: root cards=2 module=napi_livelock
. "${0%/*}/common.sh"

bring_up
rxmode eth0 mode poll
rxmode --json eth0 | grep '"mode":"poll"'

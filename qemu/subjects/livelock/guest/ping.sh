#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: ping
# What: In the mode that is named, small and large frames come and go.
# Needs: root cards=2 module=napi_livelock
. "${0%/*}/common.sh"

bring_up
rxmode eth0 mode "$1"
reach 56
reach 1400

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: governor-just
# What: A socket without a reader loses frames early; another socket loses none of its own.
# Needs: cards=2 module=napi_livelock
# Time: 120
. "${0%/*}/common.sh"

bring_up
rxmode eth0 mode napi
stays_just eth0
reach 56

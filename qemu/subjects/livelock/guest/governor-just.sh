#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: governor-just
# What: A socket that nobody reads loses frames early; the one beside it loses none of its own.
# Needs: cards=2 module=napi_livelock
# Time: 120
. "${0%/*}/common.sh"

bring_up
rxmode eth0 mode napi
stays_just eth0
reach 56

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: features
# What: The card's look at checksums can be switched off, and on again.
# Needs: root cards=2 module=napi_livelock
. "${0%/*}/common.sh"

bring_up
ethtool -K eth0 rx off
ethtool -k eth0 | grep -x 'rx-checksumming: off'
reach 56
ethtool -K eth0 rx on
ethtool -k eth0 | grep -x 'rx-checksumming: on'
reach 56

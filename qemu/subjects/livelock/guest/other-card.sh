#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: other-card
# What: The driver refuses a device that it is not for.
# Needs: root cards=2 module=napi_livelock
. "${0%/*}/common.sh"

bring_up
bridge=/sys/bus/pci/devices/0000:00:00.0
echo napi_livelock >$bridge/driver_override
echo 0000:00:00.0 >/sys/bus/pci/drivers_probe || true
[ ! -e $bridge/driver ]
echo >$bridge/driver_override
dmesg | grep 'allowed is 8086:100e'

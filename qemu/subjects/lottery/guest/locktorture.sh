#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: locktorture
# What: The kernel's torture of a kind of lock succeeds under lottery hogs on every CPU.
# Needs: root cpus=4 module=torture module=locktorture
# Time: 900
. "${0%/*}/common.sh"

dmesg --clear
start_hogs
insmod /lab/modules/torture.ko
# It ends when it is unloaded; shutdown_secs would switch the machine off.
insmod /lab/modules/locktorture.ko "torture_type=$1" stat_interval=5 shutdown_secs=0
await_reports 'Writes: *Total: '
rmmod locktorture
rmmod torture
stop_hogs
ended_well

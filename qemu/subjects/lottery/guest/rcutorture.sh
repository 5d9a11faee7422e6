#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: rcutorture
# What: The kernel's torture of RCU succeeds under lottery hogs on every CPU.
# Needs: root cpus=4 module=torture module=rcutorture
# Time: 900
. "${0%/*}/common.sh"

dmesg --clear
start_hogs
insmod /lab/modules/torture.ko
# It ends when it is unloaded; shutdown_secs would switch the machine off. Forward
# progress is measured in time that is the hogs' here.
insmod /lab/modules/rcutorture.ko stat_interval=5 shutdown_secs=0 fwd_progress=0
await_reports 'rcu-torture: rtc: '
rmmod rcutorture
rmmod torture
stop_hogs
ended_well

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: mutex
# What: The kernel's lottery mutex: free and taken, killed waiters, loans, a contest.
# Needs: module=lottery_mutex_test
# Time: 60
#
# What the holder is lent is seen in its time.
[ "${LAB_BOUNDS:-}" != off ] || set -- "$@" lend=0
insmod /lab/modules/lottery_mutex_test.ko "$@"
dmesg | grep 'lottery_mutex_test:'
dmesg | grep -q 'tickets 200 taken'
rmmod lottery_mutex_test

# Threads that are no multiple of the groups.
! insmod /lab/modules/lottery_mutex_test.ko threads=7

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: mutex
# What: The kernel's lottery mutex: free and taken, killed waiters, loans, a contest.
# Needs: root module=lottery_mutex_test
# Time: 60
insmod /lab/modules/lottery_mutex_test.ko "$@"
dmesg | grep 'lottery_mutex_test:'
dmesg | grep -q 'tickets 200 taken'
rmmod lottery_mutex_test

# Threads that are no multiple of the groups.
! insmod /lab/modules/lottery_mutex_test.ko threads=7

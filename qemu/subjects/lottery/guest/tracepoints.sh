#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: tracepoints
# What: The events tell the pool after each enqueue, draw and dequeue: five tasks, 1500 tickets.
# Needs: root
# Time: 120
trace-cmd record -q -e sched_lottery -o /tmp/trace lottery-bench fair --tasks 5
trace-cmd report -i /tmp/trace >/tmp/report
grep -m1 'lottery_enqueue:.* tickets=500 ' /tmp/report
grep -m1 'lottery_enqueue:.* total=1500 contenders=5' /tmp/report
grep -m1 'lottery_draw:.* total=1500 contenders=5' /tmp/report
grep -m1 'lottery_dequeue:.* total=0 contenders=0' /tmp/report

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: hogs-beside-a-command
# What: The case hogs has its hogs, with their tickets, as long as its command, whose status it has.
# Needs: root
# Time: 60
# Debug: no
# A parent is told of an exit a little before the last dequeue.
await_none() {
	looks=0
	until lottery top --batch --count 1 | grep ' 0 tasks; 0 tickets'; do
		looks=$((looks + 1))
		test "$looks" -lt 50
	done
}

status=0
lottery-bench hogs --hogs 3 --hog-tickets 40 sh -c 'lottery top --batch --count 1; exit 7' \
	>/tmp/out || status=$?
cat /tmp/out
test "$status" -eq 7
grep -q ' 3 tasks; 120 tickets' /tmp/out
await_none

# without tickets they are no lottery tasks
lottery-bench hogs --hogs 2 lottery top --batch --count 1 | grep ' 0 tasks; 0 tickets'
status=0
lottery-bench hogs sh -c 'kill -TERM $$' || status=$?
test "$status" -eq 143

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: refuse-task-file
# What: A malformed line of a task file is refused with its number, and nothing runs.
# Needs: root
# Debug: no
printf '10 20\n10 ten\n' >/tmp/tasks
status=0
lottery-bench fair /tmp/tasks >/tmp/out 2>/tmp/err || status=$?
cat /tmp/err
test "$status" -eq 2
test ! -s /tmp/out
test "$(wc -l </tmp/err)" -eq 1
grep -q '/tmp/tasks:2: bad work' /tmp/err

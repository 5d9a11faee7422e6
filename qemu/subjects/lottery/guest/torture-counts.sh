#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: torture-counts
# What: lottery-torture ends with its last operation, and fails if there were fewer in time.
# Needs: root cpus=2
# Time: 240
# Debug: no
lottery-torture --operations 50 --seconds 60 >/tmp/out
grep '^# 50 operations of 50 in ' /tmp/out
grep '^ok .* all operations are done in time' /tmp/out >/dev/null
# Each kind is told, and together they are what was done.
awk '/^# (setattr|tickets|setscheduler|nice|affinity|stop|cont|order|read|cookie): / { sum += $3 }
END { exit sum != 50 }' /tmp/out

status=0
lottery-torture --operations 1000000 --seconds 1 >/tmp/out || status=$?
grep '^# .* operations of 1000000 in 1 s, allowed 1' /tmp/out
test "$status" -eq 1
# Nothing else has failed.
test "$(grep -c '^not ok' /tmp/out)" -eq 1
grep '^not ok .* all operations are done in time' /tmp/out >/dev/null

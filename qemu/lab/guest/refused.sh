#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: refused
# What: The command in the arguments ends with status 2 and one line that says why.
# Needs: root
status=0
"$@" >/tmp/out 2>/tmp/err || status=$?
cat /tmp/err
test "$status" -eq 2
test "$(wc -l </tmp/err)" -eq 1
test ! -s /tmp/out

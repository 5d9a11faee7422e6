#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: refuses-too-much
# What: A rate that this machine cannot hold is refused, and what it can hold is said.
# Needs: nothing
status=0
udprate -r 100000 -t 1 2>/tmp/err || status=$?
cat /tmp/err
test "$status" -eq 1
grep 'can do [0-9]* here; --best-effort' /tmp/err

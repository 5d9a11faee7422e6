#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: best-effort
# What: With --best-effort a rate that cannot be held is sent as far as it can be.
# Needs: nothing
udprate -r 100000 -t 0.1 --best-effort >/tmp/out
cat /tmp/out
grep 'packets skipped' /tmp/out

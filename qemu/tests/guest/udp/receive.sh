#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: receive
# What: A receiver that was started by itself gets every packet of a sender.
# Needs: root
# Time: 60
# Debug: no
udprate -r 10 -t 1 -p 4000 --hogs 1 --policy fifo >/dev/null &
udprate --receive -t 1 -p 4000 --json >/tmp/out
cat /tmp/out
grep '"lost":0,' /tmp/out
wait $!

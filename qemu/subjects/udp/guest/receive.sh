#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: receive
# What: A receiver that was started by itself gets every packet of a sender.
# Needs: nothing
# Time: 60
# Debug: no
udprate --receive -p 4000 --json >/tmp/out &
receiver=$!
until [ -n "$(ss -Hltn 'sport = 4000')" ]; do
	true
done
udprate -r 10 -t 1 -p 4000 --policy fifo --strict
udprate -r 10 -t 1 -p 4000 --policy fifo --strict localhost
kill $receiver
wait $receiver
cat /tmp/out
test "$(grep -c '"lost":0,' /tmp/out)" -eq 2

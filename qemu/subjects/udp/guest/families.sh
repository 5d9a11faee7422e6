#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: families
# What: One receiver gets every packet of senders by IPv4 and by IPv6, and says from where.
# Needs: module=ipv6
# Time: 60
# Debug: no
insmod /lab/modules/ipv6.ko
udprate --receive -p 4000 --json >/tmp/out &
receiver=$!
until [ -n "$(ss -Hltn 'sport = 4000')" ]; do
	true
done
for address in 127.0.0.1 ::1; do
	udprate -r 10 -t 1 -p 4000 --policy fifo --strict $address
done
kill $receiver
wait $receiver
cat /tmp/out
test "$(grep -c '"lost":0,' /tmp/out)" -eq 2
grep -q '"peer":{"address":"127.0.0.1"' /tmp/out
grep -q '"peer":{"address":"::1"' /tmp/out

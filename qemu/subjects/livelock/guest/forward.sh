#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: forward
# What: Under the governor ten times as many frames as can be forwarded are forwarded as well.
# Needs: cards=3 module=e1000 module=nll_source
# Time: 300
# Debug: no
. "${0%/*}/common.sh"

sent() {
	cat /sys/class/net/eth1/statistics/tx_packets
}

# A second of $1 frames: how many are forwarded?
forward() {
	echo "packets $1" >$source/config
	before=$(sent)
	echo 1 >$source/run
	until [ "$(cat $source/run)" = "done" ]; do
		busybox usleep 100000
	done
	forwarded=$(($(sent) - before))
	echo "$1 frames/s: $forwarded are forwarded"
	if [ "$forwarded" -gt "$peak" ]; then
		peak=$forwarded
	fi
}

source_and_cards
ip address add $near/24 dev eth0
ip link set eth0 up
ip address add 10.12.0.9/24 dev eth1
ip link set eth1 up
ip neigh replace 10.12.0.1 dev eth1 nud permanent lladdr 02:00:00:00:00:99
echo 1 >/proc/sys/net/ipv4/ip_forward
echo "0000:00:18.0 0000:00:10.0 10.12.0.1 9001" >$source/targets
echo "function constant per_ns 1000000000 duration_ns 1000000000" >$source/config
# A program that wants the CPU, and has its part.
livelock-apps --hog --port 9001 --seconds 600 >/dev/null &
apps=$!
rxmode eth0 mode auto
until [ "$(cat /sys/class/net/eth0/carrier)" = 1 ] && [ "$(cat /sys/class/net/eth1/carrier)" = 1 ]; do
	true
done
peak=0
forward 1000
forward 10000
forward 20000
forward 200000
bound [ "$forwarded" -ge $((peak * 95 / 100)) ]
kill $apps
wait $apps || true

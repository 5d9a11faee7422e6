#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: bottleneck
# What: What a queue of 50 Mbit/s on the way lets through is reported to 1 %, with exit 1.
# Needs: nothing
# Time: 90
# Debug: no
#
# here - router - far: the router's queue is not the sender's, so only the receiver knows.
leave() {
	for name in router far; do
		ip netns delete $name || true
	done
}
trap leave EXIT
ip netns add router
ip netns add far
ip link add here type veth peer name near netns router
ip link add away type veth peer name there netns far
ip link set away netns router
ip address add 10.1.0.1/24 dev here
ip -n router address add 10.1.0.2/24 dev near
ip -n router address add 10.2.0.2/24 dev away
ip -n far address add 10.2.0.1/24 dev there
ip link set here up
ip -n router link set near up
ip -n router link set away up
ip -n far link set there up
ip -n far link set lo up
ip route add 10.2.0.0/24 via 10.1.0.2
ip -n far route add default via 10.2.0.2
ip netns exec router sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'
ip netns exec router tc qdisc add dev away root netem rate 50mbit limit 20

ip netns exec far udprate --receive &
receiver=$!
until [ -n "$(ip netns exec far ss -Hltn 'sport = 32000')" ]; do
	true
done
udprate -r 40 -t 1 --method send --policy fifo --strict 10.2.0.1
status=0
udprate -r 100 -t 2 --method send --policy fifo --json 10.2.0.1 >/tmp/out || status=$?
kill $receiver
wait $receiver
cat /tmp/out
[ $status -eq 1 ]
grep '"dropped":0,' /tmp/out
value() {
	grep -o "\"$1\":[0-9.]*" /tmp/out | head -n 1 | cut -d: -f2
}
# netem counts the frames: 42 bytes more than the payload
awk -v mbps="$(value received_mbps)" -v got="$(value received)" -v bytes="$(value received_bytes)" \
	-v sent="$(value packets)" -v lost="$(value lost)" '
BEGIN {
	size = bytes / got
	share = mbps / (50 * size / (size + 42))
	exit share < 0.99 || share > 1.01 || got + lost != sent
}'

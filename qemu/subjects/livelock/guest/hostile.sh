#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: hostile
# What: Unwanted frames, and full sockets, leave the card open and no rounds.
# Needs: cards=2 module=napi_livelock
# Time: 120
# The arguments are the command that opens ports, or sends to them.
. "${0%/*}/common.sh"

# All rounds that there were, whatever their reason.
rounds() {
	echo $(($(governor asked) + $(governor wanted) + $(governor limit) + $(governor hot)))
}

# 200 frames have come by this command on the far side.
comes() {
	ip netns exec far "$@" || true
	[ $(($(received) - before)) -ge 200 ]
}

# Such frames come, by this command on the far side, and the card stays open, and then there
# are no rounds.
bears() {
	before=$(received)
	# A slow machine sends few of them.
	tries comes "$@"
	reach 56
	# A few, where another task wants the CPU just then; those that go on are thousands.
	before=$(rounds)
	reach 56
	bound [ "$(($(rounds) - before))" -le 20 ]
}

# Those of process $2 decapsulate from now on, and it says so in /tmp/$1.
encapsulates() {
	kill -USR1 "$2"
	until grep -q '^encapsulated' "/tmp/$1"; do
		[ -e "/proc/$2/exe" ]
	done
}

# What ten others hold that were filled just after that, by this command.
held() {
	opens others "$@" 21000 10
	overflow $near "$@"
	ip netns exec far "$@" 21000 10 20 $near
	busybox awk '$2 ~ /:52/ { print $5 }' /proc/net/udp
	closes $opened
}

bring_up
dev=eth0
rxmode --governor $dev mode auto
# A protocol that is not known here: a tag of IEEE 802.1ad.
ip -n far link add link eth1 name odd type vlan proto 802.1ad id 9
ip -n far address add 10.11.0.2/24 dev odd
ip -n far link set odd up
ip -n far neigh replace 10.11.0.1 dev odd nud permanent lladdr "$(cat /sys/class/net/eth0/address)"
bears udprate -r 1 -t 2 -s 64 --blind --best-effort -p 9005 10.11.0.1
ip -n far link del odd
# Ports without a socket: one of them, and one after the other.
bears udprate -r 1 -t 2 -s 64 --blind --best-effort -p 9005 $near
bears "$@" 10000 2000 1 $near
# Datagrams in parts.
ip -n far link set eth1 mtu 576
bears udprate -r 1 -t 2 --blind --best-effort -p 9005 -s 1400 $near
ip -n far link set eth1 mtu 1500
# Thousands of sockets, all of them full.
opens crowd "$@" 20000 2000
crowd=$opened
udprate --receive -t 3 --wait 60 -p 9001 --json $near >/tmp/fast &
fast=$!
until [ "$(ss -Hlun 'sport = 9001' | wc -l)" -eq 1 ]; do
	[ -e "/proc/$fast/exe" ]
done
bears "$@" 20000 2000 5 $near &
flood=$!
ip netns exec far udprate -r 0.1 -t 3 -s 64 -p 9001 --blind --best-effort $near >/dev/null
wait $fast
wait $flood
# As many are known to be full as can be, and the one beside them loses nothing.
until [ "$(governor sockets)" -eq 64 ]; do
	ip netns exec far "$@" 20000 100 5 $near
done
beside_loses_none
closes $crowd
[ "$(governor sockets)" -eq 0 ]
# Ten of them are hot, and frames for them are dropped early.
opens crowd "$@" 20000 10
crowd=$opened
before=$(governor dropped)
until [ "$(governor sockets)" -eq 10 ] && [ "$(governor dropped)" -gt "$before" ]; do
	fill $near "$@"
done
# Not where other sockets receive them as well: all members of a group, raw ones, those of packets.
ip address add 10.12.0.1/24 brd + dev eth0
ip -n far route add 10.12.0.255 via $near
passes 10.12.0.255 "$@"
for what in raw packet eth0; do
	opens tap "$@" tap $what
	passes $near "$@"
	closes $opened
done
# Nor if they decapsulate from now on: frames of tunnels go past their buffer.
encapsulates crowd $crowd
passes $near "$@"
# A full socket holds what it holds without the governor.
full=$(held "$@")
rxmode --governor $dev mode off
[ "$(held "$@")" = "$full" ]
rxmode --governor $dev mode auto
closes $crowd
# Such sockets are never hot. Nor is the ring left alone for them, where another task wants the CPU.
left=$(governor hot)
taskset 1 busybox yes >/dev/null &
hog=$!
opens crowd "$@" 20000 10
encapsulates crowd $opened
overflow $near "$@"
[ "$(governor sockets)" -eq 0 ]
[ "$(governor hot)" -eq "$left" ]
closes $hog $opened
rxmode --governor $dev mode off

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: governor-just
# What: A socket that nobody reads loses frames early; the one beside it loses none of its own.
# Needs: root cards=2 module=napi_livelock
# Time: 120
. "${0%/*}/common.sh"

# A counter of the governor: frames for full sockets, or how many sockets are behind.
governor() {
	sed -n "s/^$1 //p" /sys/class/net/eth0/governor/stats
}

# What the receiver of the socket beside it says, a number.
beside() {
	sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p" /tmp/fast
}

bring_up
rxmode eth0 mode napi
# In rounds, so that frames for both come in one poll.
rxmode --governor eth0 mode poll round_us 10000
before=$(governor dropped)

slow=/sys/fs/cgroup/slow
mkdir $slow
(echo 0 >$slow/cgroup.procs && exec livelock-apps --port 9000 --seconds 60 >/dev/null) &
udprate --receive -t 3 -p 9001 --json $near >/tmp/fast &
fast=$!
until [ "$(ss -Hlun 'sport >= 9000' | wc -l)" -eq 2 ]; do
	true
done
echo 1 >$slow/cgroup.freeze

# Ten times as many for the one as for the other, as far as a slow machine can.
ip netns exec far udprate -r 1 -t 5 -s 64 -p 9000 --best-effort $near >/dev/null &
flood=$!
ip netns exec far udprate -r 0.1 -t 3 -s 64 -p 9001 --best-effort $near >/dev/null
wait $fast $flood
[ "$(governor sockets)" -eq 1 ]
echo 1 >$slow/cgroup.kill
rxmode --governor eth0 mode off

[ "$(governor dropped)" -gt "$before" ]
cat /tmp/fast
[ "$(beside received)" -ge 100 ]
[ "$(beside lost)" -le "$(($(beside received) / 75))" ]
# The frozen one is gone, and so is what the governor knew of it.
until rmdir $slow; do
	true
done
[ "$(governor sockets)" -eq 0 ]
reach 56

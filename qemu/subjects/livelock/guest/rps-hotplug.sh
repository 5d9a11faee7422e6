#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: rps-hotplug
# What: A CPU whose backlog waits goes offline in a flood, comes back, and receives again.
# Needs: cards=3 module=e1000 module=nll_source
# Time: 240
. "${0%/*}/common.sh"

source_and_cards
connect eth0 eth1
tries busybox ping -c 1 -w 4 $far
rxmode eth0 mode auto
echo 2 >/sys/class/net/eth0/queues/rx-0/rps_cpus
echo "0000:00:18.0 0000:00:10.0 $near 9001" >$source/targets
echo "function constant packets 40000 per_ns 1000000000 duration_ns 60000000000" \
	>$source/config
trace=/sys/kernel/tracing
echo 1 >$trace/events/rxgov/rxgov_backlog/enable

# The flood has no socket: a hot socket would drop it earlier.
taskset 2 livelock-apps --hog --port 9003 --seconds 100 >/dev/null &
apps=$!
# taskset has found the CPU online once it has become the program.
until [ "$(cat /proc/$apps/comm)" = livelock-apps ]; do
	kill -0 $apps
done
echo 1 >$source/run
until grep -q rxgov_backlog $trace/trace; do
	# On a busy host the flood may end before. It lags for a moment, then it is done.
	[ "$(cat $source/run)" != "done" ] || echo 1 >$source/run
done
echo 0 >/sys/devices/system/cpu/cpu1/online
echo 0 >$source/run
kill $apps
wait $apps || true
echo 1 >/sys/devices/system/cpu/cpu1/online
tries far_pings

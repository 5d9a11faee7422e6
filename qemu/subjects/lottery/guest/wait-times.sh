#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: wait-times
# What: /proc/PID/sched tells how long a task of the class waited and slept, as of any other.
# Needs: root cpus=2
# Time: 120
trap 'echo 0 >/proc/sys/kernel/sched_schedstats' EXIT
echo 1 >/proc/sys/kernel/sched_schedstats
read -r before _ </proc/uptime
taskset -pc 0 $$
taskset -c 1 lottery -t 100 sh -c '
	trap "exec sleep 1000" USR1
	sleep 0.5
	sleep 0.5
	while :; do :; done' &
hog=$!

field() {
	awk -v name="$1" '$1 == name { print $3 }' "/proc/$hog/sched"
}

# Wait until field $1 of the hog is more than $2 ms.
left=600
reaches() {
	until field "$1" | awk -v ms="$2" '{ ok = $1 > ms } END { exit !ok }'; do
		[ $((left -= 1)) -gt 0 ]
		sleep 0.1
	done
}

# The other one comes when it has slept: a task that is preempted on its way to sleep has a
# wait that only the class counts.
reaches sum_sleep_runtime 900
taskset -c 1 lottery -t 300 sh -c 'while :; do :; done' &
other=$!
reaches wait_sum 200
# Both sums grow when a wait ends, so they are read of a task that sleeps.
kill -KILL "$other"
kill -USR1 "$hog"
until grep -q '^sleep ' "/proc/$hog/sched" && grep -q '^State:.S' "/proc/$hog/status"; do
	[ $((left -= 1)) -gt 0 ]
	sleep 0.1
done
waited=$(field wait_sum) delay=$(awk '{ print $2 }' "/proc/$hog/schedstat")
echo "waited $waited ms, $(field wait_count) times; the scheduler's core says $delay ns"
echo "slept $(field sum_sleep_runtime) ms, of them blocked $(field sum_block_runtime) ms"
# Of any class the core knows how long a task was runnable before it ran.
awk -v sum="$waited" -v ns="$delay" \
	'BEGIN { ms = ns / 1e6; exit !(ms > 100 && sum > ms * 0.99 - 1 && sum < ms * 1.01 + 1) }'
read -r now _ </proc/uptime
awk -v ms="$(field sum_sleep_runtime)" -v s="$before" -v e="$now" \
	'BEGIN { exit !(ms > 900 && ms < 1000 * (e - s)) }'
kill -KILL "$hog"

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: wait-times
# What: /proc/PID/sched tells how long a task of the class waited and slept, as of any other.
# Needs: root
# Time: 120
echo 1 >/proc/sys/kernel/sched_schedstats
lottery -t 100 sh -c "sleep 0.5; sleep 0.5; exec taskset -c 1 sh -c 'while :; do :; done'" &
hog=$!
lottery -t 300 taskset -c 1 sh -c 'while :; do :; done' &
other=$!

field() {
	awk -v name="$1" '$1 == name { print $3 }' "/proc/$hog/sched"
}

left=600
while [ "$(field wait_count)" -lt 100 ] && [ $((left -= 1)) -gt 0 ]; do
	sleep 0.1
done
# Both sums grow when a wait ends. Between two equal readings of one the other belongs to it.
# (A task that is stopped may be preempted on its way: that wait only the class counts.)
together() {
	awk '
		/^[0-9]+ [0-9]+ [0-9]+$/ { moved = seen++ && $2 != ns; ns = $2 }
		$1 == "wait_sum" { sum = $3 }
		END { if (moved || seen != 2 || sum == "") exit 1; print sum, ns }
	' "/proc/$hog/schedstat" "/proc/$hog/sched" "/proc/$hog/schedstat"
}
left=600
until sums=$(together); do
	[ $((left -= 1)) -gt 0 ]
done
waited=${sums% *} delay=${sums#* }
echo "waited $waited ms, $(field wait_count) times; the scheduler's core says $delay ns"
echo "slept $(field sum_sleep_runtime) ms, of them blocked $(field sum_block_runtime) ms"
# Of any class the core knows how long a task was runnable before it ran.
awk -v sum="$waited" -v ns="$delay" \
	'BEGIN { ms = ns / 1e6; exit !(ms > 100 && sum > ms * 0.99 - 1 && sum < ms * 1.01 + 1) }'
awk -v ms="$(field sum_sleep_runtime)" 'BEGIN { exit !(ms > 900 && ms < 10000) }'
kill -KILL "$hog" "$other"
echo 0 >/proc/sys/kernel/sched_schedstats

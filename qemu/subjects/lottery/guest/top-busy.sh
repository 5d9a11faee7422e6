#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: top-busy
# What: On a CPU that lottery tasks keep busy each block of lottery top is right, the first one too.
# Needs: cpus=2
# Time: 120
# Debug: no
. "${0%/*}/common.sh"

# The looks wait for the CPU that the hogs have, and so does nothing else.
taskset -pc 0 $$
lottery -t 300 taskset -c 1 sh -c 'while :; do :; done' &
many=$!
lottery -t 100 taskset -c 1 sh -c 'while :; do :; done' &
few=$!
trap 'kill $many $few' EXIT
until [ "$(awk '$1 == "cpu" && $2 == 1 { print $8 }' /proc/sched_lottery)" = 400 ]; do
	sleep 0.1
done

# Right SECONDS: as much got as is due but for what chance does in a second, and no block
# shorter than a second or longer than SECONDS: what it says itself.
right() {
	cat /tmp/out
	# shellcheck disable=SC2016 # they are awk's
	bound awk -v many="$many" -v few="$few" -v most="$1" '
	function far(got, due) { return got < due - 10 || got > due + 10 }
	/^lottery top/ { looks++; bad += $3 < 0.9 || $3 > most }
	$1 == many && (seen++ || 1) && far($9, 73) { bad++ }
	$1 == few && (seen++ || 1) && far($9, 24) { bad++ }
	END { exit bad || looks != 3 || seen != 6 }' /tmp/out
}

for _ in 1 2; do
	taskset -c 1 lottery top --count 3 >/tmp/out
	right 1.1
	# Below the class it gets its part of the CPU once a second, and so may miss a second.
	taskset -c 1 setpriv --reuid 65534 --clear-groups lottery top --count 3 >/tmp/out
	right 2.2
done

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: top
# What: lottery top shows two hogs of 3:1 on one CPU: 75 % and 25 % are due, and about as much got.
# Needs: root cpus=2
# Time: 60
# Debug: no
. "${0%/*}/common.sh"

lottery -t 300 taskset -c 1 sh -c 'while :; do :; done' &
many=$!
lottery -t 100 taskset -c 1 sh -c 'while :; do :; done' &
few=$!
# The first look has to find both.
looks=0
until test "$(awk '$1 == "cpu" && $2 == 1 { print $8 }' /proc/sched_lottery)" = 400; do
	looks=$((looks + 1))
	test "$looks" -lt 200
	sleep 0.1
done
lottery top --batch --delay 3 --count 2 >/tmp/out
cat /tmp/out
test "$(grep -c '^lottery top: .* 2 tasks; 400 tickets' /tmp/out)" -eq 2
# PID CPU S TICKETS FROM WORTH QUANTUM DUE% GOT%
awk -v many="$many" -v few="$few" '
$1 == "1" && $2 == 2 && $3 == 400 && $4 > 0 { cpu++ }
$1 == many && $4 == 300 && $8 == "75.0" && $9 > 0 { good++ }
$1 == few && $4 == 100 && $8 == "25.0" && $9 > 0 { good++ }
END { exit cpu != 2 || good != 4 }' /tmp/out
# ten points are seven standard deviations
# shellcheck disable=SC2016 # they are awk's
bound awk -v many="$many" -v few="$few" '
function far(got, due) { return got < due - 10 || got > due + 10 }
$1 == many && far($9, 75) || $1 == few && far($9, 25) { bad++ }
END { exit bad }' /tmp/out

# Each user may look; a task that is asleep is due nothing.
kill -STOP "$few"
looks=0
until grep -q '^State:.T' "/proc/$few/status"; do
	looks=$((looks + 1))
	test "$looks" -lt 200
	sleep 0.1
done
setpriv --reuid 65534 --clear-groups lottery top --count 1 --sort got >/tmp/out
cat /tmp/out
awk -v many="$many" -v few="$few" '
$1 == many && $8 == "100.0" { good++ }
$1 == few && $3 == "T" && $8 == "-" && $9 == "0.0" { good++ }
END { exit good != 2 }' /tmp/out

# Ended by a signal, it has a good status, and gives the terminal back.
for signal in INT TERM; do
	TERM=linux script -qefc "timeout --preserve-status -s $signal 2 lottery top" \
		/tmp/screen >/dev/null
	grep -F "$(printf '\033[?1049h')" /tmp/screen >/dev/null
	grep -F "$(printf '\033[?25h\033[?1049l')" /tmp/screen >/dev/null
done

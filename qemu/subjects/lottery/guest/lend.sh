#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: lend
# What: A command that lottery lend has started lends its tickets while it sleeps.
# Needs: root cpus=2
# Time: 60
# Debug: no
tickets() {
	awk '$1 == "cpu" && $2 == 1 { print $8 }' /proc/sched_lottery
}

taskset -c 1 sh -c 'while :; do :; done' &
server=$!
lottery lend -t 300 --to "$server" sleep 1000 &
client=$!
looks=0
until test "$(tickets)" = 300; do
	looks=$((looks + 1))
	test "$looks" -lt 200
	sleep 0.1
done
lottery -p "$client" >/tmp/out
cat /tmp/out
grep -qx "pid $client's current loan: all tickets to pid $server" /tmp/out
lottery -p "$client" --json >/tmp/out
cat /tmp/out
grep -q "\"currency\":0,\"currency_pid\":0,\"loans\":\[{\"pid\":$server,\"tickets\":0}\]" /tmp/out
kill "$client"
until test "$(tickets)" = 0; do
	looks=$((looks + 1))
	test "$looks" -lt 200
	sleep 0.1
done

# Without tickets there is nothing to lend; nor to another user's task, or to none.
! lottery lend --to "$server" true 2>/tmp/err
cat /tmp/err
grep -q 'use -t TICKETS' /tmp/err
! lottery -t 1 setpriv --reuid 65534 lottery lend --to "$server" true 2>/tmp/err
cat /tmp/err
grep -q "another user's task" /tmp/err
! lottery lend -t 1 --to 999999999 true 2>/tmp/err
cat /tmp/err
grep -q 'pid 999999999: no such task' /tmp/err

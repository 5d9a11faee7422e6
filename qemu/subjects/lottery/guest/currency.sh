#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: currency
# What: lottery currency runs a command that shares tickets, and backs a cgroup.
# Needs: root cpus=2
# Time: 60
# Debug: no
# On both CPUs the hogs would leave the shell 5 %, its floor.
taskset -pc 0 $$
tickets() {
	awk '$1 == "cpu" { sum += $8 } END { print sum + 0 }' /proc/sched_lottery
}

await() {
	looks=0
	until test "$(tickets)" = "$1"; do
		looks=$((looks + 1))
		test "$looks" -lt 200
		sleep 0.1
	done
}

taskset -c 1 lottery currency --backing 30 -t 1000 sh -c 'while :; do :; done & while :; do :; done' &
shell=$!
await 30
: >/tmp/out
# Two that have 1000 each share 30 between them, as lottery top reckons.
looks=0
until test "$(awk '$4 == 1000 && $6 == 15 { n++ } END { print n + 0 }' /tmp/out)" = 2; do
	looks=$((looks + 1))
	test "$looks" -lt 200
	lottery top --batch --count 1 >/tmp/out
done
cat /tmp/out
# A child of that shell, and a command that has left the currency of the shell that ran it.
lottery -p "$(pgrep -P "$shell")" >/tmp/out
lottery currency -b 20 sh -c 'lottery -p $$; exec lottery currency -b 0 lottery -p $$' >>/tmp/out
cat /tmp/out
grep -q "current currency: 30 tickets, made by pid $shell\$" /tmp/out
test "$(grep -c 'current currency: 20 tickets' /tmp/out)" = 1
pkill -P "$shell"
kill "$shell"
await 0

group=/sys/fs/cgroup/shop
hog=
leave() {
	[ -z "$hog" ] || kill -KILL "$hog" || true
	until ! test -d "$group" || rmdir "$group"; do
		sleep 0.1
	done
}
trap leave EXIT
echo +cpu >/sys/fs/cgroup/cgroup.subtree_control
mkdir "$group"
lottery currency -g shop --backing 50
taskset -c 1 lottery -t 1000 sh -c "echo \$\$ >$group/cgroup.procs; while :; do :; done" &
hog=$!
await 50
lottery currency -g "$group" >/tmp/out
cat /tmp/out
grep -qx 'backing 50' /tmp/out
grep -qx 'active 1000' /tmp/out
grep -qx 'entries 1' /tmp/out
lottery currency -g shop -b 0
await 1000
kill "$hog"
await 0
looks=0
until rmdir "$group"; do
	looks=$((looks + 1))
	test "$looks" -lt 200
	sleep 0.1
done
! lottery currency -g shop 2>/tmp/err
cat /tmp/err
grep -q 'shop: no cgroup that can be a currency' /tmp/err
! lottery currency -b 1 nothing-of-that-name 2>/tmp/err
cat /tmp/err

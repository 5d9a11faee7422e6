#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: containers-interrupted
# What: SIGTERM while containers run ends ipclat by that signal, and nothing is left.
# Needs: root
# Time: 180
leave() {
	pkill -KILL -x ipclat || true
	rm -rf /dev/shm/*
	for link in $(ip -o link | grep -o 'ipclat[^:@ ]*'); do
		ip link delete "$link" || true
	done
}
trap leave EXIT
ipclat -m zmq-tcp-containers -k 100000000 -n 1 --seconds 60 &
pid=$!
until ls /dev/shm/*/state/*/status; do
	sleep 0.1
done
kill "$pid"
status=0
wait "$pid" || status=$?
test "$status" -eq 143
test -z "$(pgrep -x ipclat)"
test -z "$(ls /dev/shm)"
test -z "$(ip link | grep ipclat)"

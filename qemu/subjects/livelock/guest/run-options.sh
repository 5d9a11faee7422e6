#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: run-options
# What: livelock-run gives the threads of NAPI their nice value, has sockets polled, and knows its cards.
# Needs: cards=2 module=e1000 module=nll_source
# Time: 120
# Debug: no
. "${0%/*}/common.sh"

# The nice value of each thread of NAPI, one a line.
nice_values() {
	ps -e -o nice=,comm= | sed -n 's/^ *\(-*[0-9]*\) napi\/eth0-.*/\1/p'
}

# Frames that sockets have polled for themselves.
polled() {
	nstat -asz TcpExtBusyPollRxPackets | sed -n 's/^TcpExtBusyPollRxPackets *\([0-9]*\).*/\1/p' | number
}

run() {
	livelock-run --driver e1000 --duration 500 --warmup 100 "$@"
}

# Its receivers are no virtio cards, and are not kept for that driver either.
status=0
livelock-run --driver virtio_net 1000 2>/tmp/said || status=$?
[ $status -eq 3 ]
grep -x "livelock-run: no card of driver 'virtio_net'" /tmp/said
fails grep virtio_net /sys/bus/pci/devices/*/driver_override
run --set threaded=1 --nice 7 1000
[ "$(nice_values | uniq)" = 7 ]
run --set threaded=1 --nice -3 1000
[ "$(nice_values | uniq)" = -3 ]
run --set threaded=0 --no-hog 2000
[ "$(polled)" -eq 0 ]
run --set threaded=0 --no-hog --busy-poll 1000 2000
[ "$(polled)" -gt 0 ]
bound [ "$(polled)" -gt 100 ]

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: governor-napi
# What: Of two NAPI instances of a device one is governed and the other one is not.
# Needs: root
# Time: 120
. "${0%/*}/common.sh"

ids() {
	rxmode --governor $dev | sed -n 's/^ *napi_\([0-9]*\) .*/\1/p'
}

# Rounds that mode poll asked for while NAPI instance $1 alone has it.
asked_of() {
	rxmode --napi "$1" $dev mode poll
	before=$(governor asked)
	reach 56 >/dev/null
	echo $(($(governor asked) - before))
	rxmode --napi "$1" $dev mode off
}

dev=two
ip link add $dev numrxqueues 2 numtxqueues 2 type veth peer name peer numrxqueues 2 numtxqueues 2
# A veth device has NAPI for frames that GRO can merge: those of a peer without TSO.
ethtool -K $dev gro on
ethtool -K peer tso off
# Nothing but answers to pings comes: no neighbours are looked for.
connect $dev peer
ip neigh replace $far dev $dev nud permanent \
	lladdr "$(ip netns exec far cat /sys/class/net/peer/address)"
ip -n far neigh replace $near dev peer nud permanent lladdr "$(cat /sys/class/net/$dev/address)"
[ "$(ids | wc -l)" -eq 2 ]
rxmode $dev | grep -c 'napi_[0-9]* *off interrupts' | grep -x 2

# The answers to pings are of one flow, which one of them receives.
first=$(asked_of "$(ids | head -n 1)")
second=$(asked_of "$(ids | tail -n 1)")
[ "$((first + second))" -ge 3 ]
[ "$((first * second))" -eq 0 ]

# The device's mode is that of all.
rxmode $dev mode auto
[ "$(rxmode $dev | grep -c 'napi_[0-9]* *auto ')" -eq 2 ]
status=0
rxmode --napi 1 $dev mode poll || status=$?
test $status -eq 2
fails sh -c "echo '1 poll' >/sys/class/net/$dev/governor/napi"
fails sh -c "echo '$(ids | head -n 1) never' >/sys/class/net/$dev/governor/napi"
status=0
rxmode --napi "$(ids | head -n 1)" $dev limit 40 || status=$?
test $status -eq 2
[ "$(rxmode $dev | grep -c 'napi_[0-9]* *auto ')" -eq 2 ]
ip link del $dev
ip netns del far

# The owner of a user namespace has devices, but no part in the machine's CPUs to give.
unshare --map-root-user --user --net --mount sh -exc '
	mount -t sysfs none /sys
	ip link add two type veth peer name peer
	cd /sys/class/net/two/governor
	! echo auto >mode
	! echo 1 >limit
	grep -x off mode
	grep -x 50 limit
'

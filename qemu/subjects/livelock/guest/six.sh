#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: six
# What: Frames of IPv6 are dropped early for full sockets of IPv6 only; without IPv6 none is.
# Needs: cards=2 module=napi_livelock
# Time: 120
# The arguments are the command that opens ports, or sends to them.
. "${0%/*}/common.sh"

six=/proc/sys/net/ipv6/conf
here=fd00::1

# Ten sockets that no task reads are full and known as such, and frames of address $1 for them
# are dropped early: FAMILY, and the command.
are_hot() {
	to=$1
	family=$2
	shift 2
	opens crowd "$@" 20000 10 "$family"
	crowd=$opened
	before=$(governor dropped)
	until [ "$(governor sockets)" -eq 10 ] && [ "$(governor dropped)" -gt "$before" ]; do
		fill "$to" "$@"
	done
	# What was sent before it has come.
	reach 56
}

bring_up
dev=eth0
rxmode --governor $dev mode auto
# Frames of IPv6 for the ports of sockets of IPv4.
are_hot $near 4 "$@"
before=$(governor dropped)
came=$(received)
ip netns exec far "$@" 20000 10 eth1 "$(cat /sys/class/net/eth0/address)"
reach 56
[ $(($(received) - came)) -ge 10 ]
[ "$(governor dropped)" -eq "$before" ]
closes $crowd
if [ ! -e $six ]; then
	rxmode --governor $dev mode off
	exit 0
fi

echo 0 >$six/eth0/disable_ipv6
ip netns exec far sh -c "echo 0 >$six/eth1/disable_ipv6"
ip address add $here/64 dev eth0 nodad
ip -n far address add fd00::2/64 dev eth1 nodad
first=$(governor dropped)
errors=$(six_errors)
four=$(($(rcvbuf_errors) - errors))
are_hot $here 6 "$@"
# Each is counted once, for the socket and for UDP of IPv6.
early=$(($(governor dropped) - first))
errors=$(($(six_errors) - errors))
[ $errors -ge $early ]
[ "$(busybox awk '$2 ~ /:4E2/ { n += $NF } END { print n }' /proc/net/udp6)" -eq $errors ]
[ $(($(rcvbuf_errors) - $(six_errors))) -eq $four ]
# Not in a machine that forwards, nor where a raw socket receives them as well.
echo 1 >$six/all/forwarding
passes $here "$@"
echo 0 >$six/all/forwarding
opens tap "$@" tap raw6
passes $here "$@"
closes $opened
closes $crowd
[ "$(governor sockets)" -eq 0 ]
rxmode --governor $dev mode off
ip address del $here/64 dev eth0
echo 1 >$six/eth0/disable_ipv6

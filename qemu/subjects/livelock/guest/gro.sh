#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: gro
# What: Frames of a stream are put together before IP, unless GRO is switched off.
# Needs: cards=2 module=napi_livelock
# Time: 120
# Debug: no
. "${0%/*}/common.sh"

# Packets that IP has seen.
packets() {
	sed -n '/^Ip: [0-9]/p' /proc/net/snmp | cut -d ' ' -f 4 | number
}

# The far side sends 4 MB, of 2,800 frames. How many of them did IP not see?
put_together() {
	frames=$(received) seen=$(packets)
	# Its input never ends, so the end of the stream is that of the other side.
	busybox nc -l -p 9002 <&3 >/tmp/stream &
	until [ -n "$(ss -Hltn 'sport = 9002')" ]; do
		true
	done
	head -c 4000000 /dev/zero | ip netns exec far busybox nc $near 9002
	wait $!
	[ "$(wc -c </tmp/stream)" -eq 4000000 ]
	less=$(($(received) - frames - $(packets) + seen))
}

bring_up
mkfifo /tmp/never
exec 3<>/tmp/never
# In rounds, so that several frames come in each poll.
rxmode --governor eth0 mode poll round_us 2000
put_together
bound [ $less -ge 100 ]
ethtool -K eth0 gro off
put_together
# But for a neighbour's question.
bound [ $less -le 10 ]
ethtool -K eth0 gro on
rxmode --governor eth0 mode off

# SPDX-License-Identifier: GPL-2.0
# Two cards on a hub: eth0 is ours, eth1 is in the namespace far, with an address each.

near=10.9.0.1
far=10.9.0.2
source=/sys/kernel/debug/nll_source
# There while a scenario runs, and after one that was broken off.
running=/tmp/livelock-runs

# No card is for our driver any more, once it is loaded again.
leave_cards() {
	for card in /sys/bus/pci/devices/*; do
		if [ "$(cat "$card/driver_override")" = napi_livelock ]; then
			echo >"$card/driver_override"
		fi
	done
}

# Nothing is left of a scenario that was broken off: PID 1 ends its processes.
clean() {
	[ ! -e $source/run ] || echo 0 >$source/run
	echo 1 >/sys/devices/system/cpu/cpu1/online
	for group in slow flooded; do
		[ ! -e /sys/fs/cgroup/$group ] || echo 1 >/sys/fs/cgroup/$group/cgroup.kill
		until [ ! -e /sys/fs/cgroup/$group ] || rmdir /sys/fs/cgroup/$group; do
			true
		done
	done
	rm -f /tmp/never
	for name in two odd tag0; do
		ip link del $name
	done
	ip netns del far
	# With the driver all goes that was set; its cards come back when they are brought up.
	if [ -e /sys/module/napi_livelock ]; then
		leave_cards
		rmmod napi_livelock
	fi
	for card in /sys/class/net/*/governor/mode; do
		echo off >"$card"
	done
	for card in /sys/class/net/*/device; do
		card=${card%/device}
		ip address flush dev "${card##*/}"
		ip link set "${card##*/}" down
	done
} >/dev/null 2>&1

end() {
	[ "$1" -eq 0 ] || clean
	rm -f $running
}

if [ -e $running ]; then
	set +e
	clean
	set -e
fi
: >$running
# The command that failed is the last one that is told.
# shellcheck disable=SC2154 # status is set in the trap itself
trap '{ status=$?; set +ex; } 2>/dev/null; end $status' EXIT

# A rate, a share or a time, in real time: a late tick of the host is no fault of what is
# tested, and with LAB_BOUNDS=off the scenario goes on.
bound() {
	if "$@"; then
		return 0
	fi
	echo "bound missed: $*"
	[ "${LAB_BOUNDS:-on}" = off ]
}

# The number that comes in, 0 where none does.
number() {
	value=
	read -r value || true
	echo "${value:-0}"
}

# A command that has to fail: after a bare "!" the shell would go on either way.
fails() {
	if "$@"; then
		return 1
	fi
}

# Up to eight times, for a card takes nothing for a second after some changes.
tries() {
	for _ in 1 2 3 4 5 6 7 8; do
		if "$@"; then
			return 0
		fi
	done
	return 1
}

# Device $1 is the near one, device $2 is in the namespace far.
connect() {
	ip netns add far
	# A namespace that goes gives its devices back a while later.
	until [ -e "/sys/class/net/$2" ]; do
		true
	done
	ip link set "$2" netns far
	ip address add $near/24 dev "$1"
	ip link set "$1" up
	ip -n far address add $far/24 dev "$2"
	ip -n far link set "$2" up
}

# Give the cards of the machine to our driver, which takes none by itself.
take_cards() {
	for card in /sys/bus/pci/devices/*; do
		if [ "$(cat "$card/device")" = 0x100e ]; then
			echo napi_livelock >"$card/driver_override"
			echo "${card##*/}" >/sys/bus/pci/drivers_probe
		fi
	done
}

bring_up() {
	if [ ! -e /sys/module/napi_livelock ]; then
		insmod /lab/modules/napi_livelock.ko
		[ ! -e /sys/class/net/eth0 ]
		take_cards
	fi
	if [ -e /run/netns/far ]; then
		return 0
	fi
	connect eth0 eth1
	busybox ping -c 1 -w 20 $far
}

# All of three pings with SIZE bytes each are answered.
reach() {
	busybox ping -c 3 -i 0.1 -w 20 -s "$1" "${2:-$far}" | grep '3 packets received'
}

# The far side sends to us, once: is it answered?
far_pings() {
	ip netns exec far busybox ping -c 1 -W 1 $near
}

# From now on the far side takes MAC for ours. It is known here meanwhile: nothing
# that the cards would see is asked for.
far_takes_us_for() {
	ip neigh replace $far dev eth0 nud permanent \
		lladdr "$(ip netns exec far cat /sys/class/net/eth1/address)"
	ip -n far neigh replace $near dev eth1 nud permanent lladdr "$1"
}

far_forgets_us() {
	ip -n far neigh del $near dev eth1
}

received() {
	cat /sys/class/net/eth0/statistics/rx_packets
}

# The far side sends once; does a frame arrive, whatever is done with it?
arrives() {
	before=$(received)
	far_pings || true
	[ "$(received)" -gt "$before" ]
}

# The value of a counter of the driver.
counter() {
	ethtool -S eth0 | sed -n "s/^ *$1: //p" | number
}

# A counter of the governor of device $dev: frames for full sockets, how many sockets
# are behind, or rounds by their reason.
governor() {
	sed -n "s/^$1 //p" "/sys/class/net/$dev/governor/stats" | number
}

# The datagrams that UDP dropped because a socket had no room for them; those of IPv6, and all.
six_errors() {
	[ ! -e /proc/net/snmp6 ] || sed -n 's/^Udp6RcvbufErrors//p' /proc/net/snmp6
}
rcvbuf_errors() {
	busybox awk '/^Udp:/ { if (n) { print $n; exit } for (n = 1; $n != "RcvbufErrors"; n++); }' \
		/proc/net/snmp | {
		read -r four
		echo $((four + $(six_errors | number)))
	}
}

# Sockets are open, by this command, which says what it does in /tmp/$1.
opens() {
	said=/tmp/$1
	shift
	"$@" >"$said" &
	opened=$!
	until grep -q '^open' "$said"; do
		[ -e "/proc/$opened/exe" ]
	done
}

# These processes end.
closes() {
	kill "$@"
	wait "$@" || true
}

# Ten sockets without a reader get 200 frames at address $1, by this command.
fill() {
	to=$1
	shift
	ip netns exec far "$@" 20000 10 20 "$to"
}

# They get more, until UDP has dropped 100.
overflow() {
	errors=$(rcvbuf_errors)
	until [ $(($(rcvbuf_errors) - errors)) -ge 100 ]; do
		fill "$@"
	done
}

# They do, and none of those was dropped early.
passes() {
	before=$(governor dropped)
	overflow "$@"
	[ "$(governor dropped)" -eq "$before" ]
}

# What the receiver of the socket beside the slow one says, a number.
beside() {
	sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p" /tmp/fast | number
}

# The receiver beside the slow one has got its frames, all of them.
beside_loses_none() {
	cat /tmp/fast
	[ "$(beside received)" -gt 0 ]
	bound [ "$(beside received)" -ge 100 ]
	bound [ "$(beside lost)" -eq 0 ]
}

# A socket of device $1 that no program reads loses frames early. The one beside it
# loses none of its own.
stays_just() {
	dev=$1
	# In rounds, so that frames for both come in one poll.
	rxmode --governor "$dev" mode poll round_us 10000
	before=$(governor dropped)
	errors=$(rcvbuf_errors)

	slow=/sys/fs/cgroup/slow
	mkdir $slow
	(echo 0 >$slow/cgroup.procs && exec livelock-apps --port 9000 --seconds 60 >/dev/null) &
	udprate --receive -t 3 --wait 60 -p 9001 --json $near >/tmp/fast &
	fast=$!
	until [ "$(ss -Hlun 'sport >= 9000' | wc -l)" -eq 2 ]; do
		[ -e "/proc/$fast/exe" ]
	done
	echo 1 >$slow/cgroup.freeze

	# Ten times as many for the one as for the other, as far as a slow machine can, and until
	# some were lost early.
	ip netns exec far udprate -r 1 -t 60 -s 64 -p 9000 --blind --best-effort $near >/dev/null &
	flood=$!
	ip netns exec far udprate -r 0.1 -t 3 -s 64 -p 9001 --blind --best-effort $near >/dev/null
	wait $fast
	until [ "$(governor dropped)" -gt "$before" ]; do
		[ -e "/proc/$flood/exe" ]
	done
	kill $flood
	wait $flood || true
	[ "$(governor sockets)" -eq 1 ]
	# Those that were lost early are counted as all others: for the socket, and for UDP.
	drops=$(busybox awk '$2 ~ /:2328$/ { print $NF }' /proc/net/udp)
	early=$(($(governor dropped) - before))
	[ "$((2 * drops))" -ge $early ]
	[ $(($(rcvbuf_errors) - errors)) -ge $early ]
	echo 1 >$slow/cgroup.kill
	rxmode --governor "$dev" mode off

	beside_loses_none
	# The frozen one is gone, and so is what the governor knew of it.
	until rmdir $slow; do
		true
	done
	[ "$(governor sockets)" -eq 0 ]
}

# The card that sends frames, and the others with the in-tree driver.
source_and_cards() {
	echo nll_source >/sys/bus/pci/devices/0000:00:18.0/driver_override
	insmod /lab/modules/e1000.ko
	insmod /lab/modules/nll_source.ko
}

# Bytes of a stream from the far side in a second, of $2 of them.
stream() {
	busybox nc -l -p 9002 <&3 >/tmp/stream &
	listener=$!
	until [ -n "$(ss -Hltn 'sport = 9002')" ]; do
		true
	done
	ip netns exec far timeout "$2" busybox nc $near 9002 </dev/zero || true
	kill $listener || true
	wait $listener || true
	bytes=$(($(wc -c </tmp/stream) / $2))
	echo "$1: $bytes bytes"
}

# How many of ten questions are answered.
ask() {
	answers=$(ip netns exec far busybox ping -c 10 -i 0.1 -W 1 $near |
		sed -n 's/.* \([0-9]*\) packets received.*/\1/p' | number)
	echo "$1: $answers answers"
}

# A machine that livelocks comes here when the flood is over.
floods() {
	[ "$(cat "$source/run")" = running ]
}

# The stream and the questions go on: half of what the limit of 50 % leaves of the bytes
# that come alone, and nine answers of ten.
goes_on() {
	stream "$1" 4
	floods
	echo "of alone: $((bytes * 100 / alone)) %"
	bound [ "$bytes" -ge $((alone / 4)) ]
	ask "$1"
	floods
	bound [ "$answers" -ge 9 ]
}

# They go on under a flood of address $1 of the first card, whose governor has mode $2, and
# while another program wants the CPU. First the flood is for a program that cannot keep
# up, then for one that takes nothing any more.
goes_on_beside() {
	mkfifo /tmp/never
	exec 3<>/tmp/never
	tries busybox ping -c 1 -w 4 $far
	echo "0000:00:18.0 0000:00:10.0 $1 9001" >$source/targets
	echo "function constant packets 60000 per_ns 1000000000 duration_ns 30000000000" \
		>$source/config
	stream alone 1
	alone=$bytes
	rxmode eth0 mode "$2"
	flooded=/sys/fs/cgroup/flooded
	mkdir $flooded
	(echo 0 >$flooded/cgroup.procs && exec livelock-apps --port 9001 --seconds 60 >/dev/null) &
	livelock-apps --hog --port 9003 --seconds 60 >/dev/null &
	stream 'with the programs' 1
	echo 1 >$source/run
	goes_on 'under a flood'
	echo 1 >$flooded/cgroup.freeze
	goes_on 'under a flood that is not read'
	echo 0 >$source/run
}

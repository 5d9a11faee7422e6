#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: source-virtio
# What: The source sends to a virtio card, whose driver goes and comes back in a flood.
# Needs: root cards=2 module=nll_source
# Time: 120
# Debug: no
. "${0%/*}/common.sh"

card=0000:00:10.0
source_and_cards
here=/sys/bus/pci/devices/$card
set -- "$here"/virtio*
device=${1##*/}
driver=/sys/bus/virtio/drivers/virtio_net

# The first word after NAME of what the source has counted in all.
counted() {
	sed -n "s/^target 0 total .*$1 \([0-9]*\).*/\1/p" $source/results | number
}

# Frames that the card has handed on since the driver came.
arrived() {
	cat "$here"/virtio*/net/*/statistics/rx_packets | number
}

card_up() {
	set -- "$here"/virtio*/net/*
	ip address add $near/24 dev "${1##*/}"
	ip link set "${1##*/}" up
}

rises() {
	before=$("$@")
	until [ "$("$@")" -gt $((before + 100)) ]; do
		true
	done
}

# Without its driver it is no receiver.
echo "$device" >$driver/unbind
fails sh -c "echo '0000:00:18.0 $card $near 9001' >$source/targets"
dmesg | grep "receiver '$card': allowed is"
echo "$device" >$driver/bind

echo "0000:00:18.0 $card $near 9001" >$source/targets
# So few that a machine with other work is not busy with them alone.
echo "packets 2000 per_ns 1000000000 duration_ns 600000000000" >$source/config
echo 1 >$source/run
# It is down, and was never up: it has given its device no buffer.
rises counted tail
[ "$(counted sent)" -eq 0 ]

for _ in 1 2 3 4 5 6 7 8; do
	card_up
	rises arrived
	echo "$device" >$driver/unbind
	rises counted tail
	echo "$device" >$driver/bind
done

# Another device comes back when that of PCI goes: the source knows the old one.
echo $card >/sys/bus/pci/drivers/virtio-pci/unbind
rises counted tail
echo $card >/sys/bus/pci/drivers/virtio-pci/bind
card_up
rises counted tail
floods
echo 0 >$source/run
echo clear >$source/targets

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: governor-card
# What: The governor of a card whose driver knows nothing of it: DRIVER NEAR FAR, MACs' last bytes.
# Needs: root cards=2
# Time: 120
. "${0%/*}/common.sh"

# The device with the MAC that ends so, when its driver has found it.
device() {
	until grep -l "^02:00:00:00:00:$1$" /sys/class/net/*/address; do
		true
	done 2>/dev/null | cut -d / -f 5
}

for module in e1000 e1000e; do
	if [ ! -e /sys/module/$module ]; then
		insmod /lab/modules/$module.ko
	fi
done
card=$(device "$2")
ethtool -i "$card" | grep -x "driver: $1"
# Of the instances the one that receives, not that of virtio_net that only sends.
[ "$(rxmode "$card" | grep -c '^ *napi_')" -eq 1 ]
peer=$(device "$3")
connect "$card" "$peer"
# A link takes a second or two, and what is sent before is lost.
until [ "$(cat "/sys/class/net/$card/carrier")" = 1 ] &&
	[ "$(ip netns exec far cat "/sys/class/net/$peer/carrier")" = 1 ]; do
	true
done
tries busybox ping -c 1 -w 4 $far

stays_just "$card"
rxmode --governor "$card" mode auto
reach 56
reach 1400
ip address flush dev "$card"
ip netns del far
ip link set "$card" down

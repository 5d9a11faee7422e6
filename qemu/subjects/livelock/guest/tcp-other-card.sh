#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: tcp-other-card
# What: A stream and questions go on by a card while another one is flooded, under the governor.
# Needs: cards=4 module=e1000 module=nll_source
# Time: 300
# Debug: no
. "${0%/*}/common.sh"

source_and_cards
ip address add 10.1.0.2/24 dev eth0
ip link set eth0 up
connect eth1 eth2
until [ "$(cat /sys/class/net/eth0/carrier)" = 1 ]; do
	true
done
goes_on_beside 10.1.0.2 "${1:-auto}"

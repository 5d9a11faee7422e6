#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: tcp-beside
# What: A stream and questions go on under a flood on the same card, with the governor.
# Needs: cards=3 module=e1000 module=nll_source
# Time: 300
# Debug: no
. "${0%/*}/common.sh"

source_and_cards
connect eth0 eth1
goes_on_beside $near "${1:-auto}"

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: tx-timeout
# What: A card that does not send any more is begun anew.
# Needs: root cards=2 module=napi_livelock
# Time: 120
. "${0%/*}/common.sh"

bring_up
rxmode eth0 mode napi
reach 56
# Its driver does not know that TCTL.EN is 0.
python3 - <<END
import mmap
with open("/sys/class/net/eth0/device/resource0", "r+b") as file:
    registers = memoryview(mmap.mmap(file.fileno(), 0x20000)).cast("I")
    registers[0x400 // 4] &= ~2
END
# What is sent now stays in the card. More than it may keep, until the watchdog looks.
udprate -r 1 -t 1 -s 64 -p 9003 --blind --best-effort $far || true
until [ "$(counter tx_timeouts)" -ge 1 ]; do
	true
done
tries far_pings
reach 56

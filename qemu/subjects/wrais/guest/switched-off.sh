#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: switched-off
# What: While privileges are switched off, or without its cgroup, a command is refused.
# Needs: root
# Debug: no

trap 'wrais off' EXIT
wrais off
status=0
wrais touch /tmp/ran 2>/tmp/said || status=$?
[ $status -eq 3 ]
grep 'wrais: privileges are switched off: wrais on' /tmp/said
[ ! -e /tmp/ran ]
wrais --ignore touch /tmp/ran
rm /tmp/ran
wrais on
wrais touch /tmp/ran
rm /tmp/ran
status=0
wrais -g nosuch touch /tmp/ran 2>/tmp/said || status=$?
[ $status -eq 1 ]
grep -x "wrais: cgroup 'nosuch' does not exist" /tmp/said
[ ! -e /tmp/ran ]
wrais -g . touch /tmp/ran
rm /tmp/ran

# A user that may not change the switches is told so, whatever was asked for.
status=0
setpriv --reuid 65534 --clear-groups wrais on 2>/tmp/said || status=$?
[ $status -eq 1 ]
grep 'cannot switch privileges on: enabled: Permission denied' /tmp/said

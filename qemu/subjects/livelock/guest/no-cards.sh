#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: no-cards
# What: Without cards livelock-run says so by its exit status.
# Needs: root
status=0
livelock-run 1000 || status=$?
test $status -eq 3

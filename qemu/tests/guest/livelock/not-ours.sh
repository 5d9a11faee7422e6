#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: not-ours
# What: rxmode tells another driver's device by its exit status.
# Needs: root
status=0
rxmode lo || status=$?
test $status -eq 3

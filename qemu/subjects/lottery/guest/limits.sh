#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: limits
# What: The limits that lottery names are those that the kernel takes.
# Needs: root
# Debug: no
lottery -m --json >/tmp/out
cat /tmp/out
grep -q '"tickets_max":1000000,' /tmp/out
grep -q '"quantum_max_ns":1000000000[,}]' /tmp/out
lottery -t 1000000 -q 1000000 true

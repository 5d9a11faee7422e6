#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: run-with-tickets
# What: A command that lottery starts has the tickets and the quantum that it was given.
# Needs: root
# Debug: no
lottery -t 300 -q 5000 sh -c 'lottery -p $$ --json' >/tmp/out
cat /tmp/out
grep -q '"tickets":300,' /tmp/out
grep -q '"quantum_ns":5000000[,}]' /tmp/out

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: containers
# What: Both mechanisms of containers run under the policy in the argument and leave nothing.
# Needs: root cpus=2
# Time: 180
ipclat -m zmq-tcp-containers,shm-containers -k 200 -n 1 -w 20 --seconds 60 --policy "$1"
test -z "$(ls /dev/shm)"
test -z "$(ip link | grep ipclat)"

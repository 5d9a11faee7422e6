#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: no-sysrq
# What: SysRq-n, which ends the class of every task, is tested only where it is asked for
# Needs: root
# Time: 60
# Debug: no

lottery-api --reads 1 | grep '# SKIP without --sysrq'

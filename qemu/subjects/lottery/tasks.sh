#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# tasks.sh SECONDS "NAME COMMAND"...: so long, tasks that always want the CPU, each with a
# name and behind a command, as in "niced nice -n 5" or "rich lottery -t 300"
set -eu
seconds=$1
pids=
shift
for task in "$@"; do
	name=${task%% *}
	# shellcheck disable=SC2086 # words
	${task#* } busybox sh -c "printf $name >/proc/\$\$/comm; while :; do :; done" &
	pids="$pids $!"
done
busybox usleep "${seconds}000000"
# shellcheck disable=SC2086 # words
kill $pids
# shellcheck disable=SC2086 # words
wait $pids || :

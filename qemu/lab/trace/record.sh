#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# record.sh: run a command, and hand out what the kernel traced meanwhile.
#
# record.sh PORT SECONDS START DISK EVENT... -- COMMAND...
#
# Recording begins when a task takes the name START, or with the command if that is "-",
# and ends after SECONDS, or with the command. DISK is traced by blktrace; "-": none. A
# tar archive goes to the virtio port PORT. The exit status is the command's. All of it
# stays in the kernel's buffers until the command has ended: nothing is written while it runs.
set -eu
BUFFER_KB=131072
NAP_MS=100
tracing=/sys/kernel/tracing
folder=/tmp/recorded

port=$1 seconds=$2 start=$3 disk=$4
shift 4
/bin/busybox mkdir -p $folder /tmp/applets
/bin/busybox --install -s /tmp/applets
PATH=$PATH:/tmp/applets
[ -d $tracing/events ] || mount -t tracefs tracefs $tracing
[ -d /sys/kernel/debug/block ] || mount -t debugfs debugfs /sys/kernel/debug

events=
while [ "$1" != -- ]; do
	events="$events -e $1"
	shift
done
shift

# a task that goes to sleep leaves its stack
# shellcheck disable=SC2086 # words
trace-cmd start -b $BUFFER_KB -C mono \
	-e sched:sched_switch -R 'stacktrace if prev_state & 255' -e sched:sched_waking $events
if [ "$start" != - ]; then
	echo 0 >$tracing/tracing_on
	echo "traceon:1 if newcomm == \"$start\"" >$tracing/events/task/task_rename/trigger
fi
blktrace=
if [ "$disk" != - ]; then
	blktrace -d "$disk" -D $folder -o disk -b 1024 -n 32 \
		-a queue -a issue -a complete >$folder/blktrace.txt &
	blktrace=$!
fi

"$@" >$folder/output.txt &
command=$!
# in turns of a short nap: the command may end before the window does
left=$((seconds * 1000))
while kill -0 $command 2>/dev/null; do
	usleep ${NAP_MS}000
	read -r on <$tracing/tracing_on
	[ "$on" = 1 ] || continue
	left=$((left - NAP_MS))
	[ $left -gt 0 ] || break
done
trace-cmd stop
status=0
wait $command || status=$?
[ -z "$blktrace" ] || { kill -INT $blktrace; wait $blktrace || :; }
trace-cmd extract -o $folder/trace.dat >$folder/extract.txt 2>&1 ||
	{ cat $folder/extract.txt >&2; exit 1; }
for name in /sys/class/virtio-ports/*/name; do
	[ "$(cat "$name")" = "$port" ] || continue
	node=$(basename "$(dirname "$name")")
	tar -c -f - -C $folder . >"/dev/$node"
done
exit $status

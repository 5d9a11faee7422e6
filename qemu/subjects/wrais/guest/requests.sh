# SPDX-License-Identifier: GPL-2.0
# Name: requests
# What: the limits that a scheduler has are of the number of requests that is set now
# Needs: nothing
# Debug: no

item=/sys/kernel/config/nullb/requests
writer=
clean() {
	[ ! "$writer" ] || kill "$writer" 2>/dev/null || true
	wait
	echo 0 >$item/power
	rmdir $item
}
mkdir $item
trap clean EXIT
for setting in size=64 memory_backed=1 queue_mode=2 irqmode=2 submit_queues=1 \
	hw_queue_depth=2 blocksize=4096 max_sectors=1024 service_mbps=5; do
	echo ${setting#*=} >$item/${setting%=*}
done
echo 1 >$item/power
queue=/sys/block/requests/queue
tags=/sys/kernel/debug/block/requests/hctx0/sched_tags
echo bfq >$queue/scheduler
# No task is raised, so that the limit is one.
echo 0 >$queue/iosched/low_latency
# It begins with few.
[ "$(cat $queue/nr_requests)" -eq 4 ]
echo 64 >$queue/nr_requests

# Of sync writes BFQ lets three quarters be there, but not all.
set +x
most=0
dd if=/dev/zero of=/dev/requests bs=1M count=40 conv=fsync 2>/dev/null &
writer=$!
while kill -0 $writer 2>/dev/null; do
	busy=$(sed -n '/^busy=/{s///p;q}' $tags)
	[ "${busy:-0}" -le "$most" ] || most=$busy
	sleep 0.05
done
set -x
wait $writer
writer=
[ "$most" -gt 24 ]
[ "$most" -le 48 ]

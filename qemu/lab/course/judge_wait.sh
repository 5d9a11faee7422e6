#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# judge_wait.sh ANSWER DIR DISK: a program that saves its records, privileged, beside one that
# writes. It has to wait until its records are on the disk, and for nothing else.
set -eu
RECORDS=3
MOST_S=2
answer=$1 dir=$2 disk=$3
/bin/busybox --install -s /bin 2>/dev/null
events=/sys/kernel/tracing/events/ext4
[ -d $events ] || mount -t tracefs tracefs /sys/kernel/tracing
for event in ext4_da_write_end ext4_sync_file_enter; do
	echo "comm == \"${answer##*/}\"" >$events/$event/filter
	echo 1 >$events/$event/enable
done
status=0
said=$(wrais-run --disk "$disk" --dir "$dir" --mount --sched bfq -r 0 -w 1 --class rt \
	--wrais all --limit 60 -- \
	sh -c "$answer $dir/records && cp $dir/records /tmp/records") || status=$?
[ $status = 0 ] || { echo "wrong: the program failed, or took more than 60 s"; exit 1; }
i=1
while [ $i -le $RECORDS ]; do
	echo "record $i"
	i=$((i + 1))
done | cmp -s - /tmp/records || { echo "wrong: the file does not hold the records"; exit 1; }
# What is still in the buffer of the program is not saved by a sync.
saved=$(awk '/ext4_da_write_end:/ { wrote = 1 }
	/ext4_sync_file_enter:/ { n += wrote; wrote = 0 }
	END { print n + 0 }' /sys/kernel/tracing/trace)
took=$(echo "$said" | sed 's/.*"startup_s":\([0-9.]*\).*/\1/')
if [ "${took%.*}" -ge $MOST_S ]; then
	echo "wrong: $RECORDS records took $took s; less than $MOST_S are enough"
	exit 1
fi
if [ "$saved" -lt $RECORDS ]; then
	echo "wrong: of $RECORDS records $saved were waited for: a crash loses the others"
	exit 1
fi
echo right

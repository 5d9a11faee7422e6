#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: crash-write
# What: writers promise records, on a disk whose writes the host writes down, until it is enough
# Needs: root
# Time: 240
parts=$1 type=$2 options=$3 fs_sectors=$4 note_sectors=$5 writers=$6 more=$7 flushes=$8 fast=$9
shift 9
acts=$*

# As a device without a clock: times of deletions are as small as the numbers of inodes.
[ "$fast" -eq 0 ] || date -s @1000 >/dev/null
wrais "$parts"
echo bfq >/sys/block/vdb/queue/scheduler

# The disk has no partition table: the kernel is told where the partitions are.
addpart /dev/vdb 1 0 "$fs_sectors"
addpart /dev/vdb 2 "$fs_sectors" "$note_sectors"
mkdir -p /m
busybox mount -t "$type" -o "$options" /dev/vdb1 /m

fast_commits() {
	sed -n 's,^\([0-9]*\) commits$,\1,p' /proc/fs/ext4/vdb1/fc_info
}

# So many flushes and fast commits, and each part that is to act has.
enough() {
	# The 16th number of the line.
	[ "$(awk '{ print $16 }' /sys/block/vdb/stat)" -ge "$flushes" ] || return
	[ "$fast" -eq 0 ] || [ "$(fast_commits)" -ge "$fast" ] || return
	for part in $acts; do
		grep -q "^$part [1-9]" /sys/kernel/debug/wrais/stat || return
	done
}

rm -f /tmp/stop
trap 'touch /tmp/stop' EXIT
wrais-crash --dir /m --disk /dev/vdb2 --writers "$writers" ${more:+"$more"} --records 1500 --seconds 180 \
	--stop /tmp/stop &
set +x
until enough || ! kill -0 $! 2>/dev/null; do
	sleep 0.1
done
set -x
touch /tmp/stop
wait $!
cat /sys/block/vdb/stat
cat /sys/kernel/debug/wrais/stat
if [ "$type" = ext4 ]; then
	cat /proc/fs/ext4/vdb1/fc_info
	echo "fast_commits $(fast_commits)"
fi
busybox umount /m

# SPDX-License-Identifier: GPL-2.0
# Name: crash-write
# What: writers promise records, on a disk whose writes the host writes down
# Needs: root
# Time: 240
parts=$1 type=$2 options=$3 fs_sectors=$4 note_sectors=$5 writers=$6 seconds=$7

wrais "$parts"
echo bfq >/sys/block/vdb/queue/scheduler

# The disk has no partition table: the kernel is told where the partitions are.
addpart /dev/vdb 1 0 "$fs_sectors"
addpart /dev/vdb 2 "$fs_sectors" "$note_sectors"
mkdir -p /m
busybox mount -t "$type" -o "$options" /dev/vdb1 /m
wrais-crash --dir /m --disk /dev/vdb2 --writers "$writers" --seconds "$seconds"
cat /sys/kernel/debug/wrais/stat
if [ "$type" = ext4 ]; then
	sed -n 's,^\([0-9]*\) commits$,fast_commits \1,p' /proc/fs/ext4/vdb1/fc_info
fi
busybox umount /m

# SPDX-License-Identifier: GPL-2.0
# Name: crash-replay
# What: the kernel replays the journal of every disk but the first, and says of which it cannot
# Needs: root
# Time: 240
mkdir -p /m
for disk in /sys/block/vd[b-z]; do
	disk=${disk##*/}
	if busybox mount -t ext4 "/dev/$disk" /m; then
		busybox umount /m
		echo "replayed $disk"
	else
		echo "refused $disk"
	fi
done

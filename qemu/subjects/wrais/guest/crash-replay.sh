# SPDX-License-Identifier: GPL-2.0
# Name: crash-replay
# What: the kernel replays the journal of every disk that has a name, and says of which it cannot
# Needs: root
# Time: 240
type=$1
# The clock of crash-write. e2fsck doubts such small times if the last mount had another.
[ "$type" != ext4 ] || date -s @2000 >/dev/null
mkdir -p /m
for disk in /sys/block/vd*; do
	name=$(cat "$disk/serial")
	[ "$name" ] || continue
	if busybox mount -t "$type" "/dev/${disk##*/}" /m; then
		busybox umount /m
		echo "replayed $name"
	else
		echo "refused $name"
	fi
done

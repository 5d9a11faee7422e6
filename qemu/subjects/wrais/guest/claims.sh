#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: claims
# What: programs that overwrite something want its name, and refuse a disk that is in use
# Needs: root
# Time: 60
# Debug: no

disk=/dev/loop0

refuse() {
	status=0
	"$@" >/tmp/out 2>/tmp/said || status=$?
	cat /tmp/said
	[ $status -eq 2 ]
	[ "$(wc -l </tmp/said)" -eq 1 ]
	[ ! -s /tmp/out ]
}

# The extents of an empty disk of 1 MiB.
printf 'LABDISK1\0\0\020\0\0\0\0\0\0\0\0\0\0\0\0\0' >/tmp/extents

refuse wrais-crash --dir /tmp
refuse wrais-crash --disk $disk
refuse wrais-disk /tmp/extents
refuse wrais-run --dir /tmp
refuse wrais-run --disk loop0
refuse wrais-disk --disk /tmp/extents /tmp/extents
refuse wrais-disk --disk /dev/null /tmp/extents
refuse wrais-disk --disk /dev/none /tmp/extents

truncate -s 8M /tmp/image
mke2fs -q /tmp/image
busybox losetup $disk /tmp/image
mkdir -p /tmp/mounted
busybox mount -o ro $disk /tmp/mounted
before=$(md5sum </tmp/image)
refuse wrais-crash --dir /tmp --disk $disk
grep 'in use' /tmp/said
refuse wrais-disk --disk $disk /tmp/extents
grep 'in use' /tmp/said
[ "$(md5sum </tmp/image)" = "$before" ]

busybox umount /tmp/mounted

# Not mounted, but another program's: from its first file on.
wrais-crash --dir /tmp --disk $disk --writers 1 --seconds 3600 --records 1000000 &
until [ -e /tmp/w0 ]; do :; done
refuse wrais-disk --disk $disk /tmp/extents
grep 'in use' /tmp/said
busybox killall wrais-crash
until wrais-disk --disk $disk /tmp/extents; do :; done

/* SPDX-License-Identifier: GPL-2.0 */
/* diskfile.h - files to read from the disk, and what keeps them in memory. */
#ifndef LAB_DISKFILE_H
#define LAB_DISKFILE_H

#include "types.h"

#define PAGE_BYTES	4096U
#define MIB		(1024ULL * 1024)
#define MEGABYTE	1e6

/*
 * Make sure that @path is a file of @size bytes that were written and are on
 * the disk; one that has the size already is left alone. Exits with
 * EXIT_FAILED when that cannot be done.
 */
void disk_file(const char *path, u64 size);

/*
 * Open a block device that is to be overwritten, with @flags of open(2) beside
 * O_EXCL, and say its @size in bytes. As long as it is open it cannot be
 * mounted or claimed by others. Exits with EXIT_USAGE when it is mounted or claimed already, or
 * is no block device.
 */
int claim_disk(const char *path, int flags, u64 *size);

/* Forget the file's clean pages; a hint that the kernel may ignore. */
void forget_pages(int fd);

/*
 * Write everything back, then drop page cache, dentries and inodes. Exits with
 * EXIT_FAILED when that is not permitted.
 */
void drop_caches(void);

/* Sums of a disk since boot, bytes. */
struct disk_bytes {
	u64 read;
	u64 written;
};

/* Of the disk @name of /sys/block; 0 or -errno. */
int disk_read_bytes(const char *name, struct disk_bytes *bytes);

#endif /* LAB_DISKFILE_H */

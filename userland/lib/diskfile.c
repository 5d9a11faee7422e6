// SPDX-License-Identifier: GPL-2.0
/* diskfile.c - files to read from the disk, and what keeps them in memory. */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "args.h"
#include "diskfile.h"
#include "memory.h"
#include "procfs.h"

#define SECTOR_BYTES	512U
#define DROP_CACHES	"/proc/sys/vm/drop_caches"
#define DROP_ALL	"3"	/* page cache, dentries and inodes */

static void __noreturn cannot_make(const char *path)
{
	die(EXIT_FAILED, "cannot make %s: %s", path, strerror(errno));
}

/* Zeros would do for a disk; another pattern is no hole for any file system. */
static void fill(const char *path, int fd, u64 size)
{
	char *buffer = xmalloc(MIB);

	memset(buffer, 0x5a, MIB);
	while (size) {
		ssize_t done = write(fd, buffer, size < MIB ? size : MIB);

		if (done <= 0)
			cannot_make(path);
		size -= (u64)done;
	}
	free(buffer);
}

void disk_file(const char *path, u64 size)
{
	struct stat now;
	int fd;

	if (!stat(path, &now) && S_ISREG(now.st_mode) && (u64)now.st_size == size)
		return;
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		cannot_make(path);
	fill(path, fd, size);
	if (fsync(fd) || close(fd))
		cannot_make(path);
}

int claim_disk(const char *path, int flags, u64 *size)
{
	struct stat what;
	int fd;

	if (stat(path, &what))
		die(EXIT_USAGE, "%s: %s", path, strerror(errno));
	if (!S_ISBLK(what.st_mode))
		die(EXIT_USAGE, "%s: not a block device", path);
	fd = open(path, flags | O_EXCL | O_CLOEXEC);
	if (fd < 0 && errno == EBUSY)
		die(EXIT_USAGE, "%s: in use: mounted, or claimed by another program", path);
	if (fd < 0 || ioctl(fd, BLKGETSIZE64, size))
		die(EXIT_USAGE, "%s: %s", path, strerror(errno));
	return fd;
}

void forget_pages(int fd)
{
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
}

void drop_caches(void)
{
	int error;

	sync();
	error = write_text(DROP_CACHES, DROP_ALL);
	if (error)
		die(EXIT_FAILED, "cannot drop the caches: " DROP_CACHES ": %s",
		    strerror(-error));
}

int disk_read_bytes(const char *name, struct disk_bytes *bytes)
{
	char path[128], text[512];
	u64 read, written;
	int length;

	snprintf(path, sizeof(path), "/sys/block/%s/stat", name);
	length = read_text(path, text, sizeof(text));
	if (length < 0)
		return length;
	if (sscanf(text, "%*u %*u %llu %*u %*u %*u %llu", &read, &written) != 2)
		return -EINVAL;
	*bytes = (struct disk_bytes){
		.read = read * SECTOR_BYTES,
		.written = written * SECTOR_BYTES,
	};
	return 0;
}

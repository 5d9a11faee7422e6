/* SPDX-License-Identifier: GPL-2.0 */
/* diskfile.h - files to read from the disk, and what keeps them in memory. */
#ifndef LAB_DISKFILE_H
#define LAB_DISKFILE_H

#include <sys/types.h>

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
 * Open a block device that is to be overwritten, with O_EXCL and @flags of open(2),
 * and return its @size in bytes. As long as it is open it cannot be
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

/*
 * What tools in the way of chrt(1) act on: a command that they become, or the threads of
 * a process.
 */

/* As a shell has them. */
#define EXIT_NOT_EXECUTABLE	126
#define EXIT_NOT_FOUND		127

/* The exit code of a process that ended with @status, as of wait(2). */
int exit_code_of(int status);

/* Become the command; exits when that is not possible. */
void __noreturn become(char **command);

/*
 * Call @treat(@arg, tid) for each thread of process @pid; with @again also for
 * those that a thread started before it was treated. How many calls returned
 * true; 0 also when there is no such process. Exits with EXIT_FAILED when there
 * are too many.
 */
unsigned int each_thread(pid_t pid, bool (*treat)(const void *arg, pid_t tid),
			 const void *arg, bool again);

/* The I/O priority of a task: ioprio_set(2), ioprio_get(2). */

/* Their order is the kernel's numbers; the table ends with NULL. */
enum ioprio_class {
	IO_NONE,		/* follows the nice value */
	IO_RT,			/* needs CAP_SYS_NICE or CAP_SYS_ADMIN */
	IO_BE,
	IO_IDLE,
	IO_CLASSES,
};

extern const char *const ioprio_classes[];

#define IOPRIO_LEVEL_MAX	7U	/* 0 comes first; the bits above are hints */
#define IOPRIO_LEVEL_USUAL	4U

struct ioprio {
	unsigned int class;
	unsigned int level;
};

/* Of thread @tid, 0 for the caller; 0 or -errno. */
int ioprio_change(pid_t tid, struct ioprio prio);
int ioprio_read(pid_t tid, struct ioprio *prio);

/* --class and --level of a program's command line. */
struct ioprio_options {
	struct ioprio prio;
	bool class_set;
	bool level_set;
};

/* Exits with EXIT_USAGE when the two do not go together. */
void ioprio_check(const struct ioprio_options *o);

/*
 * Give the caller what was asked for, if anything was, at the usual level unless
 * one was named; exits with EXIT_FAILED when it is not permitted.
 */
void ioprio_take(const struct ioprio_options *o);

#endif

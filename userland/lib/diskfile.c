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
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "args.h"
#include "diskfile.h"
#include "files.h"
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

/* A command to become, or the threads of a process. */

/* Above every thread id: the kernel's PID_MAX_LIMIT. */
#define TID_LIMIT	4194304U

/* Threads of one process that are followed. */
#define THREADS_MAX	65536U

int exit_code_of(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void become(char **command)
{
	int error;

	finish_output();
	execvp(command[0], command);
	error = errno;
	complain("cannot run %s: %s", command[0], strerror(error));
	exit(error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE);
}

/* The threads of a process, and which of them have been treated. */
struct threads {
	pid_t pid;
	pid_t *tids;
	u8 *seen;
};

static unsigned int treat_new(struct threads *t, bool (*treat)(const void *arg, pid_t tid),
			      const void *arg)
{
	int i, count = read_threads(t->pid, t->tids, THREADS_MAX);
	unsigned int treated = 0;

	if (count == -ENOENT)
		return 0;
	if (count < 0)
		die(EXIT_FAILED, "pid %d: %s", t->pid, strerror(-count));
	if (count > (int)THREADS_MAX)
		die(EXIT_FAILED, "pid %d: more than %u threads", t->pid, THREADS_MAX);
	for (i = 0; i < count; i++) {
		u32 tid = (u32)t->tids[i];

		if (tid >= TID_LIMIT || t->seen[tid])
			continue;
		t->seen[tid] = 1;
		treated += treat(arg, t->tids[i]);
	}
	return treated;
}

unsigned int each_thread(pid_t pid, bool (*treat)(const void *arg, pid_t tid),
			 const void *arg, bool again)
{
	struct threads t = {
		.pid = pid,
		.tids = xmalloc(THREADS_MAX * sizeof(*t.tids)),
		.seen = xcalloc(TID_LIMIT, sizeof(*t.seen)),
	};
	unsigned int treated, more;

	treated = treat_new(&t, treat, arg);
	while (again && treated && (more = treat_new(&t, treat, arg)))
		treated += more;
	free(t.seen);
	free(t.tids);
	return treated;
}

/* The I/O priority of a task. */

/* The kernel's encoding. */
#define WHO_PROCESS	1
#define CLASS_SHIFT	13
#define CLASS_MASK	7U
#define LEVEL_MASK	7U

const char *const ioprio_classes[] = { "none", "rt", "be", "idle", NULL };

static_assert(ARRAY_SIZE(ioprio_classes) == IO_CLASSES + 1, "a name for each class");

int ioprio_change(pid_t tid, struct ioprio prio)
{
	unsigned int value = prio.class << CLASS_SHIFT | prio.level;

	return syscall(SYS_ioprio_set, WHO_PROCESS, tid, value) < 0 ? -errno : 0;
}

int ioprio_read(pid_t tid, struct ioprio *prio)
{
	long value = syscall(SYS_ioprio_get, WHO_PROCESS, tid);

	if (value < 0)
		return -errno;
	prio->class = (unsigned int)value >> CLASS_SHIFT & CLASS_MASK;
	prio->level = (unsigned int)value & LEVEL_MASK;
	return 0;
}

static bool has_level(struct ioprio prio)
{
	return prio.class == IO_RT || prio.class == IO_BE;
}

void ioprio_check(const struct ioprio_options *o)
{
	if (o->level_set && !(o->class_set && has_level(o->prio)))
		die(EXIT_USAGE, "--level goes with --class rt and be");
}

void ioprio_take(const struct ioprio_options *o)
{
	struct ioprio prio = o->prio;
	int error;

	if (!o->class_set)
		return;
	if (!o->level_set && has_level(prio))
		prio.level = IOPRIO_LEVEL_USUAL;
	error = ioprio_change(0, prio);
	if (error)
		die(EXIT_FAILED, "I/O class %s: %s", ioprio_classes[prio.class],
		    strerror(-error));
}

// SPDX-License-Identifier: GPL-2.0
/* safety_disk.c - wrais-safety: a disk that may be filled, frozen and taken away. */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "args.h"
#include "clock.h"
#include "procfs.h"
#include "safety.h"

#define CONFIG		"/sys/kernel/config/nullb"
#define ITEM		CONFIG "/" SAFETY_DISK
#define DEVICE		"/dev/" SAFETY_DISK
#define SCHEDULER	"/sys/block/" SAFETY_DISK "/queue/scheduler"

static bool mounted;

void disk_require(void)
{
	char features[1024];

	if (read_text(CONFIG "/features", features, sizeof(features)) < 0 ||
	    !strstr(features, "service_mbps"))
		die(EXIT_UNSUPPORTED,
		    "this kernel has no null_blk with a service time in configfs");
}

/* Run @fn in a child, so that what hangs is told from what fails. */
static int bounded(int (*fn)(const void *arg), const void *arg)
{
	pid_t self = getpid(), pid;
	int status;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		die(EXIT_FAILED, "cannot start a child: %s", strerror(errno));
	if (!pid) {
		die_with_parent(self);
		_exit(-fn(arg));
	}
	status = wait_child(pid, now_ns() + safety_left_ns());
	if (status == -1)
		return -ETIMEDOUT;
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -EINTR;
}

struct program {
	char *const *argv;
	int output;		/* a file that takes what it says */
};

static int execute(const void *arg)
{
	const struct program *p = arg;

	if (dup2(p->output, STDOUT_FILENO) < 0 || dup2(p->output, STDERR_FILENO) < 0)
		return -errno;
	execvp(p->argv[0], p->argv);
	return -errno;
}

/* 0 or minus the status of a program; what it said, in one line, is in @said. */
static int run(char *const *argv, char *said, size_t size)
{
	struct program p = { argv, memfd_create("said", MFD_CLOEXEC) };
	ssize_t length;
	int result;

	if (p.output < 0)
		die(EXIT_FAILED, "no memory");
	result = bounded(execute, &p);
	length = pread(p.output, said, size - 1, 0);
	close(p.output);
	if (length < 0)
		length = 0;
	said[length] = '\0';
	while (length--)
		if (said[length] == '\n')
			said[length] = ' ';
	return result;
}

static void configure(const char *name, u64 value)
{
	char path[128], text[32];
	int error;

	snprintf(path, sizeof(path), ITEM "/%s", name);
	snprintf(text, sizeof(text), "%llu", value);
	error = write_text(path, text);
	if (error)
		die(EXIT_FAILED, "%s: %s: %s", path, text, strerror(-error));
}

static int set_power(const void *arg)
{
	return write_text(ITEM "/power", *(const bool *)arg ? "1" : "0");
}

int disk_power(bool on)
{
	return bounded(set_power, &on);
}

/* The disk is there, below bfq. */
static void plug(void)
{
	int error = disk_power(true);

	if (!error)
		error = write_text(SCHEDULER, "bfq");
	if (error)
		die(EXIT_FAILED, "no disk with bfq: %s", strerror(-error));
}

static void make_file_system(void)
{
	static char *const argv[] = {
		"mkfs.ext4", "-q", "-F", "-b", "4096", "-m", "0", "-N", "1024", "-J", "size=4",
		"-E", "lazy_itable_init=0,lazy_journal_init=0,nodiscard", DEVICE, NULL
	};
	char said[512];
	int result = run(argv, said, sizeof(said));

	if (result)
		die(EXIT_FAILED, "mkfs.ext4: %d: %s", -result, said);
}

void disk_make(u32 mib, u32 mbps, const char *options)
{
	int error;

	disk_drop();
	if (mkdir(ITEM, 0755))
		die(EXIT_FAILED, ITEM ": %s", strerror(errno));
	configure("size", mib);
	configure("memory_backed", 1);
	configure("queue_mode", 2);
	configure("irqmode", 2);
	configure("submit_queues", 1);
	configure("hw_queue_depth", 2);
	configure("blocksize", 4096);
	configure("max_sectors", 1024);
	plug();
	make_file_system();
	/* from now on it is a slow one, with the same bytes */
	error = disk_power(false);
	if (error)
		die(EXIT_FAILED, "the disk does not go away: %s", strerror(-error));
	configure("service_mbps", mbps);
	configure("service_nsec", 300000);
	plug();
	error = disk_mount(options);
	if (error)
		die(EXIT_FAILED, "cannot mount " DEVICE " on %s (%s): %s", safety.dir,
		    options, strerror(-error));
}

static int do_mount(const void *arg)
{
	return mount(DEVICE, safety.dir, "ext4", MS_NOATIME, arg) ? -errno : 0;
}

int disk_mount(const char *options)
{
	int error;

	if (mkdir(safety.dir, 0755) && errno != EEXIST)
		return -errno;
	error = bounded(do_mount, options);
	mounted = !error;
	return error;
}

static int do_remount(const void *arg)
{
	unsigned long flags = MS_REMOUNT | MS_NOATIME;

	if (*(const bool *)arg)
		flags |= MS_RDONLY;
	return mount(NULL, safety.dir, NULL, flags, NULL) ? -errno : 0;
}

int disk_remount(bool read_only)
{
	return bounded(do_remount, &read_only);
}

static int do_unmount(const void *arg)
{
	(void)arg;
	return umount2(safety.dir, 0) ? -errno : 0;
}

int disk_unmount(void)
{
	int error = bounded(do_unmount, NULL);

	if (!error)
		mounted = false;
	return error;
}

static int do_freeze(const void *arg)
{
	bool frozen = *(const bool *)arg;
	int fd = open(safety.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	return ioctl(fd, frozen ? FIFREEZE : FITHAW, 0) ? -errno : 0;
}

int disk_freeze(bool frozen)
{
	return bounded(do_freeze, &frozen);
}

void disk_expect_clean(struct ktap_case *t)
{
	static char *const argv[] = { "e2fsck", "-fn", DEVICE, NULL };
	char said[512];
	int result = run(argv, said, sizeof(said));

	expect(t, !result, "e2fsck: %d: %s", -result, said);
}

u64 disk_written(void)
{
	struct disk_bytes bytes;
	int error = disk_read_bytes(SAFETY_DISK, &bytes);

	if (error)
		die(EXIT_FAILED, "the statistics of " SAFETY_DISK ": %s", strerror(-error));
	return bytes.written;
}

void disk_drop(void)
{
	if (mounted) {
		/* removed files need not be written */
		tasks_clean(TASKS_MAX);
		umount2(safety.dir, MNT_DETACH);
		mounted = false;
	}
	if (!access(ITEM, F_OK) && (disk_power(false) || rmdir(ITEM)))
		die(EXIT_FAILED, ITEM " does not go away: %s", strerror(errno));
}

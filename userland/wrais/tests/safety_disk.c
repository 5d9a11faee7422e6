// SPDX-License-Identifier: GPL-2.0
/* safety_disk.c - wrais-safety: a disk that may be filled, frozen and taken away. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
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

/* A disk, by all the names that it has. */
struct disk {
	const char *item;
	const char *device;
	const char *block;
	bool second;
	bool mounted;
};

#define SECOND_DISK	SAFETY_DISK "-2"

static struct disk disks[] = {
	{
		.item = CONFIG "/" SAFETY_DISK,
		.device = "/dev/" SAFETY_DISK,
		.block = "/sys/block/" SAFETY_DISK,
	},
	{
		.item = CONFIG "/" SECOND_DISK,
		.device = "/dev/" SECOND_DISK,
		.block = "/sys/block/" SECOND_DISK,
		.second = true,
	},
};

static struct disk *const first = &disks[0];

void disk_dir(char path[PATH_MAX], bool second)
{
	snprintf(path, PATH_MAX, "%s%s", safety.dir, second ? "-2" : "");
}

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

static void configure(const struct disk *d, const char *name, u64 value)
{
	char path[128], text[32];
	int error;

	snprintf(path, sizeof(path), "%s/%s", d->item, name);
	snprintf(text, sizeof(text), "%llu", value);
	error = write_text(path, text);
	if (error)
		die(EXIT_FAILED, "%s: %s: %s", path, text, strerror(-error));
}

struct power {
	const struct disk *disk;
	bool on;
};

static int set_power(const void *arg)
{
	const struct power *power = arg;
	char path[128];

	snprintf(path, sizeof(path), "%s/power", power->disk->item);
	return write_text(path, power->on ? "1" : "0");
}

static int turn(const struct disk *d, bool on)
{
	struct power power = { d, on };

	return bounded(set_power, &power);
}

int disk_power(bool on)
{
	return turn(first, on);
}

/* Set what the block layer keeps of a disk; 0 or -errno. */
static int set_block(const struct disk *d, const char *name, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", d->block, name);
	return write_text(path, text);
}

int disk_set(const char *name, const char *text)
{
	return set_block(first, name, text);
}

/* The disk is there, below bfq. */
static void plug(const struct disk *d)
{
	int error = turn(d, true);

	if (!error)
		error = set_block(d, "queue/scheduler", "bfq");
	if (error)
		die(EXIT_FAILED, "no disk with bfq: %s", strerror(-error));
}

static void make_file_system(const struct disk *d)
{
	char device[64];
	char *const argv[] = {
		"mkfs.ext4", "-q", "-F", "-b", "4096", "-m", "0", "-N", "1024", "-J", "size=4",
		"-E", "lazy_itable_init=0,lazy_journal_init=0,nodiscard", device, NULL
	};
	char said[512];
	int result;

	snprintf(device, sizeof(device), "%s", d->device);
	result = run(argv, said, sizeof(said));
	if (result)
		die(EXIT_FAILED, "mkfs.ext4: %d: %s", -result, said);
}

struct mounting {
	const char *device;
	const char *dir;
	const char *options;
};

static int do_mount(const void *arg)
{
	const struct mounting *m = arg;

	return mount(m->device, m->dir, "ext4", MS_NOATIME, m->options) ? -errno : 0;
}

static int mount_on(struct disk *d, const char *options)
{
	char dir[PATH_MAX];
	int error;

	disk_dir(dir, d->second);
	if (mkdir(dir, 0755) && errno != EEXIST)
		return -errno;
	error = bounded(do_mount, &(struct mounting){ d->device, dir, options });
	d->mounted = !error;
	return error;
}

int disk_mount(const char *options)
{
	return mount_on(first, options);
}

static void make(struct disk *d, u32 mib, u32 mbps, const char *options)
{
	int error;

	if (mkdir(d->item, 0755))
		die(EXIT_FAILED, "%s: %s", d->item, strerror(errno));
	configure(d, "size", mib);
	configure(d, "memory_backed", 1);
	configure(d, "queue_mode", 2);
	configure(d, "irqmode", 2);
	configure(d, "submit_queues", 1);
	configure(d, "hw_queue_depth", 2);
	configure(d, "blocksize", 4096);
	configure(d, "max_sectors", 1024);
	plug(d);
	make_file_system(d);
	/* from now on it is a slow one, with the same bytes */
	error = turn(d, false);
	if (error)
		die(EXIT_FAILED, "the disk does not go away: %s", strerror(-error));
	configure(d, "service_mbps", mbps);
	configure(d, "service_nsec", 300000);
	plug(d);
	error = mount_on(d, options);
	if (error)
		die(EXIT_FAILED, "cannot mount %s (%s): %s", d->device, options,
		    strerror(-error));
}

void disk_make(u32 mib, u32 mbps, const char *options)
{
	disk_drop();
	make(first, mib, mbps, options);
}

void disk_make_second(u32 mib, u32 mbps)
{
	make(&disks[1], mib, mbps, "data=ordered");
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
		first->mounted = false;
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
	static char *const argv[] = { "e2fsck", "-fn", "/dev/" SAFETY_DISK, NULL };
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

static void drop(struct disk *d)
{
	char dir[PATH_MAX];

	if (d->mounted) {
		disk_dir(dir, d->second);
		umount2(dir, MNT_DETACH);
		d->mounted = false;
	}
	if (!access(d->item, F_OK) && (turn(d, false) || rmdir(d->item)))
		die(EXIT_FAILED, "%s does not go away: %s", d->item, strerror(errno));
}

void disk_drop(void)
{
	unsigned int i;

	/* removed files need not be written */
	if (first->mounted)
		tasks_clean(TASKS_MAX);
	for (i = 0; i < ARRAY_SIZE(disks); i++)
		drop(&disks[i]);
}

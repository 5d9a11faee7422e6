// SPDX-License-Identifier: GPL-2.0
/* run_setup.c - wrais-run: the disk, its queue, the limits, the files. */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "args.h"
#include "diskfile.h"
#include "procfs.h"
#include "run.h"

#define DIRTY_BYTES		"/proc/sys/vm/dirty_bytes"
#define DIRTY_BACKGROUND_BYTES	"/proc/sys/vm/dirty_background_bytes"
#define MOUNT_OPTIONS		"data=ordered"

static void write_or_die(const char *path, const char *value)
{
	int error = write_text(path, value);

	if (error)
		die(EXIT_FAILED, "cannot write '%s' to %s: %s", value, path, strerror(-error));
}

static void write_number(const char *path, u64 value)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", value);
	write_or_die(path, text);
}

/* Schedulers the kernel lacks are EINVAL: say what it has. */
static void set_scheduler(const struct run_options *o)
{
	char path[256], has[256];
	int error;

	snprintf(path, sizeof(path), "/sys/block/%s/queue/scheduler", o->disk);
	error = write_text(path, o->scheduler);
	if (!error)
		return;
	if (error != -EINVAL || read_text(path, has, sizeof(has)) < 0)
		die(EXIT_FAILED, "%s: %s", path, strerror(-error));
	has[strcspn(has, "\n")] = '\0';
	die(EXIT_UNSUPPORTED, "--sched: %s: this kernel has %s", o->scheduler, has);
}

/* The scheduler's attribute when it has one with that name, else the queue's. */
static void set_tune(const char *disk, const char *tune)
{
	const char *equals = strchr(tune, '=');
	int length = (int)(equals - tune);
	char path[256];

	snprintf(path, sizeof(path), "/sys/block/%s/queue/iosched/%.*s", disk, length, tune);
	if (access(path, F_OK))
		snprintf(path, sizeof(path), "/sys/block/%s/queue/%.*s", disk, length, tune);
	write_or_die(path, equals + 1);
}

static void set_knob(const char *knob)
{
	const char *equals = strchr(knob, '=');
	char path[256];

	snprintf(path, sizeof(path), WRAIS_DEBUGFS "/%.*s", (int)(equals - knob), knob);
	write_or_die(path, equals + 1);
}

/* What is expected of a counter that is not there is a mistake in its name. */
static void check_expected(const struct run_options *o)
{
	struct wrais_stats stats;
	unsigned int i;
	u64 value;

	if (!o->nr_expected)
		return;
	wrais_require();
	wrais_read(&stats);
	for (i = 0; i < o->nr_expected; i++)
		if (!wrais_find(&stats, o->expected[i].counter, &value))
			die(EXIT_USAGE, "--expect: " WRAIS_STAT " has no %s",
			    o->expected[i].counter);
}

static void set_queue(const struct run_options *o)
{
	char path[256];
	unsigned int i;

	snprintf(path, sizeof(path), "/sys/block/%s", o->disk);
	if (access(path, F_OK))
		die(EXIT_FAILED, "--disk: there is no %s", path);
	if (o->scheduler)
		set_scheduler(o);
	if (o->slice_idle_set) {
		snprintf(path, sizeof(path), "/sys/block/%s/queue/iosched/slice_idle_us", o->disk);
		write_number(path, o->slice_idle_us);
	}
	for (i = 0; i < o->tunes; i++)
		set_tune(o->disk, o->tune[i]);
}

static void mount_disk(const struct run_options *o)
{
	const char *options = o->mount_options ? o->mount_options : MOUNT_OPTIONS;
	char device[256];

	/* a mount of our own goes away with us, however we end */
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		die(EXIT_FAILED, "no mount namespace: %s", strerror(errno));
	if (mkdir(o->dir, 0755) && errno != EEXIST)
		die(EXIT_FAILED, "--dir: %s: %s", o->dir, strerror(errno));
	snprintf(device, sizeof(device), "/dev/%s", o->disk);
	if (mount(device, o->dir, "ext4", MS_NOATIME, options))
		die(EXIT_FAILED, "cannot mount %s on %s (%s): %s", device, o->dir, options,
		    strerror(errno));
}

void run_unmount(const struct run_options *o)
{
	if (umount2(o->dir, 0) && umount2(o->dir, MNT_DETACH))
		complain("cannot unmount %s: %s", o->dir, strerror(errno));
}

static void set_limits(const struct run_options *o)
{
	if (o->dirty_bytes)
		write_number(DIRTY_BYTES, o->dirty_bytes);
	if (o->dirty_background_bytes)
		write_number(DIRTY_BACKGROUND_BYTES, o->dirty_background_bytes);
}

void run_setup(const struct run_options *o)
{
	unsigned int i;

	if (o->wrais_set)
		wrais_check(&o->wrais);
	check_expected(o);
	set_queue(o);
	set_limits(o);
	if (o->load_weight)
		groups_make(o);
	if (o->mount)
		mount_disk(o);
	if (!o->command)
		disk_file(o->file, (u64)o->probe.pages * PAGE_BYTES);
	load_prepare(&o->load);
	if (o->wrais_set)
		wrais_apply(&o->wrais);
	for (i = 0; i < o->knobs; i++)
		set_knob(o->knob[i]);
	trace_setup(o);
}

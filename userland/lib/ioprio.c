// SPDX-License-Identifier: GPL-2.0
/* ioprio.c - the I/O priority of a task. */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "args.h"
#include "ioprio.h"

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

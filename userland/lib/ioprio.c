// SPDX-License-Identifier: GPL-2.0
/* ioprio.c - the I/O priority of a task. */
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

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

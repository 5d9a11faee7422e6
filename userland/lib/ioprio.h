/* SPDX-License-Identifier: GPL-2.0 */
/* ioprio.h - the I/O priority of a task: ioprio_set(2), ioprio_get(2). */
#ifndef LAB_IOPRIO_H
#define LAB_IOPRIO_H

#include <sys/types.h>

#include "types.h"

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

#endif /* LAB_IOPRIO_H */

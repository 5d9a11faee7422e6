// SPDX-License-Identifier: GPL-2.0
/*
 * torture_group.c - lottery-torture: moves between cgroups, in a child of its
 * own: a move waits for whatever hotplug is under way.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "args.h"
#include "clock.h"
#include "procfs.h"
#include "torture.h"

#define CGROUP_ROOT	"/sys/fs/cgroup"
#define CGROUP2_MAGIC	0x63677270

/* Between two moves, at most. */
#define PAUSE_MAX_US	5000U

void groups_make(struct torture *x)
{
	struct statfs fs;
	unsigned int i;

	if (statfs(CGROUP_ROOT, &fs) || (u64)fs.f_type != CGROUP2_MAGIC)
		return;
	/* with the cpu controller a move changes the task's group in the scheduler */
	write_text(CGROUP_ROOT "/cgroup.subtree_control", "+cpu");
	for (i = 0; i < TORTURE_GROUPS; i++) {
		snprintf(x->group[i], sizeof(x->group[i]), CGROUP_ROOT "/lottery-torture-%d-%u",
			 getpid(), i);
		if (mkdir(x->group[i], 0755))
			die(EXIT_FAILED, "mkdir %s: %s", x->group[i], strerror(errno));
	}
	snprintf(x->group[TORTURE_GROUPS], sizeof(x->group[0]), CGROUP_ROOT);
	x->groups = TORTURE_GROUPS + 1;
}

void groups_remove(const struct torture *x)
{
	unsigned int i;

	for (i = 0; i + 1 < x->groups; i++)
		if (rmdir(x->group[i]))
			complain("rmdir %s: %s", x->group[i], strerror(errno));
}

static int move_to(const struct torture *x, pid_t pid, unsigned int group)
{
	char path[96], text[16];

	snprintf(path, sizeof(path), "%s/cgroup.procs", x->group[group]);
	snprintf(text, sizeof(text), "%d", pid);
	return write_text(path, text);
}

void groups_leave(const struct torture *x)
{
	unsigned int i;

	for (i = 0; x->groups && i < x->tasks; i++)
		move_to(x, x->crew.pid[i], TORTURE_GROUPS);
}

/* In its slot: value counts the moves, guard what went wrong. */
CREW_FN(mover)
{
	const struct torture *x = arg;
	struct random random = { .state = x->seed + 1 };
	struct crew_slot *slot = &crew->page->slot[i];

	while (x->groups && !load(&crew->page->stop)) {
		unsigned int task = random_below(&random, x->tasks);
		pid_t pid = (pid_t)load(&x->crew.page->slot[task].resting);
		int error = move_to(x, pid, random_below(&random, x->groups));

		/* ESRCH: it is on its way out, as it was told */
		if (error && error != -ESRCH)
			store(&slot->guard, slot->guard + 1);
		store64(&slot->value, slot->value + 1);
		sleep_until_ns(now_ns() + random_below(&random, PAUSE_MAX_US) *
			       NSEC_PER_USEC);
	}
	return 0;
}

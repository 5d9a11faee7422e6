// SPDX-License-Identifier: GPL-2.0
/*
 * torture_group.c - lottery-torture: moves between cgroups, which become currencies, are
 * backed anew, and go, in a child of its own: a move waits for whatever hotplug is under
 * way.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "cgroup.h"
#include "clock.h"
#include "torture.h"

/* Between two moves, at most. */
#define PAUSE_MAX_US	5000U

void groups_make(struct torture *x)
{
	unsigned int i;
	int error;

	/* with the cpu controller a move changes the task's group in the scheduler */
	if (!cgroups_usable())
		return;
	for (i = 0; i < TORTURE_GROUPS; i++) {
		snprintf(x->group[i], sizeof(x->group[i]), CGROUP_ROOT "/lottery-torture-%d-%u",
			 getpid(), i);
		error = cgroup_make(x->group[i]);
		if (error)
			die(EXIT_FAILED, "mkdir %s: %s", x->group[i], strerror(-error));
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

void groups_leave(const struct torture *x)
{
	unsigned int i;

	for (i = 0; x->groups && i < x->tasks; i++)
		cgroup_move(CGROUP_ROOT, x->crew.pid[i]);
}

/* A group gets another backing, or none; or it goes and comes back if it is empty. */
static int change_group(const char *group, struct random *random)
{
	int error;

	if (random_below(random, 4))
		return cgroup_back(group, random_below(random, 3) *
					  random_between(random, 1, 1000));
	error = cgroup_remove(group, 0);
	return error ? 0 : cgroup_make(group);
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
		int error = cgroup_move(x->group[random_below(&random, x->groups)], pid);

		if (!random_below(&random, 8)) {
			unsigned int group = random_below(&random, TORTURE_GROUPS);

			error = error ?: change_group(x->group[group], &random);
		}
		/* ESRCH: it is on its way out, as it was told */
		if (error && error != -ESRCH)
			store(&slot->guard, slot->guard + 1);
		store64(&slot->value, slot->value + 1);
		sleep_until_ns(now_ns() + random_below(&random, PAUSE_MAX_US) *
			       NSEC_PER_USEC);
	}
	return 0;
}

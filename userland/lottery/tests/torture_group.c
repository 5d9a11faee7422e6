// SPDX-License-Identifier: GPL-2.0
/*
 * torture_group.c - lottery-torture: moves between cgroups, which become currencies, are
 * backed anew, and go, in a child of its own: a move waits for whatever hotplug is under
 * way. The group that they are in becomes one around them, and stays.
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

static void make(const char *group)
{
	int error = cgroup_make(group);

	if (error)
		die(EXIT_FAILED, "mkdir %s: %s", group, strerror(-error));
}

void groups_make(struct torture *x)
{
	unsigned int i;
	int error;

	/* with the cpu controller a move changes the task's group in the scheduler */
	if (!cgroups_usable())
		return;
	snprintf(x->around, sizeof(x->around), CGROUP_ROOT "/lottery-torture-%d", getpid());
	make(x->around);
	error = cgroup_control_cpu(x->around);
	if (error)
		die(EXIT_FAILED, "the cpu controller within %s: %s", x->around,
		    strerror(-error));
	for (i = 0; i < TORTURE_GROUPS; i++) {
		snprintf(x->group[i], sizeof(x->group[i]), "%s/%u", x->around, i);
		make(x->group[i]);
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
	if (x->groups && rmdir(x->around))
		complain("rmdir %s: %s", x->around, strerror(errno));
}

void groups_leave(const struct torture *x)
{
	unsigned int i;

	for (i = 0; x->groups && i < x->tasks; i++)
		cgroup_move(CGROUP_ROOT, x->crew.pid[i]);
}

/* Another backing, or none. */
static int back(const char *group, struct random *random)
{
	return cgroup_back(group, random_below(random, 3) * random_between(random, 1, 1000));
}

/* A group is backed anew; or it goes and comes back if it is empty. */
static int change_group(const char *group, struct random *random)
{
	int error;

	if (random_below(random, 4))
		return back(group, random);
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
			unsigned int group = random_below(&random, TORTURE_GROUPS + 1);

			if (!error)
				error = group == TORTURE_GROUPS ?
					back(x->around, &random) :
					change_group(x->group[group], &random);
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

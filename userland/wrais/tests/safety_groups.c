// SPDX-License-Identifier: GPL-2.0
/*
 * safety_groups.c - wrais-safety: the privilege is worth the same in a cgroup, and the
 * io controller does not take it away.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "args.h"
#include "clock.h"
#include "privilege.h"
#include "procfs.h"
#include "safety.h"
#include "validate.h"

#define DISK_MIB	128U
#define DISK_MBPS	30U
#define ORDERED		"data=ordered"
#define CONTROLLERS	CGROUP_ROOT "/cgroup.subtree_control"

/* Groups of different weight: without a privilege 1 in 20. */
#define LIGHT		"wrais-light"
#define HEAVY		"wrais-heavy"

/* Tasks are watched for so long. */
#define WATCH_NS	(3 * NSEC_PER_SEC)
/* A privileged task has so many times more than both others, at least; 70 on a quiet host. */
#define TIMES		2U

static bool set_in(const char *group, const char *name, const char *value)
{
	char path[256];

	snprintf(path, sizeof(path), CGROUP_ROOT "/%s/%s", group, name);
	return !write_text(path, value);
}

static bool removed(void *path)
{
	return !rmdir(path) || errno == ENOENT;
}

static bool make_groups(void)
{
	return !write_text(CONTROLLERS, "+io") &&
	       !mkdir(CGROUP_ROOT "/" LIGHT, 0755) && !mkdir(CGROUP_ROOT "/" HEAVY, 0755) &&
	       set_in(LIGHT, "io.bfq.weight", "50") && set_in(HEAVY, "io.bfq.weight", "1000");
}

static void remove_groups(struct ktap_case *t)
{
	static char light[] = CGROUP_ROOT "/" LIGHT, heavy[] = CGROUP_ROOT "/" HEAVY;

	expect(t, wait_until(removed, light, safety_left_ns()) &&
	       wait_until(removed, heavy, safety_left_ns()), "the groups stay");
}

/* What the first task reads for a while, and what all others do. */
static void watch_first(struct crew *crew, u64 *first, u64 *others)
{
	const struct crew_slot *slot = crew->page->slot;
	u64 before = load64(&slot[0].value), all = tasks_bytes(crew);

	sleep_until_ns(now_ns() + WATCH_NS);
	*first = load64(&slot[0].value) - before;
	*others = tasks_bytes(crew) - all - *first;
}

/* The others begin; the first one is privileged by its class, or later by its group. */
static void share_disk(struct ktap_case *t, bool by_class)
{
	const struct task tasks[] = {
		{ .role = ROLE_READ, .privileged = by_class, .thinks = true, .group = LIGHT },
		{ .role = ROLE_READ, .group = HEAVY }, { .role = ROLE_READ, .group = HEAVY },
	};
	struct crew crew;
	u64 first, others;

	disk_make(DISK_MIB, DISK_MBPS, ORDERED);
	tasks_start(&crew, tasks, ARRAY_SIZE(tasks));
	tasks_advance(t, &crew, 1);
	if (!by_class) {
		watch_first(&crew, &first, &others);
		ktap_note(t->ktap, "before: %llu and %llu bytes", first, others);
		expect_bound(t, first < others, "nobody is privileged: %llu and %llu bytes",
			     first, others);
		expect(t, set_in(LIGHT, "io.wrais", "1"), "cannot make a group privileged");
		/* the next request is: the one that it waits for is not */
		task_advance(t, &crew, 0, 2);
	}
	watch_first(&crew, &first, &others);
	tasks_stop(t, &crew);
	ktap_note(t->ktap, "privileged: %llu and %llu bytes", first, others);
	expect_bound(t, first > TIMES * others,
		     "%llu bytes for the privileged, %llu for the others", first, others);
}

static void in_groups(struct ktap_case *t, bool by_class)
{
	char before[256];

	if (read_text(CONTROLLERS, before, sizeof(before)) < 0 || !make_groups()) {
		skip_test(t, "no cgroup v2 with an I/O controller");
		return;
	}
	share_disk(t, by_class);
	remove_groups(t);
	if (!strstr(before, "io"))
		write_text(CONTROLLERS, "-io");
}

void case_class_in_group(struct ktap_case *t)
{
	in_groups(t, true);
}

void case_group(struct ktap_case *t)
{
	in_groups(t, false);
}

// SPDX-License-Identifier: GPL-2.0
/* safety_ends.c - wrais-safety: privileges end with their tasks, and with the switches. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "procfs.h"
#include "safety.h"
#include "validate.h"

#define DISK_MIB	128U
#define DISK_MBPS	5U
#define ORDERED		"data=ordered"
#define DIRTY_BYTES	(2 * MIB)

#define KILLS		4U
/* How far the others have to get for what is left behind to show. */
#define ROUNDS		32U
#define SWITCHES	2U

static void prepare(void)
{
	disk_make(DISK_MIB, DISK_MBPS, ORDERED);
	vm_set("dirty_bytes", DIRTY_BYTES);
	vm_set("dirty_background_bytes", DIRTY_BYTES / 2);
}

struct sleeper {
	const struct crew *crew;
	unsigned int i;
};

static bool waits(void *arg)
{
	const struct sleeper *s = arg;
	struct task_stat stat;

	return !read_task_stat(s->crew->pid[s->i], &stat) && stat.state == 'D';
}

static bool inherits_above(void *arg)
{
	struct wrais_stats stats;
	u64 value;

	return wrais_read(&stats) && wrais_find(&stats, "inherits", &value) &&
	       value > *(u64 *)arg;
}

/* The privileged are killed while they wait, task @victim first. */
static void kill_waiting(struct ktap_case *t, unsigned int victim)
{
	enum { OTHER = 2 };
	static const struct task tasks[] = {
		PRIVILEGED(WRITE), PRIVILEGED(SYNC),
		[OTHER] = OTHERS(WRITE),
	};
	u64 inherits = counter_now(t, "inherits"), raised;
	struct crew crew;
	struct sleeper sleeper = { &crew, victim };

	tasks_start(&crew, tasks, ARRAY_SIZE(tasks));
	tasks_advance(t, &crew, 1);
	if (expect(t, wait_until(inherits_above, &inherits, safety_left_ns()),
		   "nobody inherits from the privileged") &&
	    expect(t, wait_until(waits, &sleeper, safety_left_ns()), "task %u never waits",
		   victim + 1)) {
		crew_kill(&crew, victim);
		crew_kill(&crew, !victim);
		inherits = counter_now(t, "inherits");
		raised = counter_now(t, "raised_requests");
		task_advance(t, &crew, OTHER, ROUNDS);
		expect(t, counter_now(t, "inherits") == inherits,
		       "somebody inherits from task %u, which is dead", victim + 1);
		expect(t, counter_now(t, "raised_requests") == raised,
		       "somebody is raised who is not privileged");
	}
	tasks_stop(t, &crew);
}

void case_killed(struct ktap_case *t)
{
	u64 value;
	unsigned int i;

	if (all_off() || wrais_get("inherit", &value)) {
		skip_test(t, "needs the parts raise, dirty and inherit");
		return;
	}
	prepare();
	for (i = 0; i < (safety.brief ? 2 : KILLS) && !t->failed; i++)
		kill_waiting(t, i % 2);
}

/* A privileged task sleeps while what it waits in is switched off. */
static void flip(struct ktap_case *t, struct crew *crew, const char *name)
{
	u64 value;
	int error;

	if (wrais_get(name, &value))
		return;
	error = wrais_set(name, !value);
	expect(t, !error, "%s: %s", name, strerror(-error));
	tasks_advance(t, crew, 1);
	error = wrais_set(name, value);
	expect(t, !error, "%s: %s", name, strerror(-error));
}

void case_switches(struct ktap_case *t)
{
	static const struct task tasks[] = {
		PRIVILEGED(WRITE), PRIVILEGED(SYNC),
		OTHERS(WRITE), OTHERS(SYNC),
	};
	struct crew crew;
	unsigned int i, part;

	prepare();
	tasks_start(&crew, tasks, ARRAY_SIZE(tasks));
	for (i = 0; i < (safety.brief ? 1 : SWITCHES); i++) {
		flip(t, &crew, WRAIS_MASTER);
		for (part = 0; wrais_parts[part] && !t->failed; part++)
			flip(t, &crew, wrais_parts[part]);
	}
	tasks_stop(t, &crew);
	expect(t, !disk_unmount(), "cannot unmount");
	disk_expect_clean(t);
}

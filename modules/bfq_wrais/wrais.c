// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who is privileged, and how often it mattered.
 *
 * The gate: what makes a task privileged must not be for the taking, since a
 * privileged task goes before everybody else. That is the real-time I/O class,
 * which needs CAP_SYS_ADMIN or CAP_SYS_NICE, and membership of a cgroup whose
 * io.wrais attribute somebody with CAP_SYS_ADMIN has set. BE/0 is not enough:
 * anybody can have it.
 */

#include <linux/export.h>
#include <linux/ioprio.h>
#include <linux/iocontext.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/sched/task.h>

#include "internal.h"

struct static_key_false wrais_keys[WRAIS_NR_PARTS] = {
	[0 ... WRAIS_NR_PARTS - 1] = STATIC_KEY_FALSE_INIT,
};
EXPORT_SYMBOL_GPL(wrais_keys);

const char *const wrais_event_names[WRAIS_NR_EVENTS] = {
	[WRAIS_RAISED_REQUESTS]	= "raised_requests",
	[WRAIS_DIRTY_BREAKS]	= "dirty_breaks",
	[WRAIS_DIRTY_NAPS]	= "dirty_naps",
	[WRAIS_DIRTY_HOLDS]	= "dirty_holds",
	[WRAIS_TAG_EXEMPTIONS]	= "tag_exemptions",
	[WRAIS_COPY_OUTS]	= "copy_outs",
	[WRAIS_INHERITS]	= "inherits",
	[WRAIS_FLOOR_TURNS]	= "floor_turns",
	[WRAIS_THINK_TURNS]	= "think_turns",
	[WRAIS_RANDOM_TURNS]	= "random_turns",
	[WRAIS_JOINS]		= "joins",
	[WRAIS_FLUSHER_SKIPS]	= "flusher_skips",
};

static DEFINE_PER_CPU(u64, wrais_events[WRAIS_NR_EVENTS]);

/**
 * wrais_count() - count an event
 * @event: what has happened; any context
 */
void wrais_count(enum wrais_event event)
{
	this_cpu_inc(wrais_events[event]);
}
EXPORT_SYMBOL_GPL(wrais_count);

/**
 * wrais_total() - how often it has happened since boot
 * @event: what is counted
 */
u64 wrais_total(enum wrais_event event)
{
	u64 total = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		total += per_cpu(wrais_events[event], cpu);
	return total;
}

static bool wrais_ioc_privileged(const struct io_context *ioc)
{
	return ioc && IOPRIO_PRIO_CLASS(ioc->ioprio) == IOPRIO_CLASS_RT;
}

/**
 * bfq_is_wraised() - is a task privileged?
 * @task: any task, with a reference held; may take its alloc_lock
 *
 * The query of the reference, for whoever is about to make a task wait.
 *
 * Return: false while privileges are switched off.
 */
bool bfq_is_wraised(struct task_struct *task)
{
	bool privileged;

	if (!wrais_on(WRAIS_ENABLED))
		return false;
	if (task == current)
		return wrais_current_privileged();

	task_lock(task);
	privileged = wrais_ioc_privileged(task->io_context);
	task_unlock(task);
	return privileged || wrais_cgroup_has_task(task);
}
EXPORT_SYMBOL_GPL(bfq_is_wraised);

/**
 * wrais_current_privileged() - is the current task privileged?
 *
 * Process context. Only to be asked behind wrais_on().
 */
bool wrais_current_privileged(void)
{
	return wrais_ioc_privileged(current->io_context) ||
	       wrais_cgroup_has_task(current);
}
EXPORT_SYMBOL_GPL(wrais_current_privileged);

/**
 * wrais_io_privileged() - does I/O belong to somebody privileged?
 * @ioc: whose it is; its class is read as it is now
 * @bio: what is to be done, for its cgroup
 *
 * Any context: a request can be inserted by another task than it belongs to.
 */
bool wrais_io_privileged(const struct io_context *ioc, const struct bio *bio)
{
	return wrais_ioc_privileged(ioc) || wrais_cgroup_has_bio(bio);
}

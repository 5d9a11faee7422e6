// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which tasks are privileged, and how often it mattered.
 *
 * A privileged task goes before all others, so privilege needs a capability: the real-time
 * I/O class needs CAP_SYS_ADMIN or CAP_SYS_NICE, and the io.wrais attribute of a cgroup
 * CAP_SYS_ADMIN. BE/0 is not enough: any task may set it.
 */

#include <linux/backing-dev-defs.h>
#include <linux/blk-mq.h>
#include <linux/export.h>
#include <linux/iocontext.h>
#include <linux/ioprio.h>
#include <linux/percpu.h>
#include <linux/sched.h>

#include "internal.h"

struct static_key_false wrais_key = STATIC_KEY_FALSE_INIT;
EXPORT_SYMBOL_GPL(wrais_key);

struct static_key_true wrais_keys[WRAIS_NR_PARTS] = {
	[0 ... WRAIS_NR_PARTS - 1] = STATIC_KEY_TRUE_INIT,
};
EXPORT_SYMBOL_GPL(wrais_keys);

const char *const wrais_event_names[WRAIS_NR_EVENTS] = {
	[WRAIS_RAISED_REQUESTS]	= "raised_requests",
	[WRAIS_DIRTY_BREAKS]	= "dirty_breaks",
	[WRAIS_DIRTY_NAPS]	= "dirty_naps",
	[WRAIS_DIRTY_HOLDS]	= "dirty_holds",
	[WRAIS_DIRTY_RELEASES]	= "dirty_releases",
	[WRAIS_TAG_EXEMPTIONS]	= "tag_exemptions",
	[WRAIS_COPY_OUTS]	= "copy_outs",
	[WRAIS_INHERITS]	= "inherits",
	[WRAIS_FLOOR_TURNS]	= "floor_turns",
	[WRAIS_THINK_TURNS]	= "think_turns",
	[WRAIS_RANDOM_TURNS]	= "random_turns",
	[WRAIS_FELLOW_TURNS]	= "fellow_turns",
	[WRAIS_OVERDUE_TURNS]	= "overdue_turns",
};

static DEFINE_PER_CPU(u64, wrais_events[WRAIS_NR_EVENTS]);

/* Count an event; any context. */
void wrais_count(enum wrais_event event)
{
	this_cpu_inc(wrais_events[event]);
}
EXPORT_SYMBOL_GPL(wrais_count);

/* How often it has happened since boot. */
u64 wrais_total(enum wrais_event event)
{
	u64 total = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		total += per_cpu(wrais_events[event], cpu);
	return total;
}

/* Is the current task privileged? Process context; call it behind wrais_on(). */
bool wrais_current_privileged(void)
{
	return IOPRIO_PRIO_CLASS(get_current_ioprio()) == IOPRIO_CLASS_RT ||
	       wrais_cgroup_has_task(current);
}

/* Is it for another reason than its class? An async bio without waiters is not. */
static bool wrais_makes_privileged(const struct bio *bio)
{
	return op_is_sync(bio->bi_opf) &&
	       (wrais_cgroup_has_bio(bio) || wrais_current_is_waited_for());
}

/* With its own level, or else that of a task without one. */
static void wrais_give_class(struct bio *bio)
{
	int level = IOPRIO_PRIO_LEVEL(bio->bi_ioprio);

	if (IOPRIO_PRIO_CLASS(bio->bi_ioprio) == IOPRIO_CLASS_NONE)
		level = IOPRIO_BE_NORM;
	bio->bi_ioprio = IOPRIO_PRIO_VALUE(IOPRIO_CLASS_RT, level);
}

void __wrais_submits(struct bio *bio)
{
	if (!wrais_bio_privileged(bio) && wrais_makes_privileged(bio))
		wrais_give_class(bio);
	if (wrais_bio_privileged(bio))
		wrais_note_active(&bio->bi_bdev->bd_disk->bdi->wrais);
}

int __wrais_acts_for(struct request *rq)
{
	int own = current->io_context ? current->io_context->ioprio : IOPRIO_DEFAULT;

	if (IOPRIO_PRIO_CLASS(req_get_ioprio(rq)) != IOPRIO_CLASS_RT ||
	    set_task_ioprio(current, req_get_ioprio(rq)))
		return WRAIS_ACTS_FOR_NOBODY;
	return own;
}
EXPORT_SYMBOL_GPL(__wrais_acts_for);

void __wrais_acted(int own)
{
	set_task_ioprio(current, own);
}
EXPORT_SYMBOL_GPL(__wrais_acted);

// SPDX-License-Identifier: GPL-2.0-only
/* The parts: the switch of all of them, kernel.wrais, one for each, and the counters. */

#include <linux/export.h>
#include <linux/init.h>
#include <linux/percpu.h>
#include <linux/sysctl.h>
#include <linux/wrais/part.h>

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
	[WRAIS_DIRTY_RELEASES]	= "dirty_releases",
	[WRAIS_TAG_EXEMPTIONS]	= "tag_exemptions",
	[WRAIS_COPY_OUTS]	= "copy_outs",
	[WRAIS_INHERITS]	= "inherits",
	[WRAIS_FLOOR_TURNS]	= "floor_turns",
	[WRAIS_THINK_TURNS]	= "think_turns",
	[WRAIS_RANDOM_TURNS]	= "random_turns",
	[WRAIS_FELLOW_TURNS]	= "fellow_turns",
	[WRAIS_OVERDUE_TURNS]	= "overdue_turns",
	[WRAIS_LATE_TURNS]	= "late_turns",
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

static struct ctl_table wrais_table[] = {
	{
		.procname	= "wrais",
		.data		= &wrais_key,
		.mode		= 0644,
		.proc_handler	= proc_do_static_key,
	},
};

static int __init wrais_sysctl_init(void)
{
	return register_sysctl("kernel", wrais_table) ? 0 : -ENOMEM;
}
subsys_initcall(wrais_sysctl_init);

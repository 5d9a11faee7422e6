// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the operations of the class cost, for whoever asks: a static key that
 * is off by default, switched with the sysctl kernel.sched_lottery_stats.
 */

#include <linux/cpumask.h>
#include <linux/init.h>
#include <linux/mmu_context.h>
#include <linux/mutex.h>
#include <linux/sysctl.h>

#include "sched.h"

DEFINE_STATIC_KEY_FALSE(lottery_stats_enabled);

/* What two readings of the clock in a row differ by, at the least [ns]. */
unsigned int lottery_stats_clock_ns __read_mostly;

/* Serialises the switch, not the counters: those belong to the rq locks. */
static DEFINE_MUTEX(lottery_stats_mutex);

static void lottery_stats_clear(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct rq *rq = cpu_rq(cpu);

		guard(rq_lock_irqsave)(rq);
		memset(rq->lottery.stats, 0, sizeof(rq->lottery.stats));
	}
}

static void lottery_stats_calibrate(void)
{
	u64 best = NSEC_PER_USEC, begin;
	int i;

	guard(irqsave)();
	for (i = 0; i < 100; i++) {
		begin = sched_clock_noinstr();
		best = min(best, sched_clock_noinstr() - begin);
	}
	lottery_stats_clock_ns = best;
}

static int sysctl_lottery_stats(const struct ctl_table *table, int write,
				void *buffer, size_t *lenp, loff_t *ppos)
{
	int enabled, err;
	struct ctl_table t = *table;

	guard(mutex)(&lottery_stats_mutex);

	enabled = static_key_enabled(&lottery_stats_enabled);
	t.data = &enabled;
	err = proc_dointvec_minmax(&t, write, buffer, lenp, ppos);
	if (err || !write)
		return err;

	if (!enabled) {
		static_branch_disable(&lottery_stats_enabled);
	} else if (!static_key_enabled(&lottery_stats_enabled)) {
		lottery_stats_clear();
		lottery_stats_calibrate();
		static_branch_enable(&lottery_stats_enabled);
	}
	return 0;
}

static struct ctl_table lottery_sysctls[] = {
	{
		.procname	= "sched_lottery_stats",
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= sysctl_lottery_stats,
		.extra1		= SYSCTL_ZERO,
		.extra2		= SYSCTL_ONE,
	},
};

static int __init lottery_sysctl_init(void)
{
	register_sysctl_init("kernel", lottery_sysctls);
	return 0;
}
late_initcall(lottery_sysctl_init);

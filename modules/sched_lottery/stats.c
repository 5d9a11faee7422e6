// SPDX-License-Identifier: GPL-2.0-only
/*
 * The files and switches of the class.
 *
 * /proc/sched_lottery: one line a CPU, pairs of name and value, computed for each reader
 * without any lock, so that no reader slows a CPU down: numbers of a busy CPU may be of
 * slightly different moments.
 *
 * kernel.sched_lottery_stats: the cost of the operations of the class; a static key that
 * is off by default. kernel.sched_lottery_compensation and
 * kernel.sched_lottery_low_variance: see class.c; kernel.sched_lottery_transfers: see
 * loan.c.
 */

#include <linux/cpumask.h>
#include <linux/init.h>
#include <linux/jiffies.h>
#include <linux/mmu_context.h>
#include <linux/mutex.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/sysctl.h>

#include "class.h"

#define LOTTERY_PROC_VERSION 1

DEFINE_STATIC_KEY_FALSE(lottery_stats_enabled);
DEFINE_STATIC_KEY_TRUE(lottery_compensation);
DEFINE_STATIC_KEY_TRUE(lottery_transfers);
DEFINE_STATIC_KEY_FALSE(lottery_low_variance);

/* The least difference of two readings of the clock in a row [ns]. */
unsigned int lottery_stats_clock_ns __read_mostly;

/* Serialises the switches, not the counters: those belong to the rq locks. */
static DEFINE_MUTEX(lottery_switch_mutex);

static const char *const lottery_op_names[LOTTERY_NR_OPS] = {
	[LOTTERY_ENQUEUE]	= "enqueue",
	[LOTTERY_DEQUEUE]	= "dequeue",
	[LOTTERY_DRAW]		= "draw",
};

static void lottery_show_cpu(struct seq_file *m, int cpu, bool stats)
{
	const struct lottery_rq *lrq = &cpu_rq(cpu)->lottery;
	int op;

	seq_printf(m, "cpu %d pool %s tasks %u tickets %llu lotteries %llu",
		   cpu, lottery_pool_ops->name, READ_ONCE(lrq->nr),
		   READ_ONCE(lrq->owned), READ_ONCE(lrq->lotteries));
	for (op = 0; stats && op < LOTTERY_NR_OPS; op++)
		seq_printf(m, " %s_count %llu %s_ns %llu",
			   lottery_op_names[op], READ_ONCE(lrq->stats[op].count),
			   lottery_op_names[op], READ_ONCE(lrq->stats[op].ns));
	seq_putc(m, '\n');
}

static int lottery_show(struct seq_file *m, void *unused)
{
	bool stats = static_key_enabled(&lottery_stats_enabled);
	int cpu;

	if (IS_ENABLED(CONFIG_SCHED_LOTTERY_DEBUG))
		lottery_check_machine();
	seq_printf(m, "version %d\n", LOTTERY_PROC_VERSION);
	seq_printf(m, "tick_ns %lu\n", TICK_NSEC);
	seq_printf(m, "stats %d\n", stats);
	for_each_online_cpu(cpu)
		lottery_show_cpu(m, cpu, stats);
	return 0;
}

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

static void lottery_stats_begin_anew(void)
{
	lottery_stats_clear();
	lottery_stats_calibrate();
}

/* A sysctl of 0 and 1 that is a static key. */
static int lottery_switch(const struct ctl_table *table, int write, void *buffer,
			  size_t *lenp, loff_t *ppos)
{
	struct static_key *key = table->data;
	struct ctl_table t = *table;
	int enabled, was, err;

	guard(mutex)(&lottery_switch_mutex);

	was = static_key_enabled(key);
	enabled = was;
	t.data = &enabled;
	t.extra1 = SYSCTL_ZERO;
	t.extra2 = SYSCTL_ONE;
	err = proc_dointvec_minmax(&t, write, buffer, lenp, ppos);
	if (err || !write || enabled == was)
		return err;

	if (!enabled) {
		static_key_disable(key);
	} else {
		if (key == &lottery_stats_enabled.key)
			lottery_stats_begin_anew();
		static_key_enable(key);
	}
	return 0;
}

#define LOTTERY_SWITCH(name, switch)			\
{							\
	.procname	= name,				\
	.data		= &(switch).key,			\
	.maxlen		= sizeof(int),			\
	.mode		= 0644,				\
	.proc_handler	= lottery_switch,		\
}

static struct ctl_table lottery_sysctls[] = {
	LOTTERY_SWITCH("sched_lottery_stats", lottery_stats_enabled),
	LOTTERY_SWITCH("sched_lottery_compensation", lottery_compensation),
	LOTTERY_SWITCH("sched_lottery_transfers", lottery_transfers),
	LOTTERY_SWITCH("sched_lottery_low_variance", lottery_low_variance),
};

static int __init lottery_interface_init(void)
{
	proc_create_single("sched_lottery", 0444, NULL, lottery_show);
	register_sysctl_init("kernel", lottery_sysctls);
	return 0;
}
late_initcall(lottery_interface_init);

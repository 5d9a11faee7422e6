// SPDX-License-Identifier: GPL-2.0-only
/*
 * /proc/sched_lottery: one line a CPU, pairs of name and value. Made up anew
 * by each reader, so that it never fills up; what it costs, the reader pays.
 */

#include <linux/cpumask.h>
#include <linux/init.h>
#include <linux/jiffies.h>
#include <linux/mmu_context.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>

#include "sched.h"

#define LOTTERY_PROC_VERSION 1

static const char *const lottery_op_names[LOTTERY_NR_OPS] = {
	[LOTTERY_ENQUEUE]	= "enqueue",
	[LOTTERY_DEQUEUE]	= "dequeue",
	[LOTTERY_DRAW]		= "draw",
};

static void lottery_show_cpu(struct seq_file *m, int cpu, bool stats)
{
	struct lottery_op_stats ops[LOTTERY_NR_OPS];
	struct rq *rq = cpu_rq(cpu);
	u64 tickets, lotteries;
	unsigned int nr;
	int op;

	/* Nothing is printed under the lock: printing may sleep. */
	scoped_guard(rq_lock_irqsave, rq) {
		nr = rq->lottery.pool.nr;
		tickets = rq->lottery.pool.tickets;
		lotteries = rq->lottery.lotteries;
		memcpy(ops, rq->lottery.stats, sizeof(ops));
	}

	seq_printf(m, "cpu %d pool %s tasks %u tickets %llu lotteries %llu",
		   cpu, lottery_pool_ops->name, nr, tickets, lotteries);
	for (op = 0; stats && op < LOTTERY_NR_OPS; op++)
		seq_printf(m, " %s_count %llu %s_ns %llu",
			   lottery_op_names[op], ops[op].count,
			   lottery_op_names[op], ops[op].ns);
	seq_putc(m, '\n');
}

static int lottery_show(struct seq_file *m, void *unused)
{
	bool stats = static_key_enabled(&lottery_stats_enabled);
	int cpu;

	seq_printf(m, "version %d\n", LOTTERY_PROC_VERSION);
	seq_printf(m, "tick_ns %lu\n", TICK_NSEC);
	seq_printf(m, "stats %d\n", stats);
	for_each_online_cpu(cpu)
		lottery_show_cpu(m, cpu, stats);
	return 0;
}

static int __init lottery_proc_init(void)
{
	proc_create_single("sched_lottery", 0444, NULL, lottery_show);
	return 0;
}
late_initcall(lottery_proc_init);

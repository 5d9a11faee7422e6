/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long tasks of the class wait and sleep, for /proc/PID/sched and the events
 * sched_stat_*, in the same fields as fair.c does. Nothing is done unless
 * kernel.sched_schedstats is 1.
 *
 * A queued task that does not run has wait_start set, and no other one has.
 */
#ifndef _LOTTERY_WAITS_H
#define _LOTTERY_WAITS_H

#include "class.h"

static inline void lottery_wait_begins(struct rq *rq, struct task_struct *p)
{
	if (schedstat_enabled())
		__update_stats_wait_start(rq, p, &p->stats);
}

/* It began without wait_start if the switch was 0 then. */
static inline void lottery_wait_ends(struct rq *rq, struct task_struct *p)
{
	if (schedstat_enabled() && schedstat_val(p->stats.wait_start))
		__update_stats_wait_end(rq, p, &p->stats);
}

/* @p is put into the pool of @rq: it waits, unless it runs while it changes. */
static inline void lottery_waits_enqueue(struct rq *rq, struct task_struct *p, int flags)
{
	if (!schedstat_enabled())
		return;
	if (flags & ENQUEUE_WAKEUP)
		__update_stats_enqueue_sleeper(rq, p, &p->stats);
	if (!task_current(rq, p))
		__update_stats_wait_start(rq, p, &p->stats);
}

/* @p leaves the pool of @rq. The time of a wait that goes on elsewhere is kept. */
static inline void lottery_waits_dequeue(struct rq *rq, struct task_struct *p, int flags)
{
	unsigned int state;

	if (!schedstat_enabled())
		return;
	if (!task_current(rq, p))
		lottery_wait_ends(rq, p);
	if (!(flags & DEQUEUE_SLEEP))
		return;
	state = READ_ONCE(p->__state);
	if (state & TASK_INTERRUPTIBLE)
		__schedstat_set(p->stats.sleep_start, rq_clock(rq));
	if (state & TASK_UNINTERRUPTIBLE)
		__schedstat_set(p->stats.block_start, rq_clock(rq));
}

#endif /* _LOTTERY_WAITS_H */

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Turns among the threads of a core, under core scheduling.
 *
 * Threads whose tasks do not trust each other take turns: the winner of one
 * draw runs, the others are forced idle. Which one goes first is decided by
 * what each has had, in ticks over the tickets in its pool, so that every
 * pool gets its share of the core, as every task does of its pool. It is a
 * stride scheduler (Waldspurger and Weihl, 1995), since prio_less() compares
 * twice what must not change in between.
 *
 * Locking: all threads of a core share one rq lock while core scheduling is
 * enabled.
 */

#include <linux/math64.h>
#include <linux/mmu_context.h>
#include <linux/topology.h>

#include "class.h"

/* What a tick is worth to a pool with one ticket; wraps after 49 days. */
#define LOTTERY_STRIDE	BIT_ULL(32)

static bool lottery_served_less(const struct rq *a, const struct rq *b)
{
	return (s64)(a->lottery.served - b->lottery.served) < 0;
}

/**
 * lottery_core_tick() - account a tick, and end the turn of the core
 * @rq: a run queue whose lottery task runs, locked
 *
 * Return: whether another thread of the core is kept idle, so that the end of
 * a turn has to be seen by all of them.
 */
bool lottery_core_tick(struct rq *rq)
{
	if (!sched_core_enabled(rq))
		return false;

	rq->lottery.served += div64_u64(LOTTERY_STRIDE, rq->lottery.pool.tickets) ?: 1;
	return rq->core->core_forceidle_count;
}

/**
 * lottery_core_join() - a pool that was empty takes part again
 * @rq: its run queue, locked
 *
 * Time that it did not ask for is not made up for.
 */
void lottery_core_join(struct rq *rq)
{
	int cpu;

	if (!sched_core_enabled(rq))
		return;

	for_each_cpu(cpu, cpu_smt_mask(cpu_of(rq))) {
		struct rq *other = cpu_rq(cpu);

		if (other != rq && other->core == rq->core &&
		    other->lottery.pool.nr && lottery_served_less(rq, other))
			rq->lottery.served = other->lottery.served;
	}
}

/**
 * lottery_prio_less() - which of two lottery tasks waits for the other
 * @a: a task that is queued on a thread of a core
 * @b: a task that is queued on a thread of the same core, locked
 *
 * Return: whether @b goes first.
 */
bool lottery_prio_less(const struct task_struct *a, const struct task_struct *b)
{
	return lottery_served_less(task_rq(b), task_rq(a));
}

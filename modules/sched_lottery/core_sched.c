// SPDX-License-Identifier: GPL-2.0-only
/*
 * Turns among the threads of a core, under core scheduling.
 *
 * Threads whose tasks do not trust each other take turns: the winner of one draw runs, the
 * others are forced idle unless they have a task with the same cookie. The order of
 * winners follows the time of each thread: run time of its winners for each ticket in its
 * pool, so that every pool gets its share of the core, as every task does of its pool.
 * Time in which a task runs along with another thread's winner would be lost otherwise,
 * and is free: else those that run along would use up the share of the others in their
 * pool. Among the tasks of a pool that match a cookie the one with the least time for each
 * of its tickets goes first.
 *
 * Both are stride schedulers (Waldspurger and Weihl, 1995), since prio_less() compares
 * twice what must not change in between.
 *
 * Locking: all threads of a core share one rq lock while core scheduling is enabled. A
 * task's pass is its key in the core's tree: it changes only while the task is not in
 * there.
 */

#include <linux/math64.h>
#include <linux/mmu_context.h>
#include <linux/topology.h>

#include "class.h"

/* Run time for a ticket is counted in parts of a nanosecond. */
#define LOTTERY_PASS_SHIFT	20
/* How many turns in a row a thread may have the core while another waits. */
#define LOTTERY_CORE_TURNS	10

static bool lottery_less(u64 a, u64 b)
{
	return (s64)(a - b) < 0;
}

static u64 lottery_per_ticket(u64 ran, u64 tickets)
{
	return div64_u64(ran << LOTTERY_PASS_SHIFT, tickets ?: 1) ?: 1;
}

/**
 * __lottery_core_ran() - account run time
 * @rq: a run queue, locked; its pool may just have become empty
 * @p: the lottery task that ran there
 * @ran: for how long [ns], above 0
 */
void __lottery_core_ran(struct rq *rq, struct task_struct *p, u64 ran)
{
	p->lottery.core_ran += ran;
	if (!rq->lottery.along)
		rq->lottery.served += lottery_per_ticket(ran, rq->lottery.owned);
}

/*
 * Update the pass of a task that is not in the core's tree. Time that it did not ask for
 * is not made up for.
 */
void __lottery_core_pass(struct rq *rq, struct task_struct *p)
{
	u64 *pass = &p->lottery.pass;

	if (p->lottery.core_ran)
		*pass += lottery_per_ticket(p->lottery.core_ran, p->lottery.counted);
	else if (lottery_less(*pass, rq->lottery.pass))
		*pass = rq->lottery.pass;
	p->lottery.core_ran = 0;
}

/*
 * A pool that is behind, by what was before core scheduling was enabled or by a change of
 * its tickets, makes up for LOTTERY_CORE_TURNS turns only.
 */
static void lottery_core_catch_up(struct rq *rq, struct task_struct *p)
{
	u64 bound = lottery_per_ticket(LOTTERY_CORE_TURNS * lottery_quantum(p),
				       rq->lottery.owned);
	u64 *served = &rq->lottery.served;
	int cpu;

	for_each_cpu(cpu, cpu_smt_mask(cpu_of(rq))) {
		struct rq *other = cpu_rq(cpu);

		if (other->core == rq->core && other->lottery.nr &&
		    lottery_less(*served, other->lottery.served - bound))
			*served = other->lottery.served - bound;
	}
}

/**
 * lottery_core_turn_over() - end the turn of a core
 * @rq: a run queue, locked
 * @p: its running task, whose turn is over
 *
 * Return: whether another thread of the core is kept idle, so that all of them have to see
 * the end of a turn.
 */
bool lottery_core_turn_over(struct rq *rq, struct task_struct *p)
{
	if (!sched_core_enabled(rq))
		return false;

	if (sched_core_enqueued(p)) {
		sched_core_dequeue(rq, p, DEQUEUE_SAVE);
		rq->lottery.pass = p->lottery.pass;
		lottery_core_pass(rq, p);
		sched_core_enqueue(rq, p);
	}
	lottery_core_catch_up(rq, p);
	return rq->core->core_forceidle_count;
}

/*
 * A pool that was empty takes part again, at the most that any thread of the core has had,
 * with or without tasks now: a thread that was alone for long is not behind those that
 * come, and they are not behind it when it is back.
 */
void __lottery_core_join(struct rq *rq)
{
	u64 *served = &rq->lottery.served;
	int cpu;

	for_each_cpu(cpu, cpu_smt_mask(cpu_of(rq))) {
		struct rq *other = cpu_rq(cpu);

		if (other->core == rq->core &&
		    lottery_less(*served, other->lottery.served))
			*served = other->lottery.served;
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
	if (task_rq(a) == task_rq(b))
		return lottery_less(b->lottery.pass, a->lottery.pass);
	return lottery_less(task_rq(b)->lottery.served, task_rq(a)->lottery.served);
}

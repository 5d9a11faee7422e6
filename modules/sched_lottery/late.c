// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tasks that draws leave less than their due, on whichever CPU.
 *
 * One of 200 tickets, beside one of 100 that is bound to each of two CPUs, is due a CPU and
 * wins two turns of three on either. From LOTTERY_LAG_LATE on such a task has turns without
 * a draw. What those beside it lack then they have while it is elsewhere: the rotation takes
 * it there even while it runs, by the stopper of its CPU, as active balancing of the fair
 * class does.
 *
 * A task that may not run elsewhere has no such turns: all that it can have is its part of
 * one CPU.
 *
 * Locking: as in balance.c. The search is bounded by LOTTERY_SCAN.
 */

#include <linux/mmu_context.h>
#include <linux/percpu.h>
#include <linux/stop_machine.h>

#include "balance.h"

static DEFINE_PER_CPU(struct cpu_stop_work, lottery_swap_work);

/* Of some tasks that may run elsewhere, the one furthest behind its due, or NULL. */
static struct task_struct *lottery_find_late(struct rq *rq)
{
	int scan = min_t(unsigned int, LOTTERY_SCAN, rq->lottery.nr);
	struct list_head *list = &rq->lottery.migratable;
	s64 most = LOTTERY_LAG_LATE, lag;
	struct task_struct *p, *late = NULL;

	while (scan-- && !list_empty(list)) {
		p = list_first_entry(list, struct task_struct, lottery.migratable);
		/* The next scan tests others. */
		list_move_tail(&p->lottery.migratable, list);
		lag = lottery_lag(rq, p);
		if (lag >= most) {
			most = lag;
			late = p;
		}
	}
	return late;
}

/* Record whether there is a late task on @rq, beside others. It is locked. */
void lottery_look_for_late(struct rq *rq)
{
	rq->lottery.account.late = rq->lottery.nr > 1 && lottery_find_late(rq);
}

/**
 * lottery_grant() - a turn is over: give the next one without a draw
 * @rq: this CPU's run queue, locked, its clock up to date
 *
 * Under core scheduling all tasks of a core may lack the time for which it is kept idle.
 *
 * Return: the task whose turn it is from now on, or NULL for a draw: no task was late when
 * loads were compared last, or none is any more.
 */
struct task_struct *lottery_grant(struct rq *rq)
{
	struct lottery_account *a = &rq->lottery.account;
	struct task_struct *p;

	lockdep_assert_rq_held(rq);

	if (!a->late || sched_core_enabled(rq))
		return NULL;
	p = lottery_find_late(rq);
	a->late = p;
	if (!p)
		return NULL;
	lottery_begin_turn(rq, p);
	p->lottery.lag -= lottery_account_grant(a, rq->lottery.owned, lottery_quantum(p));
	return p;
}

/**
 * lottery_others_gain() - may a task go, for those beside it?
 * @src: its run queue
 * @dst: the one that it would go to; both are locked
 * @lag: what it lacks [ns]
 *
 * Return: whether those that stay lack more than those that it would meet; for a late task,
 * which they would wait for, LOTTERY_LAG_SWAP more.
 */
bool lottery_others_gain(struct rq *src, struct rq *dst, s64 lag)
{
	s64 more = lag >= (s64)LOTTERY_LAG_LATE ? LOTTERY_LAG_SWAP : 0;

	return src->lottery.account.lag - lag >= dst->lottery.account.lag + more;
}

/* On the CPU of a late task, which does not run now: hand it on to the CPU that asked for it. */
static int lottery_swap(void *to)
{
	struct rq *rq = this_rq(), *dst = to;

	raw_spin_rq_lock_irq(rq);
	rq->lottery.account.swaps = false;
	update_rq_clock(rq);
	double_lock_balance(rq, dst);
	update_rq_clock(dst);
	lottery_rotate(rq, dst);
	double_unlock_balance(rq, dst);
	raw_spin_rq_unlock_irq(rq);
	return 0;
}

/**
 * lottery_should_swap() - is the task that runs on @src late, and would others gain elsewhere?
 * @src: a run queue with lag
 * @dst: one that is ahead; both are locked
 *
 * Return: whether the caller is to start lottery_start_swap() when no run queue is locked.
 */
bool lottery_should_swap(struct rq *src, struct rq *dst)
{
	struct lottery_account *a = &src->lottery.account;
	struct task_struct *p = lottery_curr(src);
	s64 lag;

	if (!a->late || a->swaps || a->lag < (s64)LOTTERY_LAG_MOVE ||
	    dst->lottery.account.lag >= 0 || !task_on_lottery(p) ||
	    !task_on_rq_queued(p) || is_migration_disabled(p) ||
	    !cpumask_test_cpu(cpu_of(dst), p->cpus_ptr))
		return false;
	lag = lottery_lag(src, p);
	a->swaps = lag >= (s64)LOTTERY_LAG_LATE && lottery_others_gain(src, dst, lag);
	return a->swaps;
}

/* Have the stopper of @src hand its late task on to @dst. Interrupts are off. */
void lottery_start_swap(struct rq *src, struct rq *dst)
{
	int cpu = cpu_of(src);

	/* Nothing is queued on a CPU that goes down; its tasks leave it. */
	if (!stop_one_cpu_nowait(cpu, lottery_swap, dst, per_cpu_ptr(&lottery_swap_work, cpu)))
		WRITE_ONCE(src->lottery.account.swaps, false);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * The lottery scheduling class, between RT and fair.
 *
 * Waldspurger and Weihl: "Lottery Scheduling: Flexible Proportional-Share
 * Resource Management" (OSDI 1994). Each CPU draws among the tasks that are
 * queued on it: when the turn of the holder ends at a tick, and when the
 * holder stops, that is, sleeps, yields, leaves the class or the CPU. A
 * holder that a higher class preempts comes back within its turn, so that
 * picking twice without running (core scheduling does) picks the same task.
 *
 * The running task stays in the pool.
 */

#include <linux/kernel.h>
#include <linux/mmu_context.h>

#include "class.h"
#include "pelt.h"

#include "trace.h"

/**
 * init_lottery_rq() - make the lottery of a CPU empty
 * @lrq: the lottery; its pool's kind has been chosen
 */
void init_lottery_rq(struct lottery_rq *lrq)
{
	lrq->pool.tickets = 0;
	lrq->pool.nr = 0;
	lottery_pool_ops->init(&lrq->pool);
	INIT_LIST_HEAD(&lrq->migratable);
	lrq->next_balance = jiffies;
}

/* Also called when a queued task leaves under a running one of another class. */
static void update_curr_lottery(struct rq *rq)
{
	if (task_on_lottery(lottery_curr(rq)))
		update_curr_common(rq);
}

/* The clock may have to follow, as in cfs_rq_util_change(). */
static void lottery_update_load_avg(struct rq *rq, int running)
{
	if (update_lottery_rq_load_avg(rq_clock_pelt(rq), rq, running))
		cpufreq_update_util(rq, 0);
}

/*
 * Every flag is the same to us. In particular a task leaves the pool on
 * DEQUEUE_SAVE, too: the class may be another one when it is restored, even
 * with the priority unchanged, and so may the tickets.
 */
static void enqueue_task_lottery(struct rq *rq, struct task_struct *p, int flags)
{
	struct lottery_rq *lrq = &rq->lottery;
	u64 begin = lottery_stats_begin();

	p->lottery.entry.tickets = lottery_task_tickets(p);
	lottery_pool_insert(&lrq->pool, &p->lottery.entry);
	if (p->nr_cpus_allowed > 1)
		list_add_tail(&p->lottery.migratable, &lrq->migratable);
	if (lrq->pool.nr == 1) {
		lottery_set_busy(rq, true);
		lottery_core_join(rq);
	}
	add_nr_running(rq, 1);

	lottery_stats_end(lrq, LOTTERY_ENQUEUE, begin);
	trace_lottery_enqueue(rq, p);
}

static bool dequeue_task_lottery(struct rq *rq, struct task_struct *p, int flags)
{
	struct lottery_rq *lrq = &rq->lottery;
	u64 begin;

	update_curr_lottery(rq);

	begin = lottery_stats_begin();
	lottery_pool_remove(&lrq->pool, &p->lottery.entry);
	list_del_init(&p->lottery.migratable);
	if (lrq->holder == p)
		lrq->holder = NULL;
	if (!lrq->pool.nr)
		lottery_set_busy(rq, false);
	sub_nr_running(rq, 1);

	lottery_stats_end(lrq, LOTTERY_DEQUEUE, begin);
	trace_lottery_dequeue(rq, p);
	return true;
}

/* The turn is given back; the next draw is open to the yielder as well. */
static void yield_task_lottery(struct rq *rq)
{
	rq->lottery.holder = NULL;
}

/* A newcomer waits for the next draw, however many tickets it has. */
static void wakeup_preempt_lottery(struct rq *rq, struct task_struct *p, int flags)
{
}

static struct task_struct *pick_task_lottery(struct rq *rq)
{
	struct lottery_rq *lrq = &rq->lottery;

	if (!lrq->pool.nr)
		return NULL;
	if (lrq->holder) {
		SCHED_WARN_ON(!task_on_rq_queued(lrq->holder));
		return lrq->holder;
	}
	return lottery_draw(rq);
}

static void set_next_task_lottery(struct rq *rq, struct task_struct *p, bool first)
{
	struct lottery_rq *lrq = &rq->lottery;

	p->se.exec_start = rq_clock_task(rq);

	/*
	 * Who runs holds the turn. It did not win it if core scheduling chose
	 * it for its cookie, or if it is back after a change of its tickets.
	 * It is not queued if it has just blocked, and its parameters change
	 * while balancing has dropped the rq lock: then it must not be picked.
	 */
	if (lrq->holder != p && task_on_rq_queued(p)) {
		lrq->holder = p;
		lrq->ticks_left = lottery_quantum_ticks(p);
	}

	if (first && !task_on_lottery(lottery_curr(rq)))
		lottery_update_load_avg(rq, 0);
}

static void put_prev_task_lottery(struct rq *rq, struct task_struct *p,
				  struct task_struct *next)
{
	update_curr_lottery(rq);
	lottery_update_load_avg(rq, 1);

	/* Whoever had the CPU need not wait behind a real-time task. */
	if (next && (next->sched_class == &rt_sched_class ||
		     next->sched_class == &dl_sched_class))
		lottery_queue_push(rq);
}

static void task_tick_lottery(struct rq *rq, struct task_struct *p, int queued)
{
	struct lottery_rq *lrq = &rq->lottery;
	bool core_waits;

	update_curr_lottery(rq);

	/* An hrtick ends no turn: turns are made of ticks. */
	if (queued)
		return;

	lottery_update_load_avg(rq, 1);
	core_waits = lottery_core_tick(rq);
	if (--lrq->ticks_left)
		return;

	lrq->ticks_left = lottery_quantum_ticks(p);
	if (lrq->pool.nr > 1 || core_waits) {
		lrq->holder = NULL;
		resched_curr(rq);
	}
}

static void switched_to_lottery(struct rq *rq, struct task_struct *p)
{
	if (task_current(rq, p)) {
		/* Its old class no longer counts it as running, ours does. */
		lottery_update_load_avg(rq, 0);
		/* It may have been above tasks that now come first. */
		resched_curr(rq);
	} else if (task_on_rq_queued(p)) {
		wakeup_preempt(rq, p, 0);
	}
}

/* Nice values are tickets, and tickets matter in the next draw. */
static void prio_changed_lottery(struct rq *rq, struct task_struct *p, int oldprio)
{
}

static unsigned int get_rr_interval_lottery(struct rq *rq, struct task_struct *p)
{
	return lottery_quantum_ticks(p);
}

#ifdef CONFIG_SMP
/*
 * Without it, prev_balance() would go on to the fair class, whose newidle
 * balancing drops the rq lock under a CPU that has lottery work.
 */
static int balance_lottery(struct rq *rq, struct task_struct *prev, struct rq_flags *rf)
{
	lottery_balance(rq, rf);

	return sched_stop_runnable(rq) || sched_dl_runnable(rq) ||
	       sched_rt_runnable(rq) || rq->lottery.pool.nr;
}
#endif

DEFINE_SCHED_CLASS(lottery) = {
	.enqueue_task		= enqueue_task_lottery,
	.dequeue_task		= dequeue_task_lottery,
	.yield_task		= yield_task_lottery,

	.wakeup_preempt		= wakeup_preempt_lottery,

	.pick_task		= pick_task_lottery,
	.put_prev_task		= put_prev_task_lottery,
	.set_next_task		= set_next_task_lottery,

#ifdef CONFIG_SMP
	.balance		= balance_lottery,
	.select_task_rq		= select_task_rq_lottery,
	.set_cpus_allowed	= set_cpus_allowed_common,
#endif

	.task_tick		= task_tick_lottery,

	.get_rr_interval	= get_rr_interval_lottery,

	.prio_changed		= prio_changed_lottery,
	.switched_to		= switched_to_lottery,
	.update_curr		= update_curr_lottery,

#ifdef CONFIG_UCLAMP_TASK
	.uclamp_enabled		= 1,
#endif
};

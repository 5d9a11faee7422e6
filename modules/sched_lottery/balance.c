// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which CPU's lottery a task takes part in.
 *
 * Draws are per CPU, so tickets buy the same everywhere only as far as the
 * CPUs hold the same sum of tickets. Tasks are placed by those sums when they
 * wake, fork and exec; sums that have drifted apart are evened out
 *  - by a CPU that runs lottery tasks, every LOTTERY_BALANCE_MS: it pushes to
 *    the least loaded CPU and pulls from the most loaded one. The push is
 *    what reaches a CPU that is idle or runs fair tasks: such a CPU takes a
 *    fast path in __pick_next_task() that asks nobody;
 *  - by a CPU whose last lottery task stopped: it pulls;
 *  - by a CPU on which a real-time task takes over: it pushes one task to a
 *    CPU where that runs at once. If real-time tasks keep the CPU, its
 *    capacity falls, and the others pull from it as from a loaded one.
 *
 * A move is done only if it leaves the fuller of the two CPUs less loaded
 * than it was, so that the sum of the squares of the loads falls with every
 * move and no task goes to and fro.
 *
 * Locking: sums of other CPUs are read without their lock and only choose
 * whom to ask. What is decided is decided with both rq locks held. The work
 * under them is bounded by LOTTERY_MOVES and LOTTERY_SCAN.
 */

#include <linux/cpumask.h>
#include <linux/jiffies.h>
#include <linux/mmu_context.h>
#include <linux/rcupdate.h>

#include "class.h"
#include "pelt.h"

/* How often a CPU with lottery tasks compares ticket sums [ms]. */
#define LOTTERY_BALANCE_MS	4
/* Tasks that one balancing may move; the rest waits for the next one. */
#define LOTTERY_MOVES		8
/* Tasks that are looked at to find one to move. */
#define LOTTERY_SCAN		16
/* Above the load of any CPU that a waking task need not wait on. */
#define LOTTERY_LOAD_RT		BIT_ULL(60)

static DEFINE_PER_CPU(struct balance_callback, lottery_push_head);

/*
 * The CPUs with lottery tasks: where a pull has to look, and a reason not to
 * look at all where nobody uses the class. Each bit is changed under the lock
 * of its rq and read without it.
 */
static struct cpumask lottery_busy_mask;

/*
 * The load of @rq if it had @tickets: tickets for each unit of the capacity
 * that RT and DL leave. Up to 2^42 tickets, a capacity of at least 1.
 */
static u64 lottery_load(struct rq *rq, u64 tickets)
{
	unsigned long used = cpu_util_rt(rq) + cpu_util_dl(rq);

	if (!used)
		return tickets;
	return div64_ul(tickets << SCHED_CAPACITY_SHIFT,
			used < SCHED_CAPACITY_SCALE ?
			SCHED_CAPACITY_SCALE - used : 1);
}

static u64 lottery_load_now(struct rq *rq)
{
	return lottery_load(rq, READ_ONCE(rq->lottery.pool.tickets));
}

/* Does a real-time task run on @rq? To be called under RCU. */
static bool lottery_rt_runs(struct rq *rq)
{
	return rt_or_dl_prio(lottery_curr(rq)->prio);
}

/**
 * select_task_rq_lottery() - where a task that wakes, forks or execs goes
 * @p: the task, with its pi_lock held; it is not queued, unless it execs
 * @cpu: where it was
 * @flags: WF_*
 *
 * Return: @cpu, unless another CPU has a load that is lower by more than an
 * eighth of the task's own tickets: less is not worth a cold cache. A CPU
 * that runs a real-time task comes last.
 */
int select_task_rq_lottery(struct task_struct *p, int cpu, int flags)
{
	u64 own = lottery_task_tickets(p), best_load = U64_MAX, load;
	int best = cpu, i;

	guard(rcu)();

	for_each_cpu_and(i, p->cpus_ptr, cpu_active_mask) {
		struct rq *rq = cpu_rq(i);

		load = lottery_load_now(rq);
		if (i == cpu) {
			/* In favour of staying; at an exec it is in the sum. */
			own = flags & WF_EXEC ? own : own / 8;
			load -= min(load, own);
		}
		if (lottery_rt_runs(rq) && lottery_curr(rq) != p)
			load += LOTTERY_LOAD_RT;
		if (load < best_load) {
			best_load = load;
			best = i;
		}
	}

	return best;
}

static bool lottery_can_move(struct rq *src, struct task_struct *p, int cpu)
{
	return !task_on_cpu(src, p) && !task_current(src, p) &&
	       !is_migration_disabled(p) &&
	       cpumask_test_cpu(cpu, p->cpus_ptr);
}

/*
 * Of the first LOTTERY_SCAN tasks of @src, the one that brings the loads of
 * @src and @dst closest together, or NULL if none does. Both are locked. What
 * was looked at goes to the end of the list, so that the next scan looks at
 * others.
 */
static struct task_struct *lottery_find_move(struct rq *src, struct rq *dst)
{
	u64 load = lottery_load_now(src), best_gap = U64_MAX;
	struct list_head *list = &src->lottery.migratable;
	struct task_struct *p, *best = NULL;
	int scan = LOTTERY_SCAN;
	u64 from, to, gap;

	scan = min_t(unsigned int, scan, src->lottery.pool.nr);
	while (scan-- && !list_empty(list)) {
		p = list_first_entry(list, struct task_struct, lottery.migratable);
		list_move_tail(&p->lottery.migratable, list);
		if (!lottery_can_move(src, p, cpu_of(dst)))
			continue;

		to = lottery_load(dst, dst->lottery.pool.tickets +
				  p->lottery.entry.tickets);
		if (to >= load)
			continue;
		from = lottery_load(src, src->lottery.pool.tickets -
				    p->lottery.entry.tickets);
		gap = from > to ? from - to : to - from;
		if (gap < best_gap) {
			best_gap = gap;
			best = p;
		}
	}

	return best;
}

/* Move up to @moves tasks while that evens the two out. Both are locked. */
static void lottery_move(struct rq *src, struct rq *dst, int moves)
{
	struct task_struct *p;

	/* A CPU that goes down keeps its own until it is drained. */
	if (!cpu_active(cpu_of(dst)))
		return;

	while (moves--) {
		p = lottery_find_move(src, dst);
		if (!p)
			break;
		deactivate_task(src, p, 0);
		set_task_cpu(p, cpu_of(dst));
		activate_task(dst, p, 0);
		wakeup_preempt(dst, p, 0);
	}
}

/* The most loaded CPU with a task that waits, if it is fuller than @rq. */
static struct rq *lottery_find_fullest(struct rq *rq)
{
	u64 best_load = lottery_load_now(rq), load;
	struct rq *best = NULL, *other;
	int cpu;

	guard(rcu)();

	for_each_cpu_and(cpu, rq->rd->span, &lottery_busy_mask) {
		other = cpu_rq(cpu);
		if (other == rq || READ_ONCE(other->lottery.pool.nr) <=
		    task_on_lottery(lottery_curr(other)))
			continue;
		load = lottery_load_now(other);
		if (load > best_load) {
			best_load = load;
			best = other;
		}
	}

	return best;
}

/* The least loaded CPU, if it is emptier than @rq. */
static struct rq *lottery_find_emptiest(struct rq *rq)
{
	u64 best_load = lottery_load_now(rq), load;
	struct rq *best = NULL;
	int cpu;

	for_each_cpu_and(cpu, rq->rd->span, cpu_active_mask) {
		load = lottery_load_now(cpu_rq(cpu));
		if (load < best_load) {
			best_load = load;
			best = cpu_rq(cpu);
		}
	}

	return best;
}

/* Called with @rq locked; the lock may be dropped and taken again. */
static void lottery_pull(struct rq *rq)
{
	struct rq *src = lottery_find_fullest(rq);

	if (!src)
		return;

	double_lock_balance(rq, src);
	lottery_move(src, rq, LOTTERY_MOVES);
	double_unlock_balance(rq, src);
}

/* Called with @rq locked; the lock may be dropped and taken again. */
static void lottery_push(struct rq *rq)
{
	struct rq *dst = lottery_find_emptiest(rq);

	if (!dst)
		return;

	double_lock_balance(rq, dst);
	lottery_move(rq, dst, LOTTERY_MOVES);
	double_unlock_balance(rq, dst);
}

/**
 * lottery_balance() - even out ticket sums before a task is picked
 * @rq: this CPU's run queue, locked and pinned
 * @rf: its pin
 *
 * As in balance_rt(), the lock can be dropped: the running task is still
 * on_cpu, so nobody moves it, and nothing has been picked yet.
 */
void lottery_balance(struct rq *rq, struct rq_flags *rf)
{
	struct lottery_rq *lrq = &rq->lottery;
	bool empty = !lrq->pool.nr;

	if (!cpu_active(cpu_of(rq)) || cpumask_empty(&lottery_busy_mask))
		return;
	if (!empty && time_before(jiffies, lrq->next_balance))
		return;

	lrq->next_balance = jiffies + msecs_to_jiffies(LOTTERY_BALANCE_MS);
	rq_unpin_lock(rq, rf);
	if (!empty && !list_empty(&lrq->migratable))
		lottery_push(rq);
	lottery_pull(rq);
	rq_repin_lock(rq, rf);
}

/* Called with @rq locked; the lock may be dropped and taken again. */
static void lottery_push_one(struct rq *rq)
{
	struct rq *dst = NULL;
	int cpu;

	scoped_guard(rcu) {
		for_each_cpu_and(cpu, rq->rd->span, cpu_active_mask) {
			if (!READ_ONCE(cpu_rq(cpu)->lottery.pool.nr) &&
			    !lottery_rt_runs(cpu_rq(cpu))) {
				dst = cpu_rq(cpu);
				break;
			}
		}
	}
	if (!dst)
		return;

	double_lock_balance(rq, dst);
	if (!dst->lottery.pool.nr)
		lottery_move(rq, dst, 1);
	double_unlock_balance(rq, dst);
}

/**
 * lottery_queue_push() - push a task once the switch to a higher class is done
 * @rq: this CPU's run queue, locked
 */
void lottery_queue_push(struct rq *rq)
{
	if (!list_empty(&rq->lottery.migratable))
		queue_balance_callback(rq, this_cpu_ptr(&lottery_push_head),
				       lottery_push_one);
}

/**
 * lottery_set_busy() - note that a CPU's pool is empty no more, or again
 * @rq: its run queue, locked
 * @busy: whether it has lottery tasks
 */
void lottery_set_busy(struct rq *rq, bool busy)
{
	cpumask_assign_cpu(cpu_of(rq), &lottery_busy_mask, busy);
}

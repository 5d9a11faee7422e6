// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which CPU's lottery a task takes part in.
 *
 * Draws are per CPU, so tickets buy the same everywhere only if the CPUs hold the same sum
 * of tickets. The due of a task is its water-filled share of all CPUs: a task whose
 * tickets are worth more than a CPU has one CPU, the rest share the remainder the same way
 * (Chandra, Adler, Goyal and Shenoy: "Surplus Fair Scheduling", OSDI 2000). The class
 * approaches that in three ways:
 * - placement: a task that wakes, forks or execs goes to an idle CPU, or to the one with the
 *   smallest load;
 * - moves that even out loads, that is, tickets for each unit of the capacity that RT and DL
 *   leave: at a tick, by a CPU with lottery tasks, which pulls from a fuller one and pushes
 *   to one that is free or has no ticks; by a CPU that goes idle or has lost its last
 *   lottery task, which pulls a waiting one; and by a CPU on which a real-time task takes
 *   over, which pushes to an idle one;
 * - rotation: where loads cannot be even (three equal tasks on two CPUs), the lag of each
 *   task is known, and a CPU whose tasks are ahead of their due takes one from a CPU whose
 *   tasks are behind. Where draws leave a task less than its due on each of its CPUs, see
 *   late.c.
 *
 * Moves are bounded. One that evens out loads leaves the fuller of the two CPUs less
 * loaded than it was, so that the sum of the squares of the loads falls. A rotation needs
 * LOTTERY_LAG_MOVE of lag, which takes that long to arise.
 *
 * Locking: loads of other CPUs are read without their lock and only choose candidates;
 * only this work grows with the number of CPUs. Decisions are made with both rq locks
 * held. The work under them is bounded by LOTTERY_MOVES and LOTTERY_SCAN.
 */

#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/jiffies.h>
#include <linux/math64.h>
#include <linux/mmu_context.h>
#include <linux/rcupdate.h>

#include "balance.h"
#include "pelt.h"

/* How often a CPU with lottery tasks compares loads [ms]. */
#define LOTTERY_BALANCE_MS	4
/* Tasks that one balancing may move; the others wait for the next one. */
#define LOTTERY_MOVES		8
/* Loads are even if they differ by less than one part of these. */
#define LOTTERY_SLACK		32
/* CPUs that one balancing tries to take a task from. */
#define LOTTERY_ASKS		3
/* CPUs that a waking task tests. */
#define LOTTERY_LOOK		16
/* Above the load of any CPU that a waking task has no need to wait on. */
#define LOTTERY_LOAD_RT		BIT_ULL(63)

static DEFINE_PER_CPU(struct balance_callback, lottery_push_head);
static DEFINE_PER_CPU(struct balance_callback, lottery_pull_head);

/* How many CPUs are in lottery_waiting. */
static atomic_t lottery_nr_waiting;

/* The CPUs near @cpu that a waking task tests; all of them for others. */
static const struct cpumask *lottery_near(int cpu, int flags)
{
	struct sched_domain *sd = NULL;

	if (flags & WF_TTWU)
		sd = rcu_dereference(per_cpu(sd_llc, cpu));
	return sd && sd->span_weight > 1 ? sched_domain_span(sd) :
					   cpu_rq(cpu)->rd->span;
}

/* The load that @p would meet on @rq; @here if it was there. */
static u64 lottery_wait_on(struct rq *rq, struct task_struct *p, bool here, int flags)
{
	u64 own = (u64)lottery_likely_worth(p) << LOTTERY_LOAD_SHIFT;
	u64 load = lottery_load_now(rq);

	/* To favour staying; at an exec its tickets are in the sum. */
	if (here) {
		own = flags & WF_EXEC ? own : own / 8;
		load -= min(load, own);
	}
	if (lottery_rt_runs(rq) && lottery_curr(rq) != p)
		load += LOTTERY_LOAD_RT;
	return load;
}

/**
 * select_task_rq_lottery() - the CPU for a task that wakes, forks or execs
 * @p: the task, with its pi_lock held; it is not queued, unless it execs
 * @cpu: its last CPU
 * @flags: WF_*
 *
 * Return: @cpu if that is idle, else an idle CPU, else the one with the smallest load
 * among LOTTERY_LOOK CPUs from @cpu on. That has to be lower by more than an eighth of the
 * task's own tickets: less is not worth a cold cache. A CPU that runs a real-time task
 * comes last.
 */
int select_task_rq_lottery(struct task_struct *p, int cpu, int flags)
{
	int best = cpu, look = LOTTERY_LOOK, i;
	u64 best_load = U64_MAX, load;

	guard(rcu)();

	/* Alone where it runs, it gains nothing elsewhere. */
	if ((flags & WF_EXEC) && READ_ONCE(cpu_rq(cpu)->lottery.nr) == 1)
		return cpu;

	for_each_cpu_wrap(i, lottery_near(cpu, flags), cpu) {
		if (!cpumask_test_cpu(i, p->cpus_ptr) || !cpu_active(i))
			continue;
		if (available_idle_cpu(i) && lottery_is_free(cpu_rq(i)))
			return i;

		load = lottery_wait_on(cpu_rq(i), p, i == cpu, flags);
		if (load < best_load) {
			best_load = load;
			best = i;
		}
		if (!--look)
			break;
	}

	return best;
}

static bool lottery_can_move(struct rq *src, struct task_struct *p, int cpu)
{
	return !task_on_cpu(src, p) && !task_current(src, p) &&
	       !is_migration_disabled(p) &&
	       cpumask_test_cpu(cpu, p->cpus_ptr);
}

/* The next task of @src that may go to @dst; @scan counts the tasks tested. */
static struct task_struct *lottery_next_move(struct rq *src, struct rq *dst, int *scan)
{
	struct list_head *list = &src->lottery.migratable;
	struct task_struct *p;

	while ((*scan)-- > 0 && !list_empty(list)) {
		p = list_first_entry(list, struct task_struct, lottery.migratable);
		/* The next scan tests others. */
		list_move_tail(&p->lottery.migratable, list);
		if (lottery_can_move(src, p, cpu_of(dst)))
			return p;
	}
	return NULL;
}

/*
 * Of some tasks of @src, the one that brings the loads closest together and the larger of
 * them down, by more than the usual changes of capacities, or NULL. A task behind a
 * real-time one may always go to a CPU without lottery tasks. Both are locked.
 */
static struct task_struct *lottery_find_evening(struct rq *src, struct rq *dst)
{
	bool anyhow = lottery_rt_runs(src) && lottery_is_free(dst);
	u64 load = lottery_load_now(src), best_gap = U64_MAX;
	int scan = min_t(unsigned int, LOTTERY_SCAN, src->lottery.nr);
	struct task_struct *p, *best = NULL;
	u64 from, to, gap;

	while ((p = lottery_next_move(src, dst, &scan))) {
		to = lottery_load(dst, dst->lottery.owned + p->lottery.counted);
		if (to >= load - load / LOTTERY_SLACK && !anyhow)
			continue;
		from = lottery_load(src, src->lottery.owned - p->lottery.counted);
		gap = from > to ? from - to : to - from;
		if (gap < best_gap) {
			best_gap = gap;
			best = p;
		}
	}

	return best;
}

/*
 * Of some tasks of @src, the one whose move exchanges the loads best; of those that do so
 * about as well, the one with the least lag: those with more have what it leaves. The load
 * of @dst may become a quarter more than that of @src was. Both are locked.
 */
static struct task_struct *lottery_find_rotation(struct rq *src, struct rq *dst)
{
	int scan = min_t(unsigned int, LOTTERY_SCAN, src->lottery.nr);
	u64 load = lottery_load_now(src), best_gap = U64_MAX;
	struct task_struct *p, *best = NULL;
	s64 lag, best_lag = S64_MAX;
	u64 from, to, gap;

	if (src->lottery.account.lag < (s64)LOTTERY_LAG_MOVE ||
	    dst->lottery.account.lag >= 0)
		return NULL;

	while ((p = lottery_next_move(src, dst, &scan))) {
		to = lottery_load(dst, dst->lottery.owned + p->lottery.counted);
		from = lottery_load(src, src->lottery.owned - p->lottery.counted);
		if (to > load + load / 4 || to < from)
			continue;
		/* Gaps that differ by less than this are the same. */
		gap = div64_u64(to - from, load / LOTTERY_SLACK + 1);
		lag = lottery_lag(src, p);
		if (!lottery_others_gain(src, dst, lag))
			continue;
		if (gap < best_gap || (gap == best_gap && lag < best_lag)) {
			best_gap = gap;
			best_lag = lag;
			best = p;
		}
	}

	return best;
}

static void lottery_move_task(struct rq *src, struct rq *dst, struct task_struct *p)
{
	deactivate_task(src, p, 0);
	set_task_cpu(p, cpu_of(dst));
	activate_task(dst, p, 0);
	wakeup_preempt(dst, p, 0);
}

/* Move tasks while that evens the two out. Returns how many. Both are locked. */
static int lottery_even_out(struct rq *src, struct rq *dst, int moves)
{
	struct task_struct *p;
	int moved;

	/* A CPU that goes down keeps its own until it is drained. */
	if (!cpu_active(cpu_of(dst)))
		return 0;

	for (moved = 0; moved < moves; moved++) {
		p = lottery_find_evening(src, dst);
		if (!p)
			break;
		lottery_move_task(src, dst, p);
	}
	return moved;
}

/* Hand a task on from @src to @dst if both have what they lack by that. Both are locked. */
void lottery_rotate(struct rq *src, struct rq *dst)
{
	struct task_struct *p = NULL;

	if (cpu_active(cpu_of(dst)))
		p = lottery_find_rotation(src, dst);
	if (!p)
		return;

	lottery_move_task(src, dst, p);
	dst->lottery.account.late |= src->lottery.account.late;
	/* Their lag is updated at the next tick. */
	src->lottery.account.lag = 0;
	dst->lottery.account.lag = 0;
}

/*
 * The most loaded CPU with a waiting task, of those that are fuller than @rq and have a
 * load below @below, or NULL.
 */
static struct rq *lottery_find_fullest(struct rq *rq, u64 below)
{
	u64 best_load = lottery_load_now(rq), load;
	struct rq *best = NULL, *other;
	int cpu;

	for_each_cpu_and(cpu, rq->rd->span, &lottery_waiting) {
		other = cpu_rq(cpu);
		if (other == rq || !lottery_nr_waits(other))
			continue;
		load = lottery_load_now(other);
		if (load > best_load && load < below) {
			best_load = load;
			best = other;
		}
	}

	return best;
}

/*
 * Pull from the fullest CPU, or from the next if none of its tasks may come here. Called
 * with @rq locked; the lock may be dropped and taken again.
 */
static int lottery_pull(struct rq *rq)
{
	u64 below = U64_MAX;
	int asks = LOTTERY_ASKS, moved = 0;
	struct rq *src;

	while (!moved && asks--) {
		scoped_guard(rcu) {
			src = lottery_find_fullest(rq, below);
			below = src ? lottery_load_now(src) : 0;
		}
		if (!src)
			break;
		double_lock_balance(rq, src);
		moved = lottery_even_out(src, rq, LOTTERY_MOVES);
		double_unlock_balance(rq, src);
	}

	if (!moved)
		rq->lottery.next_pull = jiffies + 1;
	return moved;
}

/* Record whether tasks wait on @rq that may move. It is locked. */
static void lottery_set_waiting(struct rq *rq, bool waits)
{
	int cpu = cpu_of(rq);

	if (waits == cpumask_test_cpu(cpu, &lottery_waiting))
		return;
	if (waits) {
		cpumask_set_cpu(cpu, &lottery_waiting);
		atomic_inc(&lottery_nr_waiting);
	} else {
		cpumask_clear_cpu(cpu, &lottery_waiting);
		atomic_dec(&lottery_nr_waiting);
	}
}

static bool lottery_should_pull(struct rq *rq)
{
	return atomic_read(&lottery_nr_waiting) && !rq->lottery.pool.nr &&
	       cpu_active(cpu_of(rq)) &&
	       time_after_eq(jiffies, rq->lottery.next_pull);
}

/**
 * lottery_balance() - pull before a task is picked if no lottery task is left
 * @rq: this CPU's run queue, locked and pinned
 * @rf: its pin
 *
 * As in balance_rt(), the lock can be dropped: the running task is still on_cpu, so it is
 * not moved, and nothing has been picked yet.
 */
void lottery_balance(struct rq *rq, struct rq_flags *rf)
{
	if (!lottery_should_pull(rq))
		return;

	rq_unpin_lock(rq, rf);
	lottery_pull(rq);
	rq_repin_lock(rq, rf);
}

static void lottery_pull_idle(struct rq *rq)
{
	if (lottery_should_pull(rq))
		lottery_pull(rq);
}

/**
 * lottery_idle() - a CPU goes idle: pull once the switch is done
 * @rq: this CPU's run queue, locked
 *
 * The fair class has a fast path to idle that tries no other class.
 */
void lottery_idle(struct rq *rq)
{
	if (lottery_should_pull(rq))
		queue_balance_callback(rq, this_cpu_ptr(&lottery_pull_head),
				       lottery_pull_idle);
}

/*
 * An idle CPU where a task of @rq may run at once, else one that runs fair tasks; each CPU
 * begins with the next one, so that they find different ones.
 */
static struct rq *lottery_find_free(struct rq *rq)
{
	struct rq *best = NULL;
	int cpu;

	for_each_cpu_wrap(cpu, rq->rd->span, cpu_of(rq)) {
		if (!cpu_active(cpu) || !lottery_is_free(cpu_rq(cpu)))
			continue;
		best = cpu_rq(cpu);
		if (available_idle_cpu(cpu))
			break;
	}

	return best;
}

/* Called with @rq locked; the lock may be dropped and taken again. */
static int lottery_push_free(struct rq *rq, int moves)
{
	struct rq *dst;
	int moved = 0;

	scoped_guard(rcu)
		dst = lottery_find_free(rq);
	if (!dst)
		return 0;

	double_lock_balance(rq, dst);
	if (lottery_is_free(dst))
		moved = lottery_even_out(rq, dst, moves);
	double_unlock_balance(rq, dst);
	return moved;
}

static void lottery_push_displaced(struct rq *rq)
{
	lottery_push_free(rq, 1);
}

/* A real-time task takes the CPU: push when it is switched to. */
void lottery_displaced(struct rq *rq)
{
	if (list_empty(&rq->lottery.migratable))
		return;

	lottery_set_waiting(rq, true);
	queue_balance_callback(rq, this_cpu_ptr(&lottery_push_head),
			       lottery_push_displaced);
}

/* A CPU has lost its last lottery task. */
void lottery_emptied(struct rq *rq)
{
	lottery_set_waiting(rq, false);
}

/* Account a tick, and record waiting tasks; the rq is locked, its clock up to date. */
void lottery_account_tick(struct rq *rq)
{
	struct lottery_rq *lrq = &rq->lottery;
	struct lottery_account *a = &lrq->account;

	if (!lrq->pool.nr)
		return;

	WRITE_ONCE(a->blocked, lottery_rt_runs(rq) && !a->ran ? a->blocked + 1 : 0);
	lottery_account_fold(a, lrq->owned, max(lrq->nr, 1U), rq_clock_task(rq));
	lottery_set_waiting(rq, lottery_nr_waits(rq) && !list_empty(&lrq->migratable));
}

static void lottery_account_survey(struct rq *rq, const struct lottery_survey *s)
{
	struct lottery_account *a = &rq->lottery.account;

	a->average = s->average;
	a->behind -= s->drift / LOTTERY_DRIFT_PART;
	lottery_look_for_late(rq);
}

/*
 * Called with @rq locked; the lock may be dropped and taken again. Returns whether the stopper
 * of @src is to hand on what runs there.
 */
static bool lottery_rotate_from(struct rq *rq, struct rq *src)
{
	bool swap;

	if (!src || rq->lottery.account.lag >= 0)
		return false;

	double_lock_balance(rq, src);
	lottery_rotate(src, rq);
	swap = lottery_should_swap(src, rq);
	double_unlock_balance(rq, src);
	return swap;
}

/*
 * Do for the CPU without ticks what it would do at one: take from a fuller CPU, or from one
 * whose tasks are behind. Called with @rq locked; the lock may be dropped and taken again.
 */
static int lottery_push_tickless(struct rq *rq, const struct lottery_survey *s)
{
	struct rq *dst = s->tickless;
	int moved;

	double_lock_balance(rq, dst);
	update_rq_clock(dst);
	lottery_sched_class.update_curr(dst);
	lottery_account_survey(dst, s);
	lottery_account_tick(dst);
	moved = lottery_even_out(rq, dst, LOTTERY_MOVES);
	if (!moved)
		lottery_rotate(rq, dst);
	double_unlock_balance(rq, dst);
	return moved;
}

/* Compare this CPU with the others, every few ticks; the rq is not locked, interrupts are off. */
void lottery_tick_balance(struct rq *rq)
{
	struct lottery_rq *lrq = &rq->lottery;
	struct lottery_survey survey;
	struct rq_flags rf;
	bool swap = false;
	int moved = 0;

	if (!READ_ONCE(lrq->pool.nr) || time_before(jiffies, lrq->next_balance) ||
	    !cpu_active(cpu_of(rq)))
		return;

	lrq->next_balance = jiffies + msecs_to_jiffies(LOTTERY_BALANCE_MS);
	scoped_guard(rcu)
		lottery_look_around(rq, &survey);

	rq_lock(rq, &rf);
	update_rq_clock(rq);
	lottery_account_survey(rq, &survey);
	rq_unpin_lock(rq, &rf);
	if (lottery_nr_waits(rq)) {
		moved = lottery_push_free(rq, LOTTERY_MOVES);
		if (!moved && survey.tickless)
			moved = lottery_push_tickless(rq, &survey);
	}
	if (!moved && !lottery_rt_runs(rq) && !lottery_pull(rq))
		swap = lottery_rotate_from(rq, survey.behind);
	rq_repin_lock(rq, &rf);
	rq_unlock(rq, &rf);

	if (swap)
		lottery_start_swap(survey.behind, rq);
}

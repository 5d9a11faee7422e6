/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of the class share, to be included after struct rq is known. */
#ifndef _SCHED_LOTTERY_CLASS_H
#define _SCHED_LOTTERY_CLASS_H

#include <linux/cpumask.h>
#include <linux/mmu_context.h>
#include <linux/rcupdate.h>

#include "sched.h"

#include "compat.h"
#include "currency.h"

/* The turn of a task without a quantum of its own [ns]. */
#define LOTTERY_QUANTUM_DEFAULT	TICK_NSEC
/*
 * Pools hold parts of tickets, so that a task with one ticket can be compensated,
 * too: what is rounded is half a part.
 */
#define LOTTERY_PART_SHIFT	6
/* A task that used less of its turn than one part of these is taken for one part. */
#define LOTTERY_COMPENSATION_MAX 100

/* The owner of an entry: it has, or shares, what the entry's tickets win. */
enum lottery_kind {
	LOTTERY_TASK,
	LOTTERY_LOAN,
	LOTTERY_CURRENCY,
};

/**
 * lottery_curr() - the running task of a CPU
 * @rq: its run queue, locked, or else the caller is in an RCU section and takes the
 *	answer for a hint
 */
static inline struct task_struct *lottery_curr(const struct rq *rq)
{
	return rcu_dereference_raw(rq->curr);
}

/**
 * lottery_task_tickets() - the tickets that @p owns
 * @p: a task; its nice value, tickets and currency do not change meanwhile
 *
 * Return: its tickets, or else the weight of its nice value, so that the proportions are
 * those of SCHED_OTHER (1024 for nice 0). Tickets from within a currency count no more
 * than that in the base currency, where more take a privilege.
 */
static inline unsigned int lottery_task_tickets(const struct task_struct *p)
{
	unsigned int tickets = p->lottery.tickets;

	if (!tickets)
		return sched_prio_to_weight[p->static_prio - MAX_RT_PRIO];
	if (static_branch_unlikely(&lottery_currencies) && p->lottery.inner &&
	    !__lottery_currency_of(p))
		return min_t(unsigned int, tickets,
			     sched_prio_to_weight[p->static_prio - MAX_RT_PRIO]);
	return tickets;
}

/**
 * lottery_likely_worth() - what the tickets of a task will be worth
 * @p: the task, as for lottery_task_tickets()
 *
 * Return: in the base currency its tickets; in another one their last worth.
 */
static inline unsigned int lottery_likely_worth(const struct task_struct *p)
{
	return (p->lottery.crq ? p->lottery.counted : 0) ?: lottery_task_tickets(p);
}

/* How long a turn of a lottery task lasts: run time [ns], at least LOTTERY_QUANTUM_MIN. */
static inline u64 lottery_quantum(const struct task_struct *p)
{
	return p->lottery.quantum ?: LOTTERY_QUANTUM_DEFAULT;
}

/**
 * lottery_turn_over() - would a turn end at a tick now?
 * @p: the task whose turn it is
 *
 * A turn that has begun ends at the tick that is closest to its end. One that has not
 * begun is not over, however short: two picks without run time in between must give the
 * same task.
 */
static inline bool lottery_turn_over(const struct task_struct *p)
{
	s64 left = p->lottery.turn_left;

	return left <= 0 ||
	       (left <= TICK_NSEC / 2 &&
		p->se.sum_exec_runtime != p->se.prev_sum_exec_runtime);
}

/**
 * lottery_new_turn() - the length of a turn that begins
 * @p: the task that has won
 *
 * A tick ends a turn up to half of one too early or too late: the next turn is longer or
 * shorter by as much. So a task that begins its turns in the midst of ticks gains nothing.
 */
static inline void lottery_new_turn(struct task_struct *p)
{
	const s64 most = TICK_NSEC / 2;
	s64 rest = p->lottery.turn_left;

	/* A turn that was given up has another rest. */
	rest = rest > most ? 0 : max(rest, -most);
	p->lottery.turn_left = max_t(s64, lottery_quantum(p) + rest, 1);
	p->se.prev_sum_exec_runtime = p->se.sum_exec_runtime;
}

/**
 * lottery_compensated() - the parts of tickets that a task takes part with
 * @owned: its tickets
 * @quantum: what it could have run [ns]
 * @used: its run time in its last turn, which it ended early [ns], 0 for all
 *
 * With a fraction f of its quantum used it takes part with 1/f times its tickets, up to
 * LOTTERY_COMPENSATION_MAX times (Waldspurger and Weihl 1994, section 3.4).
 *
 * Return: up to 2^33; the product below up to 2^56.
 */
static inline u64 lottery_compensated(unsigned int owned, u64 quantum, u64 used)
{
	u64 parts = (u64)owned << LOTTERY_PART_SHIFT;

	if (!used || used >= quantum)
		return parts;
	used = max(used, div_u64(quantum, LOTTERY_COMPENSATION_MAX) + 1);
	return div64_u64(parts * quantum + used / 2, used);
}

/* class.c */
void lottery_begin_turn(struct rq *rq, struct task_struct *p);

/*
 * The run time of the class for each of fair tasks while these wait. It is a little more
 * than the 5 % of the deadline server, which then has nothing to do.
 */
#define LOTTERY_FAIR_PART	17

/* The class has run for @ran. */
static inline void lottery_fair_waits(struct lottery_rq *lrq, s64 ran)
{
	lrq->fair_wait = max(lrq->fair_wait - ran, 0LL);
}

/* Can fair tasks have a turn? Not under core scheduling, where the whole core has turns. */
static inline bool lottery_fair_can_run(struct rq *rq)
{
	return rq->cfs.h_nr_runnable && !sched_core_enabled(rq);
}

/* Are fair tasks to have a turn when the present one ends? */
static inline bool lottery_fair_is_due(struct rq *rq)
{
	return lottery_fair_can_run(rq) && !rq->lottery.fair_wait;
}

/* guest.c */
void lottery_begin_fair_turn(struct rq *rq);
bool lottery_fair_stays(struct rq *rq);
void lottery_begin_lent_turn(struct rq *rq, struct task_struct *p);
bool lottery_guest_stays(struct rq *rq);
void lottery_guest_tick(struct rq *rq);

/* stats.c */
DECLARE_STATIC_KEY_TRUE(lottery_compensation);
DECLARE_STATIC_KEY_TRUE(lottery_transfers);
DECLARE_STATIC_KEY_FALSE(lottery_low_variance);

/* core_sched.c; what the first three do while core scheduling is enabled */
#ifdef CONFIG_SCHED_CORE
void __lottery_core_ran(struct rq *rq, struct task_struct *p, u64 ran);
void __lottery_core_join(struct rq *rq);
void __lottery_core_pass(struct rq *rq, struct task_struct *p);

static inline void lottery_core_ran(struct rq *rq, struct task_struct *p, u64 ran)
{
	if (sched_core_enabled(rq))
		__lottery_core_ran(rq, p, ran);
}

static inline void lottery_core_join(struct rq *rq)
{
	if (sched_core_enabled(rq))
		__lottery_core_join(rq);
}

static inline void lottery_core_pass(struct rq *rq, struct task_struct *p)
{
	if (sched_core_enabled(rq))
		__lottery_core_pass(rq, p);
}

static inline void lottery_core_along(struct rq *rq, bool along)
{
	rq->lottery.along = along;
}

bool lottery_core_turn_over(struct rq *rq, struct task_struct *p);
#else
static inline void
lottery_core_ran(struct rq *rq, struct task_struct *p, u64 ran) { }
static inline void lottery_core_join(struct rq *rq) { }
static inline void lottery_core_pass(struct rq *rq, struct task_struct *p) { }
static inline void lottery_core_along(struct rq *rq, bool along) { }
static inline bool
lottery_core_turn_over(struct rq *rq, struct task_struct *p) { return false; }
#endif

#endif /* _SCHED_LOTTERY_CLASS_H */

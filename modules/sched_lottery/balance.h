/* SPDX-License-Identifier: GPL-2.0-only */
/* What balance.c, lag.c, late.c and their tests share. */
#ifndef _SCHED_LOTTERY_BALANCE_H
#define _SCHED_LOTTERY_BALANCE_H

#include <linux/time64.h>

#include "loan.h"

/* Tasks that a search for one to move tests. */
#define LOTTERY_SCAN		16
/* Loads and their average are counted in parts of a ticket. */
#define LOTTERY_LOAD_SHIFT	10
/* The lag of a ticket is counted in parts of a nanosecond. */
#define LOTTERY_LAG_SHIFT	10
/* The largest lag, either way, of a task and of all tasks of a CPU [ns]. */
#define LOTTERY_LAG_MAX		(100ULL * NSEC_PER_MSEC)
/* The part of the CPUs' average lag that each forgets at a time. */
#define LOTTERY_DRIFT_PART	4
/* The lag of all tasks of a CPU from which on one of them is moved [ns]. */
#define LOTTERY_LAG_MOVE	(8ULL * NSEC_PER_MSEC)
/* The lag from which on a task has turns without a draw [ns]. */
#define LOTTERY_LAG_LATE	(LOTTERY_LAG_MAX / 2)
/* What the others on its CPU then lack more than those on the CPU that it goes to [ns]. */
#define LOTTERY_LAG_SWAP	(4 * LOTTERY_LAG_MOVE)
/* How often the average is computed without those that are above the last. */
#define LOTTERY_ROUNDS		4

/**
 * struct lottery_survey - the CPUs of a root domain
 * @average: see struct lottery_account
 * @drift: the average lag of each ticket, of CPUs that tasks share [ns <<
 *	LOTTERY_LAG_SHIFT]
 * @behind: the CPU with waiting tasks and the largest lag, or NULL
 * @tickless: of the CPUs that run lottery tasks without ticks, so that they do not balance,
 *	the one with the smallest load, or NULL
 */
struct lottery_survey {
	u64 average;
	s64 drift;
	struct rq *behind;
	struct rq *tickless;
};

/* Does a real-time task run on @rq? Under its lock or RCU. */
static inline bool lottery_rt_runs(struct rq *rq)
{
	return rt_or_dl_prio(lottery_curr(rq)->prio);
}

static inline unsigned int lottery_nr_waits(struct rq *rq)
{
	unsigned int nr = READ_ONCE(rq->lottery.nr);

	/* The running task may have blocked just now. */
	return nr - (nr && task_on_lottery(lottery_curr(rq)));
}

/* Does it run nothing that a lottery task would have to wait for? */
static inline bool lottery_is_free(struct rq *rq)
{
	return !READ_ONCE(rq->lottery.pool.nr) && !lottery_rt_runs(rq);
}

/* lag.c */
extern struct cpumask lottery_waiting;
unsigned long lottery_capacity(struct rq *rq);
u64 lottery_load(struct rq *rq, u64 tickets);
u64 lottery_load_now(struct rq *rq);
void lottery_look_around(struct rq *rq, struct lottery_survey *s);
void lottery_account_fold(struct lottery_account *a, u64 owned, unsigned int nr, u64 now);

#ifdef CONFIG_SMP
/**
 * lottery_account_lag() - the lag of tasks
 * @a: the account of their CPU
 * @owned: their tickets
 * @carried: what they carry, see lottery_account_join()
 *
 * Both terms may have wrapped; their sum has not.
 *
 * Return: run time [ns].
 */
static inline s64
lottery_account_lag(const struct lottery_account *a, u64 owned, u64 carried)
{
	return (s64)(carried + a->behind * owned) >> LOTTERY_LAG_SHIFT;
}

/* What @p, queued on @rq, lacks [ns]. @rq is locked. */
static inline s64 lottery_lag(struct rq *rq, struct task_struct *p)
{
	return lottery_account_lag(&rq->lottery.account, p->lottery.counted, p->lottery.lag);
}

/**
 * lottery_account_join() - a task brings its lag along
 * @a: the account of the CPU
 * @owned: the task's tickets
 * @lag: its lag [ns]
 *
 * Return: what it carries while it is here, for lottery_account_lag().
 */
static inline u64
lottery_account_join(struct lottery_account *a, unsigned int owned, s64 lag)
{
	u64 carried = ((u64)lag << LOTTERY_LAG_SHIFT) - a->behind * owned;

	a->carried += carried;
	return carried;
}

/**
 * lottery_account_leave() - a task takes its lag along
 * @a: the account of the CPU
 * @owned: the task's tickets
 * @carried: what lottery_account_join() returned
 *
 * Return: its lag [ns], within LOTTERY_LAG_MAX.
 */
static inline s64
lottery_account_leave(struct lottery_account *a, unsigned int owned, u64 carried)
{
	s64 lag = lottery_account_lag(a, owned, carried);

	a->carried -= carried;
	/* Rarely: the lag of all tasks of a CPU together is bounded as well. */
	if (unlikely((u64)(lag + (s64)LOTTERY_LAG_MAX) > 2 * LOTTERY_LAG_MAX))
		return lag < 0 ? -(s64)LOTTERY_LAG_MAX : (s64)LOTTERY_LAG_MAX;
	return lag;
}

/**
 * lottery_account_grant() - a task has a turn without a draw
 * @a: the account of the CPU
 * @owned: the tickets of all tasks there
 * @turn: the length of the turn [ns]
 *
 * By lot each ticket would have had its part of the turn: all tickets lack that, and the
 * task has had all of it. The lag of all together stays as it is.
 *
 * Return: what to subtract from what the task carries.
 */
static inline u64 lottery_account_grant(struct lottery_account *a, u64 owned, u64 turn)
{
	u64 each = owned ? div64_u64(turn << LOTTERY_LAG_SHIFT, owned) : 0;

	a->behind += each;
	a->carried -= each * owned;
	return each * owned;
}

/* The account of @rq, where an entry has just been put into the pool. */
static inline struct lottery_account *lottery_open_account(struct rq *rq)
{
	struct lottery_account *a = &rq->lottery.account;

	if (lottery_entries(&rq->lottery) == 1) {
		a->clock = rq_clock_task(rq);
		a->ran = 0;
		a->behind = 0;
		a->carried = 0;
		a->blocked = 0;
	}
	return a;
}

/* Count a task in that has just been queued; its tickets are in the sums. */
static inline void lottery_join(struct rq *rq, struct task_struct *p)
{
	p->lottery.lag = lottery_account_join(lottery_open_account(rq), p->lottery.counted,
					      p->lottery.lag);
}

/* Count a task out that is about to leave the pool; its tickets are in the sums. */
static inline void lottery_leave(struct rq *rq, struct task_struct *p)
{
	p->lottery.lag = lottery_account_leave(&rq->lottery.account, p->lottery.counted,
					       p->lottery.lag);
}

/*
 * Count tickets in that are lent to a task here; the loan has just been put into the pool.
 * Their lag here is dropped when they leave.
 */
static inline void lottery_join_loan(struct rq *rq, struct lottery_loan *loan)
{
	loan->carried = lottery_account_join(lottery_open_account(rq), loan->counted, 0);
}

/* Count tickets out that were lent to a task here; the loan is about to leave the pool. */
static inline void lottery_leave_loan(struct rq *rq, struct lottery_loan *loan)
{
	lottery_account_leave(&rq->lottery.account, loan->counted, loan->carried);
}
#else
static inline void lottery_join(struct rq *rq, struct task_struct *p) { }
static inline void lottery_leave(struct rq *rq, struct task_struct *p) { }
static inline void lottery_join_loan(struct rq *rq, struct lottery_loan *loan) { }
static inline void lottery_leave_loan(struct rq *rq, struct lottery_loan *loan) { }
#endif

/* balance.c */
#ifdef CONFIG_SMP
int select_task_rq_lottery(struct task_struct *p, int cpu, int flags);
void lottery_balance(struct rq *rq, struct rq_flags *rf);
void lottery_displaced(struct rq *rq);
void lottery_emptied(struct rq *rq);
void lottery_account_tick(struct rq *rq);
void lottery_rotate(struct rq *src, struct rq *dst);

/* late.c */
void lottery_look_for_late(struct rq *rq);
struct task_struct *lottery_grant(struct rq *rq);
bool lottery_others_gain(struct rq *src, struct rq *dst, s64 lag);
bool lottery_should_swap(struct rq *src, struct rq *dst);
void lottery_start_swap(struct rq *src, struct rq *dst);

static inline void lottery_ran(struct rq *rq, u64 ran)
{
	rq->lottery.account.ran += ran;
}
#else
static inline void lottery_displaced(struct rq *rq) { }
static inline void lottery_emptied(struct rq *rq) { }
static inline void lottery_account_tick(struct rq *rq) { }
static inline struct task_struct *lottery_grant(struct rq *rq) { return NULL; }
static inline void lottery_ran(struct rq *rq, u64 ran) { }
#endif

#endif /* _SCHED_LOTTERY_BALANCE_H */

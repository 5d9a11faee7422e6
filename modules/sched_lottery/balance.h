/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What balance.c, lag.c and the tests of both share.
 */
#ifndef _SCHED_LOTTERY_BALANCE_H
#define _SCHED_LOTTERY_BALANCE_H

#include <linux/time64.h>

#include "class.h"

/* Loads and their average are counted in parts of a ticket. */
#define LOTTERY_LOAD_SHIFT	10
/* What a ticket lacks is counted in parts of a nanosecond. */
#define LOTTERY_LAG_SHIFT	10
/* What a task, or all tasks of a CPU, can lack at most, and have too much [ns]. */
#define LOTTERY_LAG_MAX		(100ULL * NSEC_PER_MSEC)
/* The part of what all CPUs lack on average that each forgets at a time. */
#define LOTTERY_DRIFT_PART	4
/* What all tasks of a CPU have to lack for one of them to be moved [ns]. */
#define LOTTERY_LAG_MOVE	(8ULL * NSEC_PER_MSEC)
/* How often the average is computed without those that are above the last. */
#define LOTTERY_ROUNDS		4

/**
 * struct lottery_survey - what the CPUs of a root domain look like
 * @average: see struct lottery_account
 * @drift: what each ticket lacks on average, of those that share CPUs
 *	[ns << LOTTERY_LAG_SHIFT]
 * @behind: where tasks wait and lack most, or NULL
 */
struct lottery_survey {
	u64 average;
	s64 drift;
	struct rq *behind;
};

/* Does a real-time task run on @rq? Under its lock or RCU. */
static inline bool lottery_rt_runs(struct rq *rq)
{
	return rt_or_dl_prio(lottery_curr(rq)->prio);
}

static inline unsigned int lottery_nr_waits(struct rq *rq)
{
	unsigned int nr = READ_ONCE(rq->lottery.nr);

	/* Who runs may have blocked just now. */
	return nr - (nr && task_on_lottery(lottery_curr(rq)));
}

/* Does it run nothing that a lottery task would have to wait for? */
static inline bool lottery_is_free(struct rq *rq)
{
	return !READ_ONCE(rq->lottery.pool.nr) && !lottery_rt_runs(rq);
}

/* balance.c */
extern struct cpumask lottery_waiting;
unsigned long lottery_capacity(struct rq *rq);
u64 lottery_load_now(struct rq *rq);

/* lag.c */
void lottery_look_around(struct rq *rq, struct lottery_survey *s);
s64 lottery_account_lag(const struct lottery_account *a, u64 owned, u64 carried);
void lottery_account_fold(struct lottery_account *a, u64 owned, unsigned int nr, u64 now);
u64 lottery_account_join(struct lottery_account *a, unsigned int owned, s64 lag);
s64 lottery_account_leave(struct lottery_account *a, unsigned int owned, u64 carried);

#endif /* _SCHED_LOTTERY_BALANCE_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/* Currencies as the rest of the class sees them. See currency.c. */
#ifndef _SCHED_LOTTERY_CURRENCY_H
#define _SCHED_LOTTERY_CURRENCY_H

#include <linux/atomic.h>
#include <linux/percpu.h>
#include <linux/refcount.h>
#include <linux/workqueue_types.h>

#include "sched.h"

struct pid;
struct pid_namespace;
struct prctl_lottery_currency;

/* In the base currency, tickets from within a currency count no more than nice 0. */
#define LOTTERY_TICKETS_OUTSIDE	1024U

/**
 * struct lottery_crq - a currency on one CPU
 * @pool: the tickets in it of tasks, of loans, and of currencies within it
 * @entry: what it takes part with in the pool around it, while @pool is not empty
 * @currency: the currency
 * @around: whose pool @entry is in, NULL for that of the CPU
 * @owned: what is in @pool, without compensation [tickets]
 * @worth: the worth of @owned in the currency around, as counted there [tickets]
 * @wins: draws that a ticket in @pool has won
 * @point: the position of the low-variance draw, of 2^64
 * @on_cpu: on the CPU's list of currencies, while @pool is not empty
 *
 * All of it is protected by the rq lock.
 */
struct lottery_crq {
	struct lottery_pool pool;
	struct lottery_entry entry;
	struct lottery_currency *currency;
	struct lottery_crq *around;
	u64 owned;
	u64 worth;
	u64 wins;
	u64 point;
	struct list_head on_cpu;
};

/**
 * struct lottery_currency - tickets that are backed by others
 * @crq: on each CPU
 * @around: the currency that backs it, NULL for the base currency
 * @home: of a process: the currency of its cgroup when it was made
 * @owner: of a process: its id, to compare; NULL for that of a cgroup
 * @tickets: its backing, in the currency around; 0 for a cgroup that is no currency
 * @depth: how many currencies of the same sort it is in, with itself
 * @inner: @tickets was set while @around was not the base currency
 * @active: what its crqs own all together; each CPU changes it under its own rq lock
 * @refs: processes and currencies within it, a cgroup
 * @free: frees it after a grace period
 *
 * @around and @tickets are read under rq locks, without the lock of their writer:
 * lottery_groups_mutex for a cgroup, lottery_process_mutex for a process.
 */
struct lottery_currency {
	struct lottery_crq __percpu *crq;
	struct lottery_currency *around;
	struct lottery_currency *home;
	struct pid *owner;
	unsigned int tickets;
	unsigned int depth;
	bool inner;
	atomic64_t active;
	refcount_t refs;
	struct rcu_work free;
};

/*
 * Is there a currency, or was there? It is never off again: until it is on, @crq of all
 * tasks and loans is NULL, and nothing below costs an instruction.
 */
DECLARE_STATIC_KEY_FALSE(lottery_currencies);

/* currency.c */
struct lottery_currency *__lottery_currency_of(const struct task_struct *p);
void __lottery_put_in(struct rq *rq, struct lottery_crq *crq, struct lottery_entry *e,
		      unsigned int owned);
void __lottery_take_out(struct rq *rq, struct lottery_crq *crq,
			struct lottery_entry *e, unsigned int owned);
void __lottery_set_parts(struct rq *rq, struct lottery_crq *crq,
			 struct lottery_entry *e, u64 parts);
unsigned int __lottery_worth(const struct lottery_crq *crq, unsigned int owned);
void __lottery_weigh_some(struct rq *rq);
void lottery_change_backing(struct lottery_currency *c, unsigned int tickets);
void lottery_weigh_everywhere(struct lottery_currency *c);

/* currency_life.c */
void lottery_requeue(struct task_struct *p);
struct lottery_currency *lottery_make_currency(struct lottery_currency *around,
					       unsigned int tickets);
struct lottery_currency *lottery_get_currency(struct lottery_currency *c);
void lottery_put_currency(struct lottery_currency *c);
int lottery_process_currency(unsigned long tickets);
void lottery_see_currency(const struct task_struct *p, struct pid_namespace *ns,
			  struct prctl_lottery_currency *seen);

/* check.c */
void __lottery_check(struct rq *rq);
void lottery_check_machine(void);

static inline void lottery_check(struct rq *rq)
{
	if (IS_ENABLED(CONFIG_SCHED_LOTTERY_DEBUG))
		__lottery_check(rq);
}

/**
 * lottery_currency_of() - the currency of a task's tickets
 * @p: the task. Its run queue is locked, or else under RCU.
 *
 * Return: the currency, or NULL for the base currency.
 */
static inline struct lottery_currency *lottery_currency_of(const struct task_struct *p)
{
	if (!static_branch_unlikely(&lottery_currencies))
		return NULL;
	return __lottery_currency_of(p);
}

/*
 * The currency on @rq that the entry of a task or of its loan belongs to, or NULL for the
 * pool of the CPU itself.
 */
static inline struct lottery_crq *
lottery_crq_of(struct rq *rq, const struct task_struct *p)
{
	struct lottery_currency *c = lottery_currency_of(p);

	return unlikely(c) ? per_cpu_ptr(c->crq, cpu_of(rq)) : NULL;
}

/**
 * lottery_put_in() - an entry takes part from now on
 * @rq: a run queue, locked
 * @crq: a currency there, or NULL
 * @e: the entry, with its tickets
 * @owned: those without compensation [tickets]
 */
static __always_inline void
lottery_put_in(struct rq *rq, struct lottery_crq *crq, struct lottery_entry *e,
	       unsigned int owned)
{
	if (static_branch_unlikely(&lottery_currencies) && crq)
		__lottery_put_in(rq, crq, e, owned);
	else
		lottery_pool_insert(&rq->lottery.pool, e);
	lottery_check(rq);
}

/* The entry stops taking part; the arguments are those of lottery_put_in(). */
static __always_inline void
lottery_take_out(struct rq *rq, struct lottery_crq *crq, struct lottery_entry *e,
		 unsigned int owned)
{
	if (static_branch_unlikely(&lottery_currencies) && crq)
		__lottery_take_out(rq, crq, e, owned);
	else
		lottery_pool_remove(&rq->lottery.pool, e);
	lottery_check(rq);
}

/* The same for the entry of a task, whose currency is only looked up if there are any. */
static __always_inline void lottery_take_out_task(struct rq *rq, struct task_struct *p)
{
	if (static_branch_unlikely(&lottery_currencies))
		lottery_take_out(rq, p->lottery.crq, &p->lottery.entry, p->lottery.owned);
	else
		lottery_take_out(rq, NULL, &p->lottery.entry, 0);
}

/* Compensation of an entry begins or ends: it takes part with @parts from now on. */
static __always_inline void
lottery_set_parts(struct rq *rq, struct lottery_crq *crq, struct lottery_entry *e,
		  u64 parts)
{
	if (static_branch_unlikely(&lottery_currencies) && crq)
		__lottery_set_parts(rq, crq, e, parts);
	else
		lottery_pool_reweight(&rq->lottery.pool, e, parts);
	lottery_check(rq);
}

/**
 * lottery_worth() - what tickets are worth in the base currency
 * @crq: the currency that they are of, on a CPU; NULL for the base currency
 * @owned: how many, of an entry there
 *
 * Return: at least 1.
 */
static __always_inline unsigned int
lottery_worth(const struct lottery_crq *crq, unsigned int owned)
{
	if (static_branch_unlikely(&lottery_currencies) && crq)
		return __lottery_worth(crq, owned);
	return owned;
}

/* Update some currencies for changes on other CPUs; the rq is locked. */
static inline void lottery_weigh_some(struct rq *rq)
{
	if (static_branch_unlikely(&lottery_currencies) &&
	    !list_empty(&rq->lottery.currencies))
		__lottery_weigh_some(rq);
	lottery_check(rq);
}

#endif /* _SCHED_LOTTERY_CURRENCY_H */

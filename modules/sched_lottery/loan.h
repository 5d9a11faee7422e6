/* SPDX-License-Identifier: GPL-2.0-only */
/* Loans: what loan.c, chain.c and loan_api.c share, and what the class calls. */
#ifndef _SCHED_LOTTERY_LOAN_H
#define _SCHED_LOTTERY_LOAN_H

#include <linux/pid.h>
#include <linux/timekeeping.h>

#include "class.h"

/* Loans that are decided about under the rq lock at a time. */
#define LOTTERY_LETTERS	16
/* How long the CPU works between two such times [ns]. */
#define LOTTERY_PACE	(100 * NSEC_PER_USEC)

/* The places of a loan, see loan.c. */
enum lottery_loan_state {
	LOTTERY_LOAN_AT_REST,
	LOTTERY_LOAN_POOL,
	LOTTERY_LOAN_RECALL,
	LOTTERY_LOAN_MAIL,
	LOTTERY_LOAN_LATER,
	LOTTERY_LOAN_HELD,
	LOTTERY_LOAN_PARKED,
};

/* The right place of a loan. */
enum lottery_whereabouts {
	LOTTERY_HERE,		/* the borrower is queued here and can run */
	LOTTERY_THERE,		/* it is queued on another CPU */
	LOTTERY_ASLEEP,		/* it sleeps */
	LOTTERY_NOT_NOW,	/* it is not known, or it cannot run just now */
	LOTTERY_NOWHERE,	/* it does not exist */
};

/* The fair class leaves some tasks queued that sleep. */
static inline bool lottery_is_asleep(struct task_struct *p)
{
	return !READ_ONCE(p->on_rq) || READ_ONCE(p->se.sched_delayed);
}

/* chain.c */
enum lottery_whereabouts
lottery_find_borrower(struct lottery_loan *loan, struct task_struct **borrower);

static inline bool lottery_has_expired(const struct lottery_loan *loan)
{
	return loan->expires && ktime_get_mono_fast_ns() >= loan->expires;
}

/* The borrower that a loan names, or NULL once that has no id. Under RCU. */
static inline struct task_struct *lottery_named(const struct lottery_loan *loan)
{
	struct task_struct *to = pid_task(loan->pid, PIDTYPE_PID);

	/* A thread that executes a program has the id of the first thread from then on. */
	return to == loan->to ? to : NULL;
}

/* Has a loan to a named borrower ended? Under RCU. */
static inline bool lottery_is_over(const struct lottery_loan *loan)
{
	const struct task_struct *to = lottery_named(loan);

	return loan->over || lottery_has_expired(loan) || !to || READ_ONCE(to->exit_state);
}

/* What a loan that is in a pool has there [tickets]; what it will have may differ. */
static inline unsigned int lottery_pooled(const struct lottery_loan *loan)
{
	return loan->entry.tickets >> LOTTERY_PART_SHIFT;
}

/* reserve.c */
bool lottery_has_room_to_lend(const struct lottery_rq *lrq);

/* loan.c */
extern raw_spinlock_t lottery_loans_lock;
void init_lottery_loans(struct lottery_rq *lrq);
void init_lottery_loan(struct lottery_loan *loan, struct task_struct *lender);
void lottery_start_retry(struct rq *rq, u64 ns);
bool lottery_can_host(struct rq *rq, struct task_struct *p);
struct task_struct *lottery_borrower(struct rq *rq, struct lottery_entry *e);
void __lottery_lend(struct rq *rq, struct task_struct *p);
void __lottery_lend_again(struct rq *rq, struct task_struct *p);
void __lottery_take_back(struct rq *rq, struct task_struct *p);
void lottery_evict_loans(struct rq *rq, struct lottery_pool *pool);
void rq_online_lottery(struct rq *rq);
void rq_offline_lottery(struct rq *rq);

/* A task that is stopped, traced or frozen waits for no task, and lends to none. */
static inline bool lottery_is_halted(const struct task_struct *p)
{
#ifdef CONFIG_CGROUPS
	if (p->frozen)
		return true;
#endif
	return READ_ONCE(p->__state) & (__TASK_STOPPED | __TASK_TRACED | TASK_FROZEN);
}

/* Does @p wait for a lock that passes priorities or tickets on? */
static inline bool lottery_is_locked_out(const struct task_struct *p)
{
#ifdef CONFIG_RT_MUTEXES
	if (READ_ONCE(p->pi_blocked_on))
		return true;
#endif
	return READ_ONCE(p->lottery.waits_on);
}

/* A task that is off its pool blocks: lend its tickets. The clock is up to date. */
static inline void lottery_lend(struct rq *rq, struct task_struct *p)
{
	if ((lottery_is_locked_out(p) || !list_empty(&p->lottery.loans)) &&
	    static_branch_likely(&lottery_transfers))
		__lottery_lend(rq, p);
}

/* The tickets of a task may be others, or of another currency. The clock is up to date. */
static inline void lottery_lend_again(struct rq *rq, struct task_struct *p)
{
	if (p->lottery.loan.active || !list_empty(&p->lottery.loans))
		__lottery_lend_again(rq, p);
}

/* A task wakes up, or leaves the class: end its loans. The clock is up to date. */
static inline void lottery_take_back(struct rq *rq, struct task_struct *p)
{
	if (p->lottery.loan.active || !list_empty(&p->lottery.loans))
		__lottery_take_back(rq, p);
}

#ifdef CONFIG_FAIR_GROUP_SCHED
static inline struct sched_entity *lottery_parent(struct sched_entity *se)
{
	return se->parent;
}
#else
static inline struct sched_entity *lottery_parent(struct sched_entity *se)
{
	return NULL;
}
#endif

#endif /* _SCHED_LOTTERY_LOAN_H */

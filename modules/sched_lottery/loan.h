/* SPDX-License-Identifier: GPL-2.0-only */
/* What loan.c, chain.c, loan_api.c and the rest of the class share. */
#ifndef _SCHED_LOTTERY_LOAN_H
#define _SCHED_LOTTERY_LOAN_H

#include <linux/timekeeping.h>

#include "class.h"

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

/* What a loan that is in a pool has there [tickets]; what it will have may differ. */
static inline unsigned int lottery_pooled(const struct lottery_loan *loan)
{
	return loan->entry.tickets >> LOTTERY_PART_SHIFT;
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

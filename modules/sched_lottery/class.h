/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of the class share of struct rq, to be included after it.
 */
#ifndef _SCHED_LOTTERY_CLASS_H
#define _SCHED_LOTTERY_CLASS_H

#include <linux/rcupdate.h>

#include "sched.h"

/**
 * lottery_curr() - who runs on a CPU
 * @rq: its run queue, locked, or else the caller is in an RCU section and
 *	takes the answer for a hint
 */
static inline struct task_struct *lottery_curr(const struct rq *rq)
{
	return rcu_dereference_raw(rq->curr);
}

#endif /* _SCHED_LOTTERY_CLASS_H */

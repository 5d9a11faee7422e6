// SPDX-License-Identifier: GPL-2.0-only
/*
 * The chain of blocked tasks, and the task at its end.
 *
 * Locking: what a task is blocked on is read under its pi_lock, which is above the rq lock
 * that the caller has, and therefore only tried. Tasks in a chain stay in memory as
 * interrupts are off, which RCU waits for.
 */

#include <linux/err.h>
#include <linux/list.h>
#include <linux/mmu_context.h>
#include <linux/spinlock.h>

#include <linux/lottery/mutex.h>

#include "../locking/rtmutex_common.h"
#include "loan.h"

/* The longest chain of tasks that wait for each other. */
#define LOTTERY_CHAIN	16

/*
 * The task that @p waits for, or NULL, or -EAGAIN while a lock is between two owners. Its
 * pi_lock is held.
 */
static struct task_struct *lottery_waits_for(struct task_struct *p, bool named)
{
	struct lottery_loan *loan;

#ifdef CONFIG_RT_MUTEXES
	if (p->pi_blocked_on)
		return rt_mutex_owner(p->pi_blocked_on->lock) ?: ERR_PTR(-EAGAIN);
#endif
	if (p->lottery.waits_on)
		return READ_ONCE(p->lottery.waits_on->owner);
	if (!named)
		return NULL;

	list_for_each_entry(loan, &p->lottery.loans, own)
		if (READ_ONCE(loan->active))
			return loan->to;
	return NULL;
}

/**
 * lottery_find_borrower() - the task at the end of the chain of a loan
 * @loan: the loan; interrupts are off
 * @borrower: stores the task, if there is one
 *
 * Return: HERE if the task is awake, wherever it is, or ASLEEP, NOT_NOW, NOWHERE.
 */
enum lottery_whereabouts
lottery_find_borrower(struct lottery_loan *loan, struct task_struct **borrower)
{
	struct task_struct *p = loan->lender, *next = loan->to;
	int depth;

	for (depth = 0; depth < LOTTERY_CHAIN; depth++) {
		if (depth || !next) {
			if (!raw_spin_trylock(&p->pi_lock))
				return LOTTERY_NOT_NOW;
			next = lottery_waits_for(p, depth);
			raw_spin_unlock(&p->pi_lock);
			if (IS_ERR(next))
				return LOTTERY_NOT_NOW;
		}
		*borrower = next ?: p;
		if (!next)
			return depth ? LOTTERY_ASLEEP : LOTTERY_NOWHERE;
		if (next == loan->lender)
			return LOTTERY_NOWHERE;
		if (!lottery_is_asleep(next))
			return LOTTERY_HERE;
		p = next;
	}
	return LOTTERY_NOWHERE;
}

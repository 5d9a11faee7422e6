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
#include <linux/rcupdate.h>
#include <linux/spinlock.h>

#include <linux/lottery/mutex.h>

#include "../locking/rtmutex_common.h"
#include "loan.h"

/* The longest chain of tasks that wait for each other. */
#define LOTTERY_CHAIN	16

#ifdef CONFIG_RT_MUTEXES
/*
 * The owner of @lock, on which a task with its pi_lock held is blocked. Between two owners
 * the first waiter, which is about to take it; or -EAGAIN.
 */
static struct task_struct *lottery_owner(struct rt_mutex_base *lock)
{
	struct task_struct *owner = rt_mutex_owner(lock);

	if (owner)
		return owner;
	if (!raw_spin_trylock(&lock->wait_lock))
		return ERR_PTR(-EAGAIN);
	if (rt_mutex_has_waiters(lock))
		owner = rt_mutex_top_waiter(lock)->task;
	raw_spin_unlock(&lock->wait_lock);
	return owner ?: ERR_PTR(-EAGAIN);
}
#endif

/*
 * The task that @p waits for, or NULL, or -EAGAIN while it is not known. It is @p itself if
 * @p is about to take what it waits for. Its pi_lock is held.
 */
static struct task_struct *lottery_waits_for(struct task_struct *p, bool named)
{
	struct lottery_loan *loan;
	struct task_struct *to;

#ifdef CONFIG_RT_MUTEXES
	if (p->pi_blocked_on)
		return lottery_owner(p->pi_blocked_on->lock);
#endif
	if (p->lottery.waits_on)
		return READ_ONCE(p->lottery.waits_on->owner);
	if (!named)
		return NULL;

	list_for_each_entry(loan, &p->lottery.loans, own) {
		to = lottery_named(loan);
		if (to && READ_ONCE(loan->active))
			return to;
	}
	return NULL;
}

/**
 * lottery_find_borrower() - the task at the end of the chain of a loan
 * @loan: the loan; interrupts are off
 * @borrower: stores the task, if there is one
 *
 * A circle lends to no task. It ends when one of its tasks wakes up: the loan waits for the
 * task that waits for the lender, or in a longer circle for the next tick.
 *
 * Return: HERE if the task is awake, wherever it is, or ASLEEP, NOT_NOW, NOWHERE.
 */
enum lottery_whereabouts
lottery_find_borrower(struct lottery_loan *loan, struct task_struct **borrower)
{
	struct task_struct *p = loan->lender, *next;
	int depth;

	guard(rcu)();
	next = lottery_named(loan);
	if (loan->to && !next)
		return LOTTERY_NOWHERE;
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
		/* Another task may still take the lock before it. */
		if (next == p)
			return depth ? LOTTERY_ASLEEP : LOTTERY_NOT_NOW;
		if (next == loan->lender) {
			*borrower = p;
			return depth == 1 ? LOTTERY_ASLEEP : LOTTERY_NOT_NOW;
		}
		if (!lottery_is_asleep(next))
			return LOTTERY_HERE;
		p = next;
	}
	return LOTTERY_NOT_NOW;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Turns that loans have won, and guests: fair tasks that have one.
 *
 * A guest runs in its own class, ahead of other fair tasks, since the class that picks it
 * comes first, as for tasks that the deadline server picks. Its time counts for the turn
 * here, and in the fair class as all its time does; but not for the deadline server, see
 * lottery_is_guest().
 *
 * Locking: the rq lock.
 */

#include <linux/jiffies.h>
#include <linux/mmu_context.h>

#include "balance.h"

/**
 * lottery_begin_lent_turn() - give a task a turn that a loan to it has won
 * @rq: its run queue, locked
 * @p: a queued task, see lottery_borrower()
 *
 * Its own tickets have not won: its compensation stays.
 */
void lottery_begin_lent_turn(struct rq *rq, struct task_struct *p)
{
	struct lottery_rq *lrq = &rq->lottery;

	if (task_on_lottery(p)) {
		lrq->holder = p;
		lottery_new_turn(p);
	} else {
		lrq->holder = NULL;
		lrq->guest = p;
		lrq->guest_since = rq_clock_task(rq);
		lrq->guest_left = LOTTERY_QUANTUM_DEFAULT;
	}
	lrq->lent_turn = true;
}

/* Charge the turn of a fair task, which runs in its own class. */
static void lottery_charge_guest(struct rq *rq)
{
	struct lottery_rq *lrq = &rq->lottery;
	s64 ran = rq_clock_task(rq) - lrq->guest_since;

	lrq->guest_since += ran;
	lrq->guest_left -= ran;
	lottery_ran(rq, ran);
}

/**
 * lottery_guest_stays() - does the turn of a fair task go on?
 * @rq: a run queue, locked, and the clock up to date
 *
 * It ends when another task has run in between, which is all that is known of a guest that
 * does not run.
 */
bool lottery_guest_stays(struct rq *rq)
{
	struct lottery_rq *lrq = &rq->lottery;

	if (likely(!lrq->guest))
		return false;
	if (lrq->guest == lottery_curr(rq) && task_on_rq_queued(lrq->guest) &&
	    lottery_can_host(rq, lrq->guest)) {
		lottery_charge_guest(rq);
		if (lrq->guest_left > 0)
			return true;
	}
	lrq->guest = NULL;
	return false;
}

/* A tick of a fair task's turn; it may be half of one off. The clock is up to date. */
void lottery_guest_tick(struct rq *rq)
{
	struct lottery_rq *lrq = &rq->lottery;

	if (!lrq->guest || lrq->guest != lottery_curr(rq))
		return;

	lottery_charge_guest(rq);
	if (lrq->guest_left > (s64)TICK_NSEC / 2)
		return;
	lrq->guest = NULL;
	resched_curr(rq);
}

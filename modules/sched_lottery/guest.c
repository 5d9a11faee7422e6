// SPDX-License-Identifier: GPL-2.0-only
/*
 * Turns that loans have won, and guests: fair tasks that have one; and turns of the fair
 * class.
 *
 * A guest runs in its own class, ahead of other fair tasks, since the class that picks it
 * comes first, as for tasks that the deadline server picks. Its time counts for the turn
 * here, and in the fair class as all its time does.
 *
 * While fair tasks wait, their class has a turn of a tick after LOTTERY_FAIR_PART ticks of
 * this one. So a kernel thread waits for some ticks, and not for the deadline server, which
 * runs fair tasks after a second and above real-time ones. A turn that was shorter comes
 * back sooner. It takes no tickets: its part does not depend on how many there are.
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
	lottery_fair_waits(lrq, ran);
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

/* Fair tasks have a turn, which the fair class gives to one of them. @rq is locked. */
void lottery_begin_fair_turn(struct rq *rq)
{
	struct lottery_rq *lrq = &rq->lottery;

	lockdep_assert_rq_held(rq);

	lrq->holder = NULL;
	lrq->fair_turn = true;
	lrq->fair_since = rq_clock_task(rq);
}

static void lottery_end_fair_turn(struct rq *rq)
{
	struct lottery_rq *lrq = &rq->lottery;
	/* Real-time tasks may have made it longer. */
	u64 ran = min_t(u64, rq_clock_task(rq) - lrq->fair_since, 2 * TICK_NSEC);

	lockdep_assert_rq_held(rq);

	lrq->fair_turn = false;
	lrq->fair_wait = ran * LOTTERY_FAIR_PART;
}

/**
 * lottery_fair_stays() - does the turn of fair tasks go on?
 * @rq: a run queue, locked, and the clock up to date
 *
 * It ends at a tick, or when the last of them has gone to sleep.
 */
bool lottery_fair_stays(struct rq *rq)
{
	if (likely(!rq->lottery.fair_turn))
		return false;
	if (lottery_fair_can_run(rq))
		return true;
	lottery_end_fair_turn(rq);
	return false;
}

/* A tick of the turn of fair tasks. A turn that began half a tick ago lasts until the next. */
static void lottery_fair_tick(struct rq *rq)
{
	struct lottery_rq *lrq = &rq->lottery;

	if (!lrq->fair_turn || lottery_curr(rq)->sched_class != &fair_sched_class ||
	    rq_clock_task(rq) - lrq->fair_since < TICK_NSEC / 2)
		return;
	lottery_end_fair_turn(rq);
	resched_curr(rq);
}

/* A tick of a fair task's turn; it may be half of one off. The clock is up to date. */
void lottery_guest_tick(struct rq *rq)
{
	struct lottery_rq *lrq = &rq->lottery;

	lottery_fair_tick(rq);
	if (!lrq->guest || lrq->guest != lottery_curr(rq))
		return;

	lottery_charge_guest(rq);
	if (lrq->guest_left > (s64)TICK_NSEC / 2)
		return;
	lrq->guest = NULL;
	resched_curr(rq);
}

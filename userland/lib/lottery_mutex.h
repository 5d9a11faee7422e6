/* SPDX-License-Identifier: GPL-2.0 */
/*
 * lottery_mutex.h - a mutex that its waiters win by lot, in memory shared by threads or
 * processes.
 *
 * After Waldspurger and Weihl, "Lottery Scheduling" (OSDI 1994), section 6.1: the holder
 * that releases the mutex draws one ticket among those of the waiters, and its owner has
 * the mutex next. In the paper the holder also runs with the tickets of the waiters:
 * that is a matter of the scheduler and not done here.
 *
 * The mutex is handed over: it is not free in between. If it were, whoever happens to run
 * would take it before the winner has woken up (barging), which is mostly the one that
 * has just released it, and the draw would decide nothing. The price is that a contended
 * mutex changes hands at the pace of wake-ups.
 *
 * Each thread has a slot of its own, and has it to itself. Tickets count as they are when
 * the wait begins. A thread that releases the mutex takes no part in that draw, even if
 * it wants the mutex back at once.
 *
 * As with a futex mutex that is not robust, the death of a thread is not noticed. If the
 * holder dies, nobody gets the mutex any more. If a waiter dies it still takes part, and
 * once it has won, nobody gets the mutex any more. It is not recursive, and a wait has
 * no time limit.
 */
#ifndef LAB_LOTTERY_MUTEX_H
#define LAB_LOTTERY_MUTEX_H

#include "random.h"
#include "types.h"

#define LOTTERY_MUTEX_NOBODY	(~0U)

/*
 * A slot. All but turn is written by its thread before it joins the newcomers, and
 * belongs to the holder from then until the holder makes it the winner.
 */
struct lottery_waiter {
	u32 turn;	/* what it sleeps on, alone: 1 once it has won */
	u32 next;	/* in the list that it is in: slot + 1, or 0 */
	u32 tickets;
} __aligned(64);

/*
 * state is the only word that is written by more than one at a time. Its low half is the
 * slot + 1 of the holder, 0 for none; the high half is the slot + 1 of the last newcomer,
 * whose next leads to the one before. It goes
 *
 *	from nobody and no newcomers to a holder: a thread takes the free mutex;
 *	from a holder to that and one more newcomer: a thread begins to wait;
 *	from a holder to that without newcomers: the holder takes over their list;
 *	from a holder to another one: it is handed over, only the low half changes;
 *	from a holder without newcomers to nobody: the holder has no waiters either.
 *
 * So who waits is on exactly one of two lists, and a mutex without a holder has none.
 * What is below state belongs to the holder.
 *
 * Memory order: to take the mutex is an acquire, to free it a release, of state. To join
 * the newcomers is a release, to take them over an acquire, of state: so the holder sees
 * what is in their slots. To hand over is a release, and to see it an acquire, of turn:
 * so the winner sees all that the holders before it have written, here and in what the
 * mutex protects.
 */
struct lottery_mutex {
	u64 state;
	u32 room;		/* constant */
	u32 first;		/* of the waiters that were taken over: slot + 1, or 0 */
	u64 tickets;		/* of these */
	struct random random;
	struct lottery_waiter waiter[];
};

/* The memory that a mutex for @room threads needs, 64-byte aligned. */
size_t lottery_mutex_size(u32 room);

/* @seed: of the draws. The same numbers are drawn for the same seed. */
void lottery_mutex_init(struct lottery_mutex *m, u32 room, u64 seed);

/*
 * @slot is the caller's own, @tickets at least 1. Without contention, either is one
 * atomic operation and no system call. True when the mutex was won in a draw, false when
 * it was free.
 */
bool lottery_mutex_lock(struct lottery_mutex *m, u32 slot, u32 tickets);
void lottery_mutex_unlock(struct lottery_mutex *m);

/* The slot of the holder, LOTTERY_MUTEX_NOBODY when the mutex is free. */
u32 lottery_mutex_holder(const struct lottery_mutex *m);

/*
 * For a holder that has won a draw: the slots of those that have lost it, one after the
 * other, LOTTERY_MUTEX_NOBODY at the end.
 */
u32 lottery_mutex_first_loser(const struct lottery_mutex *m);
u32 lottery_mutex_next_loser(const struct lottery_mutex *m, u32 slot);

#endif /* LAB_LOTTERY_MUTEX_H */

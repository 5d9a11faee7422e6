// SPDX-License-Identifier: GPL-2.0
/* lottery_mutex.c - a mutex that its waiters win by lot. */
#include "futex.h"
#include "lottery_mutex.h"

#define NEWCOMER_SHIFT	32
#define HOLDER_MASK	0xffffffffULL

size_t lottery_mutex_size(u32 room)
{
	return sizeof(struct lottery_mutex) + room * sizeof(struct lottery_waiter);
}

void lottery_mutex_init(struct lottery_mutex *m, u32 room, u64 seed)
{
	*m = (struct lottery_mutex){ .room = room, .random = { .state = seed } };
}

/* In the lists and in state, slots count from 1. */
static struct lottery_waiter *waiter_of(struct lottery_mutex *m, u32 number)
{
	return &m->waiter[number - 1];
}

/* Take the mutex if it is free, else join the newcomers; true when it was free. */
static bool enter(struct lottery_mutex *m, u32 number, u32 tickets)
{
	struct lottery_waiter *self = waiter_of(m, number);
	u64 seen = 0, wanted = number;

	while (!__atomic_compare_exchange_n(&m->state, &seen, wanted, false,
					    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
		wanted = number;
		if (!seen)
			continue;
		/* before anybody can know of it: it may win the moment that it joins */
		self->turn = 0;
		self->tickets = tickets;
		self->next = (u32)(seen >> NEWCOMER_SHIFT);
		wanted = (u64)number << NEWCOMER_SHIFT | (seen & HOLDER_MASK);
	}
	return !seen;
}

/*
 * Sleep until the mutex is handed over. Here is the place to say for whom the caller
 * waits, and to take that back afterwards: for lottery_mutex_holder(), which is another
 * one after each draw that the caller loses. Nothing does so yet.
 */
static void await_turn(struct lottery_mutex *m, u32 number)
{
	futex_await(&waiter_of(m, number)->turn, 1, 0);
}

bool lottery_mutex_lock(struct lottery_mutex *m, u32 slot, u32 tickets)
{
	assert(slot < m->room && tickets);
	if (enter(m, slot + 1, tickets))
		return false;
	await_turn(m, slot + 1);
	return true;
}

/* Make the newcomers waiters. */
static void take_over(struct lottery_mutex *m)
{
	u64 state = __atomic_fetch_and(&m->state, HOLDER_MASK, __ATOMIC_ACQUIRE);
	u32 newest = (u32)(state >> NEWCOMER_SHIFT);
	struct lottery_waiter *w;

	if (!newest)
		return;
	w = waiter_of(m, newest);
	m->tickets += w->tickets;
	while (w->next) {
		w = waiter_of(m, w->next);
		m->tickets += w->tickets;
	}
	w->next = m->first;
	m->first = newest;
}

/* Draw a ticket and take its owner, who is returned, off the list. */
static u32 draw(struct lottery_mutex *m)
{
	u64 number = random_unbiased(&m->random, m->tickets);
	u32 *link = &m->first, winner = m->first;
	struct lottery_waiter *w = waiter_of(m, winner);

	while (number >= w->tickets) {
		number -= w->tickets;
		link = &w->next;
		winner = w->next;
		w = waiter_of(m, winner);
	}
	*link = w->next;
	m->tickets -= w->tickets;
	return winner;
}

void lottery_mutex_unlock(struct lottery_mutex *m)
{
	u64 holder = __atomic_load_n(&m->state, __ATOMIC_RELAXED) & HOLDER_MASK, seen = holder;
	struct lottery_waiter *w;
	u32 winner;

	if (!m->first && __atomic_compare_exchange_n(&m->state, &seen, 0, false,
						     __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		return;
	take_over(m);
	winner = draw(m);
	w = waiter_of(m, winner);
	/* from one number to the other, whatever is in the high half */
	__atomic_fetch_xor(&m->state, holder ^ winner, __ATOMIC_RELAXED);
	/* from here on, all but the winner's futex word is somebody else's */
	futex_set(&w->turn, 1);
}

static u32 slot_of(u32 number)
{
	return number ? number - 1 : LOTTERY_MUTEX_NOBODY;
}

u32 lottery_mutex_holder(const struct lottery_mutex *m)
{
	return slot_of((u32)(__atomic_load_n(&m->state, __ATOMIC_RELAXED) & HOLDER_MASK));
}

u32 lottery_mutex_first_loser(const struct lottery_mutex *m)
{
	return slot_of(m->first);
}

u32 lottery_mutex_next_loser(const struct lottery_mutex *m, u32 slot)
{
	return slot_of(m->waiter[slot].next);
}

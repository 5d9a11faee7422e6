// SPDX-License-Identifier: GPL-2.0
/* lend_locks.c - lottery-lend: loans to the owner of a PI mutex. */
#include <string.h>

#include "lend.h"
#include "lottery_sched.h"

enum {
	HOG,
	OWNER,
	WAITER,
	SECOND,
};

/* A hog spins; the owner has mutex 0 and spins. */
static void open_owned(struct ktap_case *t, struct stage *s, const u32 *tickets,
		       unsigned int count)
{
	stage_open(s, tickets, count);
	act(t, s, OWNER, ACT_LOCK, 0);
	act(t, s, HOG, ACT_SPIN, 0);
}

/* Ask for a mutex that somebody has, and sleep. */
static void wait_for(struct ktap_case *t, struct stage *s, unsigned int i, u64 mutex)
{
	tell(s, i, ACT_LOCK, mutex);
	await_asleep(t, s, i);
}

static void lottery_owner(struct ktap_case *t)
{
	static const u32 tickets[] = { 100, 100, 200 };
	struct stage s;

	open_owned(t, &s, tickets, 3);
	wait_for(t, &s, WAITER, 0);
	expect_tickets(t, &s, 400);
	expect_share(t, &s, OWNER, 300, 400);
	act(t, &s, OWNER, ACT_UNLOCK, 0);
	await_done(t, &s, WAITER);
	expect_tickets(t, &s, 400);
	expect_share(t, &s, OWNER, 100, 400);
	stage_close(t, &s);
}

static void fair_owner(struct ktap_case *t)
{
	static const u32 tickets[] = { 100, 0, 300 };
	struct stage s;

	open_owned(t, &s, tickets, 3);
	wait_for(t, &s, WAITER, 0);
	expect_share(t, &s, OWNER, 300, 400);
	act(t, &s, OWNER, ACT_UNLOCK, 0);
	await_done(t, &s, WAITER);
	expect_share(t, &s, WAITER, 300, 400);
	stage_close(t, &s);
}

/* All who wait lend, not only the first. */
static void many_waiters(struct ktap_case *t)
{
	static const u32 tickets[] = { 200, 100, 100, 100, 100, 100, 100 };
	unsigned int count = ARRAY_SIZE(tickets), i;
	struct stage s;

	open_owned(t, &s, tickets, count);
	for (i = WAITER; i < count; i++)
		wait_for(t, &s, i, 0);
	expect_tickets(t, &s, 800);
	expect_share(t, &s, OWNER, 600, 800);
	stage_close(t, &s);
}

/* The next owner has the tickets of those that still wait. */
static void next_owner(struct ktap_case *t)
{
	static const u32 tickets[] = { 100, 100, 100, 300 };
	struct stage s;

	open_owned(t, &s, tickets, 4);
	wait_for(t, &s, WAITER, 0);
	wait_for(t, &s, SECOND, 0);
	expect_share(t, &s, OWNER, 500, 600);
	act(t, &s, OWNER, ACT_UNLOCK, 0);
	await_done(t, &s, WAITER);
	expect_tickets(t, &s, 600);
	expect_share(t, &s, WAITER, 400, 600);
	stage_close(t, &s);
}

/* Who waits for somebody who waits lends to the one that runs. */
static void chain_of_owners(struct ktap_case *t)
{
	static const u32 tickets[] = { 100, 100, 100, 300 };
	struct stage s;

	open_owned(t, &s, tickets, 4);
	act(t, &s, WAITER, ACT_LOCK_AND_SLEEP, 1);
	wait_for(t, &s, WAITER, 0);
	wait_for(t, &s, SECOND, 1);
	expect_tickets(t, &s, 600);
	expect_share(t, &s, OWNER, 500, 600);
	stage_close(t, &s);
}

/* The owner sleeps with the mutex: nobody has the tickets until it wakes up. */
static void owner_sleeps(struct ktap_case *t)
{
	static const u32 tickets[] = { 100, 100, 200 };
	struct stage s;

	stage_open(&s, tickets, 3);
	act(t, &s, OWNER, ACT_LOCK_AND_SLEEP, 0);
	act(t, &s, HOG, ACT_SPIN, 0);
	wait_for(t, &s, WAITER, 0);
	expect_tickets(t, &s, 100);
	act(t, &s, OWNER, ACT_SPIN, 0);
	expect_tickets(t, &s, 400);
	expect_share(t, &s, OWNER, 300, 400);
	stage_close(t, &s);
}

/* Many tickets wait for few, with some between them: an inversion. */
static void inversion(struct ktap_case *t)
{
	static const u32 tickets[] = { 1000, 10, 10000 };
	struct stage s;

	open_owned(t, &s, tickets, 3);
	wait_for(t, &s, WAITER, 0);
	expect_share(t, &s, OWNER, 10010, 11010);
	stage_close(t, &s);
}

static void switched_off(struct ktap_case *t)
{
	static const u32 tickets[] = { 1000, 10, 10000 };
	struct stage s;

	lottery_switch("transfers", false);
	open_owned(t, &s, tickets, 3);
	wait_for(t, &s, WAITER, 0);
	expect_tickets(t, &s, 1010);
	expect_share(t, &s, OWNER, 10, 1010);
	lottery_switch("transfers", true);
	stage_close(t, &s);
}

void lend_locks(struct ktap *k)
{
	static const struct ktap_test tests[] = {
		{ "a lottery task owns it", lottery_owner },
		{ "a fair task owns it", fair_owner },
		{ "many wait", many_waiters },
		{ "the next owner", next_owner },
		{ "a chain", chain_of_owners },
		{ "the owner sleeps", owner_sleeps },
		{ "inversion", inversion },
		{ "inversion without transfers", switched_off },
	};

	ktap_group(k, "locks", tests, ARRAY_SIZE(tests));
}

/* SPDX-License-Identifier: GPL-2.0 */
/* lend.h - lottery-lend: what tasks that are blocked do with their tickets. */
#ifndef LOTTERY_LEND_H
#define LOTTERY_LEND_H

#include <pthread.h>

#include "crew.h"
#include "ktap.h"
#include "lottery_loan.h"

/* To do a small thing: far above what a slow machine needs. */
#define LEND_WAIT_NS	(30 * NSEC_PER_SEC)

#define ACTORS_MAX	12U
#define MUTEXES		3U

struct lend {
	u32 cpu;
	u32 other_cpu;		/* the same where there is only one */
	u64 window_ns;		/* for which shares are counted; 0: they are not */
};

extern struct lend lend;

/* What an actor does until it is told something else; it says when it is done. */
enum act {
	ACT_SLEEP,		/* it is blocked */
	ACT_SPIN,
	ACT_LOCK,		/* mutex @arg; then it spins */
	ACT_LOCK_AND_SLEEP,
	ACT_UNLOCK,		/* mutex @arg; then it spins */
	ACT_LEND,		/* as asked for; then it sleeps */
	ACT_REVOKE,		/* to pid @arg; then it sleeps */
	ACT_EXIT,
};

/* Some tasks with a will of their own, on lend.cpu. */
struct stage {
	struct crew crew;
	struct crew memory;	/* the mutexes are in its slots */
	pthread_mutex_t *mutex[MUTEXES];
	u64 others;		/* tickets in the pools before */
	u64 ran_ns[ACTORS_MAX];	/* in the last window */
};

/* @count actors that sleep; with tickets, but for those whose number is 0. */
void stage_open(struct stage *s, const u32 *tickets, unsigned int count);
/* Kill all, and wait until their tickets have left the pools. */
void stage_close(struct ktap_case *t, struct stage *s);

/* Tell an actor what to do and do not wait. */
void tell(struct stage *s, unsigned int i, enum act act, u64 arg);
/* The same, and wait until it has done it; for one that blocks until it is asleep. */
void act(struct ktap_case *t, struct stage *s, unsigned int i, enum act act, u64 arg);
void await_asleep(struct ktap_case *t, struct stage *s, unsigned int i);
void await_done(struct ktap_case *t, struct stage *s, unsigned int i);
/* A loan from @i to actor @to. */
void act_lend(struct ktap_case *t, struct stage *s, unsigned int i, unsigned int to,
	      u32 tickets, u32 flags, u64 timeout_ns);

/* Let all do what they do for @ns; fills ran_ns. */
void pass(struct stage *s, u64 ns);
/*
 * Let all do what they do for a window; then actor @i must have had @tickets of
 * @total of what lottery turns were worth, that is, of the time of all actors.
 */
void expect_share(struct ktap_case *t, struct stage *s, unsigned int i, u32 tickets,
		  u32 total);
/* The pools must come to hold this many tickets of the actors. */
void expect_tickets(struct ktap_case *t, const struct stage *s, u64 tickets);

/* The groups of tests, each a subtest of @k. */
#define LEND_GROUPS	4U
void lend_refusals(struct ktap *k);
void lend_named(struct ktap *k);
void lend_locks(struct ktap *k);
void lend_ends(struct ktap *k);

#endif /* LOTTERY_LEND_H */

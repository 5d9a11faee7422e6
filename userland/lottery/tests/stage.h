/* SPDX-License-Identifier: GPL-2.0 */
/* stage.h - tasks that do what they are told, and what they get. */
#ifndef LOTTERY_STAGE_H
#define LOTTERY_STAGE_H

#include <pthread.h>

#include "crew.h"
#include "ktap.h"
#include "lottery_sched.h"

/* To do a small thing: far above what a slow machine needs. */
#define STAGE_WAIT_NS	(30 * NSEC_PER_SEC)

#define ACTORS_MAX	12U

/* The user ID of a caller without a privilege. */
#define NOBODY		65534U
#define MUTEXES		3U

struct theatre {
	u32 cpu;
	u32 other_cpu;		/* the same where there is only one */
	u64 window_ns;		/* for which shares are counted */
	double slack;		/* beside chance, for what else there is on the CPU */
};

extern struct theatre theatre;

/* Its options, for a test program that has no others. */
void theatre_parse(int argc, char **argv, const char *usage, u32 window_ms);
/* The first CPU, and another one if there is; the caller is bound to the first. */
void theatre_open(void);

/* What an actor does until it is told something else; it says when it is done. */
enum act {
	ACT_SLEEP,		/* it is blocked */
	ACT_SPIN,
	ACT_LOCK,		/* mutex @arg; then it spins */
	ACT_LOCK_AND_SLEEP,
	ACT_UNLOCK,		/* mutex @arg; then it spins */
	ACT_LEND,		/* as asked for; then it sleeps */
	ACT_REVOKE,		/* to pid @arg; then it sleeps */
	ACT_CURRENCY,		/* its process is one, backed by @arg; then it spins */
	ACT_INFLATE,		/* to @arg tickets; then it spins */
	ACT_UNPRIVILEGED,	/* from now on; then it spins */
	ACT_FORK,		/* another one that spins; then it spins */
	ACT_EXIT,
};

/* Some tasks with a will of their own, on theatre.cpu. */
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

/* A call, which has returned @got, is refused with @error, or taken if that is 0. */
void expect_error(struct ktap_case *t, const char *what, long got, int error);

/* Let all do what they do for @ns; fills ran_ns. */
void pass(struct stage *s, u64 ns);
/*
 * Let all do what they do for a window; then actor @i must have had @tickets of
 * @total of what lottery turns were worth, that is, of the time of all actors.
 */
void expect_share(struct ktap_case *t, struct stage *s, unsigned int i, u32 tickets,
		  u32 total);
/* The same of all time on one CPU, with tasks that are no actors. */
void expect_part_of_cpu(struct ktap_case *t, struct stage *s, unsigned int i, u32 tickets,
			u32 total);
/* The pools must come to hold this many tickets of the actors. */
void expect_tickets(struct ktap_case *t, const struct stage *s, u64 tickets);

#endif /* LOTTERY_STAGE_H */

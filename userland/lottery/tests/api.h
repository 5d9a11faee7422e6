/* SPDX-License-Identifier: GPL-2.0 */
/* api.h - lottery-api: what the class's interface refuses, takes and does. */
#ifndef LOTTERY_API_H
#define LOTTERY_API_H

#include "crew.h"
#include "ktap.h"
#include "lottery_proc.h"
#include "lottery_sched.h"
#include "types.h"

/* For a child to do a small thing: far above what a slow machine needs. */
#define API_WAIT_NS	(30 * NSEC_PER_SEC)

struct api {
	u32 cpu;		/* everything runs here */
	u64 tick_ns;
	u64 reads;		/* of /proc/sched_lottery in a row */
	bool sysrq;		/* may set every task of the machine to SCHED_OTHER */
};

extern struct api api;

/* api_common.c: the task that a test works on, a hog that sleeps at first */
struct subject {
	struct crew crew;
	pid_t pid;
	u64 others;		/* tickets in all pools before it was runnable */
	bool awake;		/* released, so that it is or was in a pool */
};

/*
 * Wait until the pools hold @tickets: what a task does to itself, stop or exit,
 * takes it a moment longer than its parent needs to hear of it.
 */
bool await_pools(u64 tickets);

void subject_start(struct subject *s);
/* Make it a lottery task; exits with EXIT_FAILED when that fails. */
void subject_join(struct subject *s, u32 tickets, u64 quantum_ns);
/* Make it runnable: its tickets count from now on. */
void subject_wake(struct subject *s);
void subject_end(struct subject *s);

/* The tickets that it adds to the pools now. */
u64 subject_tickets(const struct subject *s);

/* Its attributes; fails the test and returns zeros when they cannot be read. */
struct lottery_attr attr_now(struct ktap_case *t, pid_t pid);

/* Fail the test unless @pid is in the class with these. */
void expect_lottery(struct ktap_case *t, pid_t pid, u32 tickets, u64 quantum_ns);

/* Fail the test unless the task's part of the pools' tickets is that. */
void expect_pool(struct ktap_case *t, const struct subject *s, u64 tickets);

/* All that the system calls tell of a task. */
struct snapshot {
	struct lottery_attr attr;
	int policy;		/* with SCHED_RESET_ON_FORK */
	int priority;
	int nice;
	u64 quantum_ns;
	u64 tickets;		/* in all pools */
};

struct snapshot snapshot_of(pid_t pid);
bool snapshot_same(const struct snapshot *a, const struct snapshot *b);

/* A pid that no task has: of a child that has been reaped. */
pid_t dead_pid(void);

/* What sched_rr_get_interval(2) says in ns; 0 on error. */
u64 rr_interval_ns(pid_t pid);

/*
 * Run @fn in a child that has first joined the class (unless @tickets is 0) and
 * then given up its privileges. Returns what @fn returned, -1 when the child
 * did not come that far. With API_DERIVED it joins without tickets of its own, and
 * RLIMIT_NICE would let it have any nice value.
 */
#define API_DERIVED	(~0U)

enum drop {
	DROP_CAPABILITY,	/* CAP_SYS_NICE only, still root */
	DROP_USER,		/* become nobody */
};

int unprivileged(enum drop how, u32 tickets, int (*fn)(const void *arg), const void *arg);

/*
 * What the test of exec execs: this program, which then waits for the end of
 * its standard input.
 */
#define API_WAIT_VERB	"--wait-for-end-of-input"
int api_wait_verb(void);

/* api_boost.c: two of the effects */
void api_boost(struct ktap_case *t);
void api_boost_and_change(struct ktap_case *t);

/* The groups of tests, each a subtest of @k. */
#define API_REFUSAL_GROUPS	4U
void api_refusals(struct ktap *k);
void api_acceptances(struct ktap *k);
void api_inheritance(struct ktap *k);
void api_effects(struct ktap *k);
void api_proc(struct ktap *k);

#endif /* LOTTERY_API_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mutex.h - lottery-mutex: who gets a mutex that all want, how often and how soon.
 *
 * Each task takes the mutex, works, releases it, works, and so on (Waldspurger and Weihl,
 * OSDI 1994, section 6.1). In groups of as many tasks each has the tickets of its group.
 *
 * What to expect. A draw is won by a task with the probability p = its tickets / those of
 * all that took part, and the winner knows who did. So the wins of a task are compared
 * with the sum of its p over all draws, and their variance with the sum of p (1 - p),
 * whatever the scheduler did and whoever happened to be waiting: wins minus p is a
 * martingale. That is exact and is what a test judges.
 *
 * Of acquisitions, that is not the ratio of the tickets, because who has just released
 * the mutex is not among its waiters. Where all others are, always, draws are a Markov
 * chain: after i, task j wins with t_j / (T - t_i), T being the tickets of all. Task i
 * then has the mutex in proportion to t_i (T - t_i): with these, t_i / (T - t_i) times
 * what i has and t_j / (T - t_j) times what j has are such that as many changes go from
 * i to j as from j to i. For 2:1 and n tasks in each group the ratio is
 * 2 (1 - 1 / (3n - 1)): 1.818 for 8 tasks, within 5 % of 2 from 14 tasks on. This is
 * the full ratio. Where tasks are away for longer fewer take part, and it is further from
 * 2, if all are away for as long: tasks that get more of a CPU for their tickets are
 * back sooner, which moves it the other way.
 */
#ifndef LOTTERY_MUTEX_EXPERIMENT_H
#define LOTTERY_MUTEX_EXPERIMENT_H

#include <pthread.h>

#include "args.h"
#include "lottery_mutex.h"
#include "types.h"

#define MUTEX_TASKS_MAX		256U
#define MUTEX_GROUPS_MAX	8U

enum mutex_kind {
	MUTEX_USER,
	MUTEX_PTHREAD,
};

extern const char *const mutex_kinds[];

struct contest {
	enum mutex_kind kind;
	unsigned int policy;	/* the index in mutex_policies */
	const char *ratio;	/* as given, "2:1" */
	u32 tickets[MUTEX_GROUPS_MAX];
	u32 groups;
	u32 tasks;
	u64 hold_ns;
	u64 compute_ns;
	u32 seconds;
	u32 cpu;
	bool spread;		/* over all CPUs that are allowed */
	enum output output;
};

#define MUTEX_POLICY_LOTTERY	0U
extern const char *const mutex_policies[];

/* Of a task, or of a group of them. */
struct tally {
	u64 acquired;
	u64 won;		/* of these, in a draw */
	double expected;	/* of won */
	double variance;
	u64 wait_ns;		/* for all that it acquired */
	u64 longest_ns;
};

/* What the tasks share. All of it is read and written under the mutex. */
struct arena {
	pthread_mutex_t plain;
	struct lottery_mutex *lottery;
	u64 held;		/* counted, but not by atomic increments: see take_part() */
	struct tally task[MUTEX_TASKS_MAX];
	struct tally group[MUTEX_GROUPS_MAX];
};

/* Tasks of a group follow each other. */
static inline u32 group_of(const struct contest *c, u32 task)
{
	return task / (c->tasks / c->groups);
}

/* Run it. Exits with EXIT_FAILED when a task does not end. */
void contest_run(const struct contest *c, struct arena *arena);

/* The exit code. */
int contest_report(const struct contest *c, const struct arena *arena);

#endif /* LOTTERY_MUTEX_EXPERIMENT_H */

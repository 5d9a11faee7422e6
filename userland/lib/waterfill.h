/* SPDX-License-Identifier: GPL-2.0 */
/*
 * waterfill.h - what tickets buy of several CPUs: the share of each task when
 * all of them want to run.
 *
 * No task can use more than one CPU. One that holds more tickets than that is
 * worth gets one CPU, and the others share the rest by their tickets: Chandra,
 * Adler, Goyal, Shenoy, "Surplus Fair Scheduling" (OSDI 2000), call it
 * generalized multiprocessor sharing. Here tasks may also be bound to some of
 * the CPUs. The shares are then weighted max-min fair: a task's share per
 * ticket can grow only at the cost of a task whose share per ticket is no
 * greater.
 */
#ifndef LAB_WATERFILL_H
#define LAB_WATERFILL_H

#include "types.h"

/* Different sets of CPUs among the tasks of one call. */
#define WATERFILL_SETS_MAX	256U

struct waterfill_task {
	u64 cpus;	/* a bit for each CPU that it may use */
	u32 tickets;	/* 1..1000000, or 0: it does not take part */
	double share;	/* the result, in CPUs: 0..1 */
};

/*
 * Fill in the shares of @count tasks (at most 2^32) on the CPUs of @cpus, a bit
 * each. A task that may use none of them has 0. The sum is what the tasks can
 * use, at most the number of CPUs; exact to 1e-6. False, and no share is filled
 * in, when there are more than WATERFILL_SETS_MAX different sets of CPUs.
 */
bool waterfill(struct waterfill_task *tasks, size_t count, u64 cpus);

#endif /* LAB_WATERFILL_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * progress.h - how far hogs with work of their own have come, look by look.
 *
 * The launcher is SCHED_FIFO on the hogs' CPU: while it looks, none of them runs.
 */
#ifndef LOTTERY_PROGRESS_H
#define LOTTERY_PROGRESS_H

#include "crew.h"
#include "types.h"

#define PROGRESS_TASKS_MAX	16U

struct progress {
	struct crew crew;
	u32 cpu;
	u32 seconds;		/* from the first look to the last */
	u32 look_ms;		/* from one look to the next */
	bool json;
};

/* The options --seconds and --look-ms, for both the same. */
u32 seconds_argument(const char *text);
u32 look_argument(const char *text);

/* Exits with EXIT_USAGE when there is no time for three looks. */
void progress_check(const struct progress *p);

/*
 * Start @count tasks on the CPU, as lottery tasks with @tickets each. They rest, if
 * @fn ends in hog_work(), until hog_wake(). The caller becomes SCHED_FIFO.
 */
void progress_start(struct progress *p, unsigned int count, CREW_FN((*fn)), const void *arg,
		    const u32 *tickets);

/* What is done at each look: number @look, @ms after the first one, which is 0. */
typedef void progress_look(struct progress *p, unsigned int look, u64 ms, const void *arg);

/* Call @at for each look, wait in between. */
void progress_run(struct progress *p, progress_look *at, const void *arg);

/* The number of the last look. */
unsigned int progress_last(const struct progress *p);

/* End all tasks; false when one of them did not exit with 0. */
bool progress_end(struct progress *p);

#endif /* LOTTERY_PROGRESS_H */

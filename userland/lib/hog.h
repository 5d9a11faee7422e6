/* SPDX-License-Identifier: GPL-2.0 */
/* hog.h - children that want the CPU for ever, and sleep when they are told to. */
#ifndef LAB_HOG_H
#define LAB_HOG_H

#include "crew.h"

#define HOGS_MAX	64U

/* A piece of a hog's work; @slot is the hog's, whose free fields are for this. */
typedef void hog_piece(struct crew_slot *slot, void *arg);

/*
 * Work piece by piece for ever, for the end of a CREW_FN. Keeps rounds (pieces that
 * are done), look_ns and work_ns of its slot up to date; rests while its slot's rest
 * is 1; yields whenever it has run for its slot's yield_ns, if that is not 0; returns
 * 0 when the page's stop is 1.
 */
int hog_work(struct crew *crew, unsigned int i, hog_piece *piece, void *arg);

/* A CREW_FN whose work is good for nothing, in pieces of a microsecond or so. */
CREW_FN(hog);

/*
 * Ask hog @i to sleep and wait until it does; false when it has not after
 * @timeout_ns. hog_wake() lets it go on.
 */
bool hog_rest(struct crew *crew, unsigned int i, u64 timeout_ns);
void hog_wake(struct crew *crew, unsigned int i);

/*
 * The CPU time of the hog with this pid and slot, @cpu_ns, and without the time
 * in which the machine stood still. Exact to a step while the hog is not running.
 */
u64 hog_work_ns(const struct crew_slot *slot, u64 cpu_ns);

/*
 * Start @hogs of them beside what is measured, if any: as SCHED_OTHER or, if @tickets
 * is not 0, each as a lottery task with @tickets tickets; then the caller becomes
 * SCHED_FIFO, or it could not end them. Exits where that is not to be had.
 */
void hogs_start(struct crew *crew, u32 hogs, u32 tickets);
void hogs_stop(struct crew *crew);

#endif /* LAB_HOG_H */

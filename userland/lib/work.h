/* SPDX-License-Identifier: GPL-2.0 */
/* work.h - compute-bound work measured in CPU time. */
#ifndef LAB_WORK_H
#define LAB_WORK_H

#include "types.h"

/* Spend about 1 us (emulated on a busy host: up to 100 us) on nothing. */
void spin_a_little(void);

/*
 * Tells work from the time in which the machine under the guest stood still. A
 * thread's own CPU clock moves by small steps between two looks of a busy
 * thread; a great step means that the virtual CPU was not running, and no
 * lottery was held in it. Such a step counts as an ordinary one.
 */
struct work_watch {
	u64 look_ns;		/* CPU clock at the last look */
	u64 work_ns;		/* since work_begin() */
};

/*
 * Far above one spin, and above a tick with a switch between tasks on a kernel that
 * checks itself: who is switched in often must not lose that time.
 */
#define STALL_STEP_NS	(4 * NSEC_PER_MSEC)
#define ORDINARY_STEP_NS	(50 * NSEC_PER_USEC)

static inline u64 work_of_step(u64 step_ns)
{
	return step_ns < STALL_STEP_NS ? step_ns : ORDINARY_STEP_NS;
}

void work_begin(struct work_watch *w);
void work_look(struct work_watch *w);

/* Spend @ns of the calling thread's CPU time on work. */
void work_for_ns(u64 ns);

#endif /* LAB_WORK_H */

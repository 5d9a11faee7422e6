/* SPDX-License-Identifier: GPL-2.0 */
/*
 * pace.h - the controller of a worker: the time to sleep until before a deadline. It
 * knows no clock either.
 *
 * Deadlines are absolute, so that delays do not add up; but the kernel wakes the worker
 * late. The controller measures by how much, and asks to be woken earlier by that. If it
 * is then awake too early, it spins until the deadline, which must stay cheap.
 */
#ifndef UDPRATE_PACE_H
#define UDPRATE_PACE_H

#include "types.h"

#define SPIN_MAX_US	1000U
#define SPIN_AUTO_NS	50000U		/* the most that is spun without --spin */
#define SPIN_AUTO_PART	50U		/* and not more than this part of the time */

struct pace {
	u64 spin_ns;		/* the most that is spun */
	u64 early_ns;		/* how much before a deadline to be woken */
	u64 woken_ns;		/* when that was asked for */
};

/* @spin_ns: of one deadline; they are @period_ns apart. */
void pace_init(struct pace *p, u64 spin_ns);
u64 pace_auto_spin(u64 period_ns);

/* Until when to sleep for @due_ns: not at all if that is not after now. */
u64 pace_sleep_until(struct pace *p, u64 due_ns);

/* The sleeper is back at @now_ns; learn from it. */
void pace_woke(struct pace *p, u64 now_ns);

#endif /* UDPRATE_PACE_H */

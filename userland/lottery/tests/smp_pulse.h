/* SPDX-License-Identifier: GPL-2.0 */
/*
 * smp_pulse.h - lottery-smp: hogs that know how long they did not run, and a
 * real-time task that takes a CPU from them.
 *
 * The launcher sleeps while something is measured: each time that it runs, it makes
 * the class look for another CPU for the task that it preempts.
 */
#ifndef LOTTERY_SMP_PULSE_H
#define LOTTERY_SMP_PULSE_H

#include "smp.h"

/*
 * A CREW_FN, a hog. In its slot: value is the longest time between two looks at the
 * clock since mark was changed, guard tells the mark that this is of and its CPU,
 * finish_ns is the last look, look_ns its CPU time at that.
 */
CREW_FN(pulse);

/* Forget the gaps of all of the first @count. */
void pulse_reset(struct crew *crew, unsigned int count);

/* The longest gap since then [ns], the one that it may be in now included. */
u64 pulse_gap(const struct crew *crew, unsigned int i);

/* Its CPU time when it looked last [ns]: exact, wherever it runs. */
u64 pulse_ran_ns(const struct crew *crew, unsigned int i);

/* Where it was when it looked last. */
u32 pulse_cpu(const struct crew *crew, unsigned int i);

/* An intrusion reads the times of all hogs at most so often. */
#define INTRUSION_LOOKS	4U

/* A SCHED_FIFO hog comes to a CPU, without the launcher's help, and leaves again. */
struct intrusion {
	u64 come_ns;				/* CLOCK_MONOTONIC */
	unsigned int looks;
	u64 look_after_ns[INTRUSION_LOOKS];	/* it came; it leaves with the last */
	/* filled in */
	unsigned int displaced;			/* the hog that was there, or their count */
	u64 looked_ns[INTRUSION_LOOKS];
	u64 ran_ns[INTRUSION_LOOKS][HERD_MAX];	/* CPU time of each of the herd */
};

/* Add an intruder, for @cpu, to a herd before its release; it sleeps at first. */
struct intrusion *intruder_add(struct herd *h, u32 cpu);

/*
 * Put each of the herd on its CPU, the first on the first ..., let all run everywhere,
 * and let it come; returns when it has left. Gaps are counted from before it comes.
 * Fails the test when it does not come.
 */
bool intrude(struct ktap_case *t, struct herd *h, struct intrusion *in);

void intruder_free(struct intrusion *in);

/* What task @i got between two looks, in parts of a CPU. */
double intrusion_share(const struct intrusion *in, unsigned int from, unsigned int to,
		       unsigned int i);

#endif /* LOTTERY_SMP_PULSE_H */

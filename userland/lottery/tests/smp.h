/* SPDX-License-Identifier: GPL-2.0 */
/* smp.h - lottery-smp: turns and shares of several CPUs. */
#ifndef LOTTERY_SMP_H
#define LOTTERY_SMP_H

#include "crew.h"
#include "ktap.h"
#include "types.h"

#define SMP_CPUS	4U

/* To start and to exit. */
#define SMP_WAIT_NS	(60 * NSEC_PER_SEC)

struct smp {
	u64 mask;			/* the CPUs of the tests */
	unsigned int count;
	u32 cpu[SMP_CPUS];
	u32 seconds;			/* of the longer tests */
	u64 tick_ns;
	bool hotplug;
};

extern struct smp smp;

/* smp_common.c: hogs that are lottery tasks */
#define HERD_MAX	64U

struct herd {
	struct crew crew;
	unsigned int count;
	u32 tickets[HERD_MAX];
	u64 others;		/* tickets in the pools before */
};

void herd_create(struct herd *h);
/* Put another hog, allowed on @mask, to those that wait for the release. */
void herd_add(struct herd *h, u32 tickets, u64 mask);
/* The same with work of another kind; its index. */
unsigned int herd_add_fn(struct herd *h, CREW_FN((*fn)), const void *arg, u32 tickets,
			 u64 mask);
void herd_release(struct herd *h);
/* A SCHED_FIFO task that is bound to @cpu and begins at crew_release(). */
void fifo_start(struct crew *crew, CREW_FN((*fn)), u32 cpu);
/* Kill all and wait until they have left the pools, too. */
void herd_destroy(struct herd *h);

/* The groups of tests, each a subtest of @k. */
void smp_turns(struct ktap *k);
void smp_displaced(struct ktap *k);
void smp_shares(struct ktap *k);

/* What is measured in two of them, as JSON. */
void smp_displaced_json(void);
void smp_shares_json(void);

/* A task of a case, or a round of it: what it was due and got of a CPU [%]. */
void smp_json(const char *name, unsigned int task, u32 tickets, double due_pct,
	      double got_pct);

/* 0 or -errno. */
int smp_set_online(u32 cpu, bool online);
bool smp_can_unplug(u32 cpu);

/* Bring every CPU of the tests online again. */
void smp_online_all(void);

#endif /* LOTTERY_SMP_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* lottery_proc.h - /proc/sched_lottery and its sysctl. */
#ifndef LAB_LOTTERY_PROC_H
#define LAB_LOTTERY_PROC_H

#include "affinity.h"
#include "types.h"

/* What tests on the host have elsewhere. */
#ifndef LOTTERY_PROC
#define LOTTERY_PROC	"/proc/sched_lottery"
#endif
/* What they begin with; followed by stats, compensation or low_variance. */
#define LOTTERY_SYSCTLS	"/proc/sys/kernel/sched_lottery_"

/* Longer than the file of the greatest machine that is supported. */
#define LOTTERY_PROC_SIZE	(64 + CPUS_MAX * 320)

enum lottery_op {
	LOTTERY_ENQUEUE,
	LOTTERY_DEQUEUE,
	LOTTERY_DRAW,
	LOTTERY_OPS,
};

struct lottery_cpu {
	u32 cpu;
	char pool[16];
	u64 tasks;
	u64 tickets;		/* of all tasks in the pool, the running one too */
	u64 lotteries;
	struct {		/* when statistics are on, else 0 */
		u64 count;
		u64 ns;
	} op[LOTTERY_OPS];
};

struct lottery_state {
	u64 tick_ns;
	bool stats;
	unsigned int cpus;
	struct lottery_cpu cpu[CPUS_MAX];
};

/* Read and parse the file; exits with EXIT_FAILED when that cannot be done. */
void lottery_read(struct lottery_state *state);

/* The line of a CPU, NULL when there is none (offline). */
const struct lottery_cpu *lottery_find(const struct lottery_state *state,
				       unsigned int cpu);

/* Sums over all CPUs. */
u64 lottery_tickets(const struct lottery_state *state);
u64 lottery_tasks(const struct lottery_state *state);
/*
 * The tickets in all pools now; a task that moves meanwhile can be in it twice or not.
 * Exits like lottery_read().
 */
u64 tickets_in_pools(void);

/* Switch kernel.sched_lottery_@name; exits with EXIT_FAILED when that cannot be done. */
void lottery_switch(const char *name, bool on);

/* @quantum_ns (0: default) in whole ticks, as the kernel rounds it. */
u64 lottery_quantum(const struct lottery_state *state, u64 quantum_ns);

/* Lotteries held on a CPU since it booted; exits with EXIT_FAILED like lottery_read(). */
u64 lottery_count(unsigned int cpu);

/*
 * By how many standard deviations chance may move a result. A run of the tests makes
 * a few hundred such comparisons in real time: chance fails one run in 5,000 or so,
 * while four deviations would fail one in a hundred.
 */
#define LOTTERY_SIGMAS	5.0

/*
 * Below this variance (in squared lotteries) the binomial is too skewed for such a bound
 * to mean what it says.
 */
#define LOTTERY_VARIANCE_MIN	25.0

/*
 * The quantum to reckon with in statistics, when tasks with quanta of
 * @quantum_ns shared @time_ns in @lotteries: the same, as long as the machine
 * could keep it. A machine under the guest that is short of time delivers ticks
 * late; quanta are then longer and of any length, and the double of their mean
 * allows for twice the variance.
 */
double lottery_effective_quantum(u64 quantum_ns, u64 time_ns, u64 lotteries);

#endif /* LAB_LOTTERY_PROC_H */

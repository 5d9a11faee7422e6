/* SPDX-License-Identifier: GPL-2.0 */
/* lottery_sched.h - the SCHED_LOTTERY ABI through the raw system calls. */
#ifndef LAB_LOTTERY_SCHED_H
#define LAB_LOTTERY_SCHED_H

#include <sched.h>
#include <sys/types.h>

#include "affinity.h"
#include "types.h"

#define SCHED_LOTTERY		76

#ifndef SCHED_DEADLINE
#define SCHED_DEADLINE		6
#endif

#ifndef SCHED_EXT
#define SCHED_EXT		7
#endif

#define LOTTERY_TICKETS_MAX	1000000U
#define LOTTERY_QUANTUM_MIN	100000ULL	/* ns */
#define LOTTERY_QUANTUM_MAX	1000000000ULL	/* ns */

#define ATTR_SIZE_VER2		64U

#define ATTR_RESET_ON_FORK	0x01ULL
#define ATTR_KEEP_POLICY	0x08ULL

/*
 * struct sched_attr with the tickets (VER2). A name of our own, because the C
 * library and the uapi headers of the build machine have older ones.
 */
struct lottery_attr {
	u32 size;
	u32 sched_policy;
	u64 sched_flags;
	s32 sched_nice;
	u32 sched_priority;
	u64 sched_runtime;	/* SCHED_LOTTERY: the quantum in ns, 0 = one tick */
	u64 sched_deadline;
	u64 sched_period;
	u32 sched_util_min;
	u32 sched_util_max;
	u32 sched_tickets;	/* 0 = derived from nice */
	u32 pad;
};

static_assert(sizeof(struct lottery_attr) == ATTR_SIZE_VER2, "the ABI's size");

/* The plain system calls: -1 and errno on error. */
int attr_set(pid_t pid, const struct lottery_attr *attr);
int attr_get(pid_t pid, struct lottery_attr *attr);

/* The attributes that make a task of nice @nice a lottery task. */
struct lottery_attr lottery_attr_of(u32 tickets, u64 quantum_ns, int nice);

/* Make @pid (0: the caller) a lottery task, its nice value kept. */
int lottery_join(pid_t pid, u32 tickets, u64 quantum_ns);

/* The tickets of a task that was given none: the kernel's weight of nice. */
u32 tickets_of_nice(int nice);

/*
 * The tickets of @pid (0: the caller): what it was given as a lottery task, else the
 * weight of its nice value, whatever its policy and on any kernel. 0 and errno on error.
 */
u32 tickets_of_task(pid_t pid);

/* The name of a policy number, NULL when it has no name. */
const char *policy_name(unsigned int policy);

/*
 * Try the class in a child. 0 when it can be joined, otherwise the errno:
 * EINVAL when the kernel lacks it, EPERM without CAP_SYS_NICE.
 */
int lottery_probe(void);

#define LOTTERY_MISSING \
	"this kernel lacks SCHED_LOTTERY (built without CONFIG_SCHED_LOTTERY)"
#define LOTTERY_DENIED	"SCHED_LOTTERY needs CAP_SYS_NICE (be root)"

/* Exit with one line, EXIT_UNSUPPORTED or EXIT_FAILED, unless it can be joined. */
void lottery_require(void);

/*
 * Raise the caller to SCHED_FIFO @priority so that lottery tasks cannot keep it
 * from launching the others; its children start as SCHED_OTHER. Exits with
 * EXIT_FAILED when not permitted.
 */
void become_launcher(int priority);

#define LAUNCHER_PRIORITY	50

/* /proc/sched_lottery and its sysctl. */

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

/* The line of a CPU, NULL when it is offline. */
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

/* Lending tickets: prctl(PR_LOTTERY). */

#define PR_LOTTERY		0x4c4f5454
#define PR_LOTTERY_LEND		0
#define PR_LOTTERY_REVOKE	1

#define LOTTERY_LOANS_MAX	8U

/* Not only until the lender wakes up next. */
#define LOAN_KEEP		0x1U

/* The kernel's struct prctl_lottery_loan. */
struct loan_ask {
	s32 pid;
	u32 tickets;		/* 0: all that the caller has */
	u32 flags;
	u32 pad;
	u64 timeout_ns;		/* 0: none */
};

/* From now on, whenever the caller is blocked: -1 and errno on error. */
int loan_make(const struct loan_ask *ask);
/* End the loans to @to, or all of them if it is 0: -1 and errno on error. */
int loan_end(pid_t to);

/* A process as a currency: prctl(PR_LOTTERY). */

#define PR_LOTTERY_CURRENCY	2

/* How many can be within each other: processes, and cgroups. */
#define LOTTERY_CURRENCIES_MAX	8U

/*
 * The caller's process, and what it forks from now on, share @tickets of the currency
 * that it is in now; if it has made one before, that is backed by @tickets instead.
 * With 0 it leaves all that it is in. -1 and errno on error.
 */
int currency_make(u32 tickets);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* lottery_sched.h - the SCHED_LOTTERY ABI through the raw system calls. */
#ifndef LAB_LOTTERY_SCHED_H
#define LAB_LOTTERY_SCHED_H

#include <sched.h>
#include <sys/types.h>

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

/* The name of a policy number, NULL when there is none. */
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

#endif /* LAB_LOTTERY_SCHED_H */

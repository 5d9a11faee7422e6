/* SPDX-License-Identifier: GPL-2.0 */
/* clock.h - time stamps in ns, sleeping, waiting for a condition. */
#ifndef LAB_CLOCK_H
#define LAB_CLOCK_H

#include <sys/types.h>
#include <time.h>

#include "types.h"

/* CLOCK_MONOTONIC in ns. */
u64 now_ns(void);

/* CPU time of the calling thread in ns. */
u64 thread_cpu_ns(void);

/*
 * CPU time of process @pid in ns, 0 when it is gone. Exact while the process
 * is not running; otherwise up to one tick old.
 */
u64 process_cpu_ns(pid_t pid);

struct timespec timespec_of(u64 ns);
u64 ns_of(const struct timespec *t);

/* Sleep until CLOCK_MONOTONIC shows @when_ns. */
void sleep_until_ns(u64 when_ns);

/*
 * Wait until @condition(@arg) holds. It is looked at again after 1 ms, then
 * ever more seldom, but every 20 ms, or, where a look costs much, such that the
 * looks take a sixteenth of the CPU: a real-time watcher that wakes all the time
 * would be a load itself. False when it does not hold after @timeout_ns.
 */
bool wait_until(bool (*condition)(void *arg), void *arg, u64 timeout_ns);

/* The CPU's own clock, and waiting without the kernel. */

#ifdef __x86_64__
/* What ran before is done when the clock is read, and what follows begins after it. */
static inline u64 tsc_now(void)
{
	unsigned int cpu;
	u64 now = __builtin_ia32_rdtscp(&cpu);

	__builtin_ia32_lfence();
	return now;
}

/* Tell the CPU that this is a loop that waits. */
static inline void cpu_relax(void)
{
	__builtin_ia32_pause();
}
#elif defined(__aarch64__)
/* The same: the counter of the generic timer, between barriers (Arm ARM, D12). */
static inline u64 tsc_now(void)
{
	u64 now;

	asm volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r" (now) : : "memory");
	return now;
}

static inline void cpu_relax(void)
{
	asm volatile("yield" : : : "memory");
}
#else
#error "this CPU's clock is not known: x86-64 and arm64 are"
#endif

struct tsc {
	double hz;		/* against CLOCK_MONOTONIC_RAW */
	u64 overhead;		/* median of two readings in a row, cycles */
	bool invariant;		/* the CPU says that its rate never changes */
};

/* Takes @ns. Exits with EXIT_UNSUPPORTED when an x86 CPU has no RDTSCP. */
void tsc_calibrate(struct tsc *tsc, u64 ns);

/* Compute-bound work measured in CPU time. */

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
 * checks itself: a task that is switched in often must not lose that time.
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

#endif

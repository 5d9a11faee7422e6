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

#endif /* LAB_CLOCK_H */

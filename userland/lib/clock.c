// SPDX-License-Identifier: GPL-2.0
/* clock.c - time stamps in ns, sleeping, waiting for a condition. */
#include <errno.h>

#include "clock.h"

#define PAUSE_MAX_NS	(20 * NSEC_PER_MSEC)
/* What a look that costs much is followed by, in times of its cost. */
#define REST		15U

u64 ns_of(const struct timespec *t)
{
	return (u64)t->tv_sec * NSEC_PER_SEC + (u64)t->tv_nsec;
}

static u64 read_clock(clockid_t id)
{
	struct timespec t;

	return clock_gettime(id, &t) ? 0 : ns_of(&t);
}

u64 now_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

u64 thread_cpu_ns(void)
{
	return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

u64 process_cpu_ns(pid_t pid)
{
	clockid_t id;

	if (clock_getcpuclockid(pid, &id))
		return 0;
	return read_clock(id);
}

struct timespec timespec_of(u64 ns)
{
	return (struct timespec){
		.tv_sec = (time_t)(ns / NSEC_PER_SEC),
		.tv_nsec = (long)(ns % NSEC_PER_SEC),
	};
}

void sleep_until_ns(u64 when_ns)
{
	struct timespec when = timespec_of(when_ns);

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, NULL) == EINTR)
		continue;
}

bool wait_until(bool (*condition)(void *arg), void *arg, u64 timeout_ns)
{
	u64 deadline = now_ns() + timeout_ns, pause_ns = NSEC_PER_MSEC;

	for (;;) {
		u64 cost_ns = thread_cpu_ns(), now;

		if (condition(arg))
			return true;
		cost_ns = thread_cpu_ns() - cost_ns;
		now = now_ns();
		if (now >= deadline)
			return false;
		cost_ns *= REST;
		sleep_until_ns(now + (cost_ns > PAUSE_MAX_NS ? cost_ns : pause_ns));
		if (pause_ns < PAUSE_MAX_NS)
			pause_ns += pause_ns / 4;
	}
}

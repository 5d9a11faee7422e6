// SPDX-License-Identifier: GPL-2.0
/* clock.c - time stamps in ns, sleeping, waiting for a condition. */
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

#include "args.h"
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

/* The CPU's own clock against the kernel's. */

#define TRIES		101U

struct reading {
	u64 ns;
	u64 cycles;
};

static u64 raw_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (u64)t.tv_sec * NSEC_PER_SEC + (u64)t.tv_nsec;
}

/* Both clocks at once: of some tries the one with the least in between. */
static struct reading read_both(void)
{
	u64 best = ~0ULL;
	struct reading r = { 0 };
	unsigned int i;

	for (i = 0; i < TRIES; i++) {
		u64 before = tsc_now(), ns = raw_ns(), after = tsc_now();

		if (after - before < best) {
			best = after - before;
			r = (struct reading){ ns, before + (after - before) / 2 };
		}
	}
	return r;
}

static int compare(const void *left, const void *right)
{
	u64 a = *(const u64 *)left, b = *(const u64 *)right;

	return (a > b) - (a < b);
}

static u64 measure_overhead(void)
{
	u64 cycles[TRIES];
	unsigned int i;

	for (i = 0; i < TRIES; i++) {
		u64 before = tsc_now();

		cycles[i] = tsc_now() - before;
	}
	qsort(cycles, TRIES, sizeof(*cycles), compare);
	return cycles[TRIES / 2];
}

#ifdef __x86_64__
#define CPUID_POWER	0x80000007U
#define INVARIANT	8U
#define CPUID_EXTENDED	0x80000001U
#define RDTSCP		27U

static bool has(unsigned int leaf, unsigned int bit)
{
	unsigned int a, b, c, d;

	return __get_cpuid(leaf, &a, &b, &c, &d) && d >> bit & 1;
}

static void require_clock(void)
{
	if (!has(CPUID_EXTENDED, RDTSCP))
		die(EXIT_UNSUPPORTED, "this CPU has no RDTSCP");
}

static bool is_invariant(void)
{
	return has(CPUID_POWER, INVARIANT);
}
#else
/* Every arm64 CPU has its counter, and programs may read it. */
static void require_clock(void) { }

/* It never changes its rate (Arm ARM, D12.1). */
static bool is_invariant(void)
{
	return true;
}
#endif

void tsc_calibrate(struct tsc *tsc, u64 ns)
{
	struct reading from, to;

	require_clock();
	from = read_both();
	sleep_until_ns(now_ns() + ns);
	to = read_both();
	tsc->hz = (double)(to.cycles - from.cycles) * NSEC_PER_SEC / (double)(to.ns - from.ns);
	tsc->overhead = measure_overhead();
	tsc->invariant = is_invariant();
}

/* Compute-bound work measured in CPU time. */

#define SPIN_ROUNDS	500

void spin_a_little(void)
{
	unsigned int i;

	for (i = 0; i < SPIN_ROUNDS; i++)
		asm volatile("" : "+r"(i));
}

void work_begin(struct work_watch *w)
{
	w->look_ns = thread_cpu_ns();
	w->work_ns = 0;
}

void work_look(struct work_watch *w)
{
	u64 now = thread_cpu_ns(), step = now - w->look_ns;

	w->work_ns += work_of_step(step);
	w->look_ns = now;
}

void work_for_ns(u64 ns)
{
	struct work_watch watch;

	work_begin(&watch);
	while (watch.work_ns < ns) {
		spin_a_little();
		work_look(&watch);
	}
}

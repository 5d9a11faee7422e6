// SPDX-License-Identifier: GPL-2.0
/* tsc.c - the CPU's own clock against the kernel's. */
#include <stdlib.h>
#include <time.h>

#ifdef __x86_64__
#include <cpuid.h>
#endif

#include "args.h"
#include "clock.h"
#include "tsc.h"

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

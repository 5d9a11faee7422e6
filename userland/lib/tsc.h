/* SPDX-License-Identifier: GPL-2.0 */
/* tsc.h - the CPU's own clock, and waiting without the kernel. */
#ifndef LAB_TSC_H
#define LAB_TSC_H

#include "types.h"

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

#endif /* LAB_TSC_H */

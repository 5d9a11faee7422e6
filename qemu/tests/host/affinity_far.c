// SPDX-License-Identifier: GPL-2.0
/* affinity_far.c - which CPUs are allowed, on a machine with many. */
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "types.h"

static u64 allowed[128], bound[128];

static long pretend(long number, ...)
{
	size_t size;
	va_list args;
	u64 *mask;

	va_start(args, number);
	(void)va_arg(args, int);
	size = va_arg(args, size_t);
	mask = va_arg(args, u64 *);
	va_end(args);
	if (number == SYS_sched_getaffinity)
		memcpy(mask, allowed, size);
	else
		memcpy(bound, mask, size);
	return 0;
}

#define syscall	pretend
#include "../../../userland/lib/affinity.c"

/* Whether a process that may run on @cpu and on CPU 8191 finds both, and binds itself. */
bool finds(unsigned int cpu)
{
	unsigned int cpus[3] = { 0 };

	memset(allowed, 0, sizeof(allowed));
	allowed[cpu / 64] |= 1ULL << cpu % 64;
	allowed[127] |= 1ULL << 63;
	if (allowed_cpus(cpus, 3) != 2 || cpus[0] != cpu || cpus[1] != 8191)
		return false;
	memset(bound, 0, sizeof(bound));
	pin_to_cpu(cpu);
	return bound[cpu / 64] == 1ULL << cpu % 64;
}

// SPDX-License-Identifier: GPL-2.0
/* affinity.c - CPUs: which there are, and on which of them a task may run. */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "affinity.h"
#include "args.h"

/* Room for what a kernel can be built for: it refuses a shorter mask. */
#define MASK_WORDS	(CPU_NUMBERS_MAX / 64)

u64 affinity_of(pid_t pid)
{
	u64 mask[MASK_WORDS] = { 0 };

	if (syscall(SYS_sched_getaffinity, pid, sizeof(mask), mask) < 0)
		return 0;
	return mask[0];
}

int affinity_set(pid_t pid, u64 mask)
{
	if (syscall(SYS_sched_setaffinity, pid, sizeof(mask), &mask) < 0)
		return -errno;
	return 0;
}

unsigned int first_cpu(void)
{
	u64 mask = affinity_of(0);

	return mask ? (unsigned int)__builtin_ctzll(mask) : 0;
}

unsigned int count_cpus(u64 mask)
{
	return (unsigned int)__builtin_popcountll(mask);
}

unsigned int cpu_argument(const char *text)
{
	unsigned int cpu = (unsigned int)args_number("--cpu", text, 0, CPUS_MAX - 1);

	if (!(affinity_of(0) >> cpu & 1))
		die(EXIT_USAGE, "--cpu: bad value '%s': not online or not allowed", text);
	return cpu;
}

void cpu_option(const struct opt *row, const char *value)
{
	*(unsigned int *)row->to = cpu_argument(value);
}

void pin_to_cpu(unsigned int cpu)
{
	u64 mask[MASK_WORDS] = { 0 };

	mask[cpu / 64] = 1ULL << cpu % 64;
	if (syscall(SYS_sched_setaffinity, 0, sizeof(mask), mask) < 0)
		die(EXIT_FAILED, "cannot run on CPU %u: %s", cpu, strerror(errno));
}

unsigned int allowed_cpus(unsigned int *cpus, unsigned int room)
{
	u64 mask[MASK_WORDS] = { 0 };
	unsigned int cpu, count = 0;

	if (syscall(SYS_sched_getaffinity, 0, sizeof(mask), mask) < 0)
		die(EXIT_FAILED, "cannot tell which CPUs are allowed: %s", strerror(errno));
	for (cpu = 0; cpu < CPU_NUMBERS_MAX && count < room; cpu++)
		if (mask[cpu / 64] >> cpu % 64 & 1)
			cpus[count++] = cpu;
	return count;
}

// SPDX-License-Identifier: GPL-2.0
/* affinity.c - CPUs: which there are, and on which of them a task may run. */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "affinity.h"
#include "args.h"

u64 affinity_of(pid_t pid)
{
	u64 mask[CPUS_MAX] = { 0 };	/* room for a kernel with many CPUs */

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

void pin_to_cpu(unsigned int cpu)
{
	int error = affinity_set(0, 1ULL << cpu);

	if (error)
		die(EXIT_FAILED, "cannot run on CPU %u: %s", cpu, strerror(-error));
}

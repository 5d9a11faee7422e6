// SPDX-License-Identifier: GPL-2.0
/* torture_plug.c - lottery-torture: CPUs that come and go. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "affinity.h"
#include "args.h"
#include "clock.h"
#include "procfs.h"
#include "torture.h"

/* How long a CPU stays offline, and all stay online, at most. */
#define PAUSE_MAX_US	100000U

static void online_path(char *path, size_t size, u32 cpu)
{
	snprintf(path, size, "/sys/devices/system/cpu/cpu%u/online", cpu);
}

static int set_online(u32 cpu, bool online)
{
	char path[64];

	online_path(path, sizeof(path), cpu);
	return write_text(path, online ? "1" : "0");
}

u64 plug_mask(u64 cpus)
{
	char path[64];
	u64 mask = 0;
	u32 cpu;

	for (cpu = 0; cpu < CPUS_MAX; cpu++) {
		online_path(path, sizeof(path), cpu);
		if ((cpus >> cpu & 1) && !access(path, W_OK))
			mask |= 1ULL << cpu;
	}
	return mask;
}

void plug_online(u64 cpus)
{
	u32 cpu;

	for (cpu = 0; cpu < CPUS_MAX; cpu++)
		if (cpus >> cpu & 1)
			set_online(cpu, true);
}

static u32 random_cpu(struct random *r, u64 mask)
{
	u32 cpu;

	do
		cpu = random_below(r, CPUS_MAX);
	while (!(mask >> cpu & 1));
	return cpu;
}

static void pause_at_random(struct random *r)
{
	sleep_until_ns(now_ns() + random_below(r, PAUSE_MAX_US) * NSEC_PER_USEC);
}

/* In its slot: value counts the times, guard what went wrong. */
CREW_FN(plugger)
{
	const struct torture *x = arg;
	struct random random = { .state = ~x->seed };
	struct crew_slot *slot = &crew->page->slot[i];
	u64 mask = x->hotplug ? plug_mask(x->mask) : 0;

	while (mask && !load(&crew->page->stop)) {
		u32 cpu = random_cpu(&random, mask);
		int off = set_online(cpu, false);

		pause_at_random(&random);
		/* EBUSY: hotplug is disabled for the moment, or it is the last one */
		if ((off && off != -EBUSY) || set_online(cpu, true))
			store(&slot->guard, slot->guard + 1);
		store64(&slot->value, slot->value + 1);
		pause_at_random(&random);
	}
	plug_online(mask);
	return 0;
}

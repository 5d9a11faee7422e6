// SPDX-License-Identifier: GPL-2.0
/* smp_common.c - lottery-smp: hogs that are lottery tasks, and CPUs that are offline. */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "affinity.h"
#include "args.h"
#include "clock.h"
#include "crew.h"
#include "json.h"
#include "lottery_sched.h"
#include "procfs.h"
#include "smp.h"

struct smp smp;

void fifo_start(struct crew *crew, CREW_FN((*fn)), u32 cpu)
{
	struct sched_param param = { .sched_priority = 1 };

	crew_create(crew, 1);
	crew_fork(crew, fn, NULL);
	affinity_set(crew->pid[0], 1ULL << cpu);
	crew_gather(crew, SMP_WAIT_NS);
	if (sched_setscheduler(crew->pid[0], SCHED_FIFO, &param))
		die(EXIT_FAILED, "no SCHED_FIFO task: %s", strerror(errno));
}

void herd_create(struct herd *h)
{
	h->count = 0;
	h->others = tickets_in_pools();
	crew_create(&h->crew, HERD_MAX);
}

unsigned int herd_add_fn(struct herd *h, CREW_FN((*fn)), const void *arg, u32 tickets,
			 u64 mask)
{
	unsigned int i = crew_fork(&h->crew, fn, arg);
	int error = affinity_set(h->crew.pid[i], mask);

	if (error)
		die(EXIT_FAILED, "cannot bind task %u to the CPUs %#llx: %s", i + 1, mask,
		    strerror(-error));
	h->tickets[i] = tickets;
	h->count++;
	return i;
}

void herd_add(struct herd *h, u32 tickets, u64 mask)
{
	herd_add_fn(h, hog, NULL, tickets, mask);
}

void herd_release(struct herd *h)
{
	unsigned int i;

	crew_gather(&h->crew, SMP_WAIT_NS);
	for (i = 0; i < h->count; i++)
		crew_enlist(&h->crew, i, h->tickets[i], 0);
	crew_release(&h->crew);
}

static bool has_left(void *arg)
{
	const struct herd *h = arg;

	return tickets_in_pools() <= h->others;
}

/* A parent is told of an exit a little before the last dequeue. */
void herd_destroy(struct herd *h)
{
	crew_destroy(&h->crew);
	if (!wait_until(has_left, h, SMP_WAIT_NS))
		die(EXIT_FAILED, "%llu tickets in the pools when all tasks have ended",
		    tickets_in_pools());
}

static void online_path(char *path, size_t size, u32 cpu)
{
	snprintf(path, size, "/sys/devices/system/cpu/cpu%u/online", cpu);
}

int smp_set_online(u32 cpu, bool online)
{
	char path[64];

	online_path(path, sizeof(path), cpu);
	return write_text(path, online ? "1" : "0");
}

bool smp_can_unplug(u32 cpu)
{
	char path[64];

	online_path(path, sizeof(path), cpu);
	return !access(path, W_OK);
}

void smp_online_all(void)
{
	unsigned int i;

	for (i = 0; i < smp.count; i++)
		if (smp_can_unplug(smp.cpu[i]))
			smp_set_online(smp.cpu[i], true);
}

void smp_json(const char *name, unsigned int task, u32 tickets, double due_pct,
	      double got_pct)
{
	json_open();
	json_text("case", name);
	json_number("task", task);
	json_number("tickets", tickets);
	json_real("due_pct", due_pct);
	json_real("got_pct", got_pct);
	json_close();
}

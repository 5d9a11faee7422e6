// SPDX-License-Identifier: GPL-2.0
/* smp_common.c - lottery-smp: hogs that are lottery tasks. */
#include <errno.h>
#include <sched.h>
#include <string.h>

#include "affinity.h"
#include "args.h"
#include "clock.h"
#include "crew.h"
#include "json.h"
#include "lottery_sched.h"
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

bool smp_moved(bool (*holds)(void *arg), void *arg)
{
	return wait_until(holds, arg, bounds_on() ? SMP_MOVE_NS : SMP_WAIT_NS);
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

/* The rounds of all hogs at some time. */
struct marks {
	const struct herd *herd;
	u64 rounds[HERD_MAX];
};

static bool all_went_on(void *arg)
{
	const struct marks *m = arg;
	unsigned int i;

	for (i = 0; i < m->herd->count; i++)
		if (m->herd->crew.pid[i] &&
		    load64(&m->herd->crew.page->slot[i].rounds) == m->rounds[i])
			return false;
	return true;
}

bool expect_progress(struct ktap_case *t, struct herd *h)
{
	struct marks m = { .herd = h };
	unsigned int i;

	for (i = 0; i < h->count; i++)
		m.rounds[i] = load64(&h->crew.page->slot[i].rounds);
	if (smp_moved(all_went_on, &m))
		return true;
	for (i = 0; i < h->count; i++)
		expect(t, !h->crew.pid[i] ||
		       load64(&h->crew.page->slot[i].rounds) != m.rounds[i],
		       "task %u (pid %d, %u tickets) stands still", i + 1,
		       h->crew.pid[i], h->tickets[i]);
	return false;
}

u64 tasks_on(u32 cpu)
{
	const struct lottery_cpu *line;
	struct lottery_state state;

	lottery_read(&state);
	line = lottery_find(&state, cpu);
	return line ? line->tasks : 0;
}

static bool work_everywhere(void *arg)
{
	const struct lottery_cpu *line;
	struct lottery_state state;
	unsigned int i;

	(void)arg;
	lottery_read(&state);
	for (i = 0; i < smp.count; i++) {
		line = lottery_find(&state, smp.cpu[i]);
		if (!line || !line->tasks)
			return false;
	}
	return true;
}

bool every_cpu_has_work(void)
{
	return smp_moved(work_everywhere, NULL);
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

// SPDX-License-Identifier: GPL-2.0
/* hog.c - children that want the CPU for ever, and sleep when they are told to. */
#include <sched.h>

#include "clock.h"
#include "hog.h"
#include "lottery_sched.h"
#include "work.h"

#define START_NS	(60 * NSEC_PER_SEC)

static void rest(struct crew_slot *slot)
{
	futex_set(&slot->resting, 1);
	futex_await(&slot->rest, 0, 0);
	store(&slot->resting, 0);
}

int hog_work(struct crew *crew, unsigned int i, hog_piece *piece, void *arg)
{
	struct crew_slot *slot = &crew->page->slot[i];
	struct work_watch watch;
	u64 yielded = 0;

	work_begin(&watch);
	while (!load(&crew->page->stop)) {
		if (load(&slot->rest)) {
			rest(slot);
			continue;
		}
		piece(slot, arg);
		work_look(&watch);
		/* in this order: seen between the two, it is a step short */
		store64(&slot->look_ns, watch.look_ns);
		store64(&slot->work_ns, watch.work_ns);
		store64(&slot->rounds, slot->rounds + 1);
		if (load64(&slot->yield_ns) &&
		    watch.look_ns - yielded >= load64(&slot->yield_ns)) {
			sched_yield();
			yielded = watch.look_ns;
		}
	}
	return 0;
}

static void spin(struct crew_slot *slot, void *arg)
{
	(void)slot;
	(void)arg;
	spin_a_little();
}

CREW_FN(hog)
{
	(void)arg;
	return hog_work(crew, i, spin, NULL);
}

bool hog_rest(struct crew *crew, unsigned int i, u64 timeout_ns)
{
	struct crew_slot *slot = &crew->page->slot[i];
	u64 deadline = now_ns() + timeout_ns;

	store(&slot->rest, 1);
	return futex_await(&slot->resting, 1, deadline) &&
	       crew_asleep(crew, i, timeout_ns);
}

void hog_wake(struct crew *crew, unsigned int i)
{
	futex_set(&crew->page->slot[i].rest, 0);
}

u64 hog_work_ns(const struct crew_slot *slot, u64 cpu_ns)
{
	u64 work = load64(&slot->work_ns), look = load64(&slot->look_ns);

	return work + work_of_step(cpu_ns > look ? cpu_ns - look : 0);
}

void hogs_start(struct crew *crew, u32 hogs, u32 tickets)
{
	u32 i;

	*crew = (struct crew){ 0 };
	if (!hogs)
		return;
	if (tickets) {
		lottery_require();
		become_launcher(LAUNCHER_PRIORITY);
	}
	crew_create(crew, hogs);
	for (i = 0; i < hogs; i++)
		crew_fork(crew, hog, NULL);
	crew_gather(crew, START_NS);
	for (i = 0; tickets && i < hogs; i++)
		crew_enlist(crew, i, tickets, 0);
	crew_release(crew);
}

void hogs_stop(struct crew *crew)
{
	if (crew->page)
		crew_destroy(crew);
}

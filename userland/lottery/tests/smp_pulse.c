// SPDX-License-Identifier: GPL-2.0
/* smp_pulse.c - lottery-smp: hogs that look at the clock, and the task that displaces them. */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>

#include "affinity.h"
#include "args.h"
#include "clock.h"
#include "crew.h"
#include "smp_pulse.h"

/*
 * From the launcher's last word to the intruder's coming: long enough for the kernel
 * to forget the last one, so that it is not prepared.
 */
#define SETTLE_NS	(500 * NSEC_PER_MSEC)

static u32 guard_of(u32 mark, u32 cpu)
{
	return mark << 8 | cpu;
}

u32 pulse_cpu(const struct crew *crew, unsigned int i)
{
	return load(&crew->page->slot[i].guard) & 0xff;
}

CREW_FN(pulse)
{
	struct crew_slot *slot = &crew->page->slot[i];
	u64 last = now_ns(), longest = 0, now;
	u32 mark, seen = 0;

	(void)arg;
	while (!load(&crew->page->stop)) {
		mark = load(&slot->mark);
		now = now_ns();
		if (mark != seen)
			longest = 0;
		seen = mark;
		if (now - last > longest)
			longest = now - last;
		last = now;
		store64(&slot->value, longest);
		store(&slot->guard, guard_of(mark, (u32)sched_getcpu()));
		store64(&slot->look_ns, thread_cpu_ns());
		store64(&slot->finish_ns, now);
		store64(&slot->rounds, slot->rounds + 1);
	}
	return 0;
}

void pulse_reset(struct crew *crew, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		store(&crew->page->slot[i].mark, crew->page->slot[i].mark + 1);
}

u64 pulse_gap(const struct crew *crew, unsigned int i)
{
	const struct crew_slot *slot = &crew->page->slot[i];
	bool seen = load(&slot->guard) >> 8 == load(&slot->mark);
	u64 longest = seen ? load64(&slot->value) : 0;
	u64 last = load64(&slot->finish_ns), now = now_ns();

	return now > last && now - last > longest ? now - last : longest;
}

u64 pulse_ran_ns(const struct crew *crew, unsigned int i)
{
	return load64(&crew->page->slot[i].look_ns);
}

static void allow(struct ktap_case *t, struct herd *h, unsigned int i, u64 mask)
{
	int error = affinity_set(h->crew.pid[i], mask);

	expect(t, !error, "task %u: sched_setaffinity to %#llx: %s", i + 1, mask,
	       strerror(-error));
}

static void place(struct ktap_case *t, struct herd *h)
{
	unsigned int i;

	for (i = 0; i < h->count; i++)
		allow(t, h, i, 1ULL << smp.cpu[i]);
	for (i = 0; i < h->count; i++)
		allow(t, h, i, smp.mask);
}

/* Of the crew that the intruder is a member of; shared with its process. */
static struct intrusion *intrusion;

static void look_at_all(const struct crew *crew, unsigned int look)
{
	unsigned int i;

	intrusion->looked_ns[look] = now_ns();
	for (i = 0; i < HERD_MAX; i++)
		intrusion->ran_ns[look][i] = pulse_ran_ns(crew, i);
}

/* The hog that had the CPU that we have now. */
static unsigned int find_displaced(const struct crew *crew, unsigned int count)
{
	u32 here = (u32)sched_getcpu();
	unsigned int i;

	for (i = 0; i < count; i++)
		if (pulse_cpu(crew, i) == here)
			break;
	return i;
}

static CREW_FN(intruder)
{
	struct crew_slot *slot = &crew->page->slot[i];
	unsigned int look;
	u32 turn = 0;

	(void)arg;
	while (!load(&crew->page->stop)) {
		futex_await(&slot->rest, ++turn, 0);
		futex_set(&slot->resting, turn);
		sleep_until_ns(intrusion->come_ns);
		intrusion->displaced = find_displaced(crew, i);
		for (look = 0; look < intrusion->looks; look++) {
			u64 when = intrusion->come_ns + intrusion->look_after_ns[look];

			while (now_ns() < when)
				spin_a_little();
			look_at_all(crew, look);
		}
		futex_set(&slot->mark, turn);
	}
	return 0;
}

struct intrusion *intruder_add(struct herd *h, u32 cpu)
{
	struct sched_param param = { .sched_priority = 1 };
	pid_t pid;
	int error;

	intrusion = mmap(NULL, sizeof(*intrusion), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (intrusion == MAP_FAILED)
		die(EXIT_FAILED, "no memory: %s", strerror(errno));
	pid = h->crew.pid[crew_fork(&h->crew, intruder, NULL)];
	error = affinity_set(pid, 1ULL << cpu);
	if (error)
		die(EXIT_FAILED, "cannot bind a task to CPU %u: %s", cpu, strerror(-error));
	if (sched_setscheduler(pid, SCHED_FIFO, &param))
		die(EXIT_FAILED, "no SCHED_FIFO hog: %s", strerror(errno));
	return intrusion;
}

/*
 * It has the slot behind those of the herd, which does not count it. Its wakeup for its
 * task displaces a hog for a moment, so that places are given out afterwards.
 */
bool intrude(struct ktap_case *t, struct herd *h, struct intrusion *in)
{
	struct crew_slot *slot = &h->crew.page->slot[h->count];
	u32 turn = load(&slot->rest) + 1;
	u64 deadline = now_ns() + SMP_WAIT_NS;

	in->come_ns = now_ns() + SETTLE_NS;
	futex_set(&slot->rest, turn);
	if (!expect(t, futex_await(&slot->resting, turn, deadline) &&
		    crew_asleep(&h->crew, h->count, SMP_WAIT_NS),
		    "the SCHED_FIFO hog does not sleep"))
		return false;
	place(t, h);
	pulse_reset(&h->crew, h->count);
	return expect(t, futex_await(&slot->mark, turn, deadline),
		      "the SCHED_FIFO hog did not come and leave");
}

void intruder_free(struct intrusion *in)
{
	munmap(in, sizeof(*in));
}

double intrusion_share(const struct intrusion *in, unsigned int from, unsigned int to,
		       unsigned int i)
{
	double ran = (double)(in->ran_ns[to][i] - in->ran_ns[from][i]);

	return ran / (double)(in->looked_ns[to] - in->looked_ns[from]);
}

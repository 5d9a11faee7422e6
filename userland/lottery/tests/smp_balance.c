// SPDX-License-Identifier: GPL-2.0
/*
 * smp_balance.c - lottery-smp: the sums of tickets are the same on all CPUs,
 * as far as whole tasks allow it.
 *
 * The bound: the fullest and the emptiest CPU differ by no more than the
 * tickets of the greatest task. Placing one task after the other on the CPU
 * with the smallest sum keeps it, and while it is broken, moving any task from
 * the fullest to the emptiest CPU is a gain. A sixteenth of the mean sum comes
 * on top: what real-time tasks (such as the watcher) take of a CPU counts.
 */
#include <sched.h>

#include "affinity.h"
#include "args.h"
#include "clock.h"
#include "lottery_sched.h"
#include "procfs.h"
#include "smp.h"

#define HOGS_PER_CPU	8U
#define TICKETS_LOW	100U
#define TICKETS_HIGH	1000U

/* A real-time task of the kernel may be where it should wake. */
#define WAKE_UPS		20U
#define WAKE_UPS_ELSEWHERE	2U

/* What the sums of all CPUs are at a moment. */
struct sums {
	u64 lowest;
	u64 highest;
	u64 total;
	u64 wanted;		/* of the total: all are in the pools */
	u64 bound;		/* of their difference */
};

static void look_at_sums(struct sums *sums)
{
	const struct lottery_cpu *line;
	struct lottery_state state;
	unsigned int i;

	sums->lowest = ~0ULL;
	sums->highest = 0;
	sums->total = 0;
	lottery_read(&state);
	for (i = 0; i < smp.count; i++) {
		u64 tickets;

		line = lottery_find(&state, smp.cpu[i]);
		tickets = line ? line->tickets : 0;
		sums->total += tickets;
		if (tickets < sums->lowest)
			sums->lowest = tickets;
		if (tickets > sums->highest)
			sums->highest = tickets;
	}
}

static bool is_balanced(void *arg)
{
	struct sums *sums = arg;

	look_at_sums(sums);
	return sums->total >= sums->wanted &&
	       sums->highest - sums->lowest <= sums->bound + sums->total / smp.count / 16;
}

static void expect_balance(struct ktap_case *t, const struct herd *h, const char *when)
{
	struct sums sums = { };
	unsigned int i;
	bool balanced;

	for (i = 0; i < h->count; i++) {
		if (!h->crew.pid[i])
			continue;
		sums.wanted += h->tickets[i];
		if (h->tickets[i] > sums.bound)
			sums.bound = h->tickets[i];
	}
	balanced = wait_until(is_balanced, &sums, SMP_MOVE_NS);
	expect_bound(t, balanced,
		     "%s: after %llu s the sums are %llu to %llu (all: %llu of %llu), bound %llu and a 16th",
		     when, SMP_MOVE_NS / NSEC_PER_SEC, sums.lowest, sums.highest, sums.total,
		     sums.wanted, sums.bound);
	ktap_note(t->ktap, "%s: sums %llu to %llu, bound %llu", when, sums.lowest,
		  sums.highest, sums.bound);
}

static void start_mixed(struct herd *h)
{
	unsigned int i;

	herd_create(h);
	for (i = 0; i < HOGS_PER_CPU * smp.count; i++)
		herd_add(h, random_between(&smp.random, TICKETS_LOW, TICKETS_HIGH), smp.mask);
	herd_release(h);
}

static void release_spreads(struct ktap_case *t)
{
	struct herd h;
	unsigned int i;

	herd_create(&h);
	for (i = 0; i < smp.count; i++)
		herd_add(&h, 100, smp.mask);
	herd_release(&h);
	expect(t, every_cpu_has_work(), "%u tasks, and a CPU without one", smp.count);
	expect_progress(t, &h);
	herd_destroy(&h);
}

static void sums_balance(struct ktap_case *t)
{
	struct herd h;

	start_mixed(&h);
	expect_balance(t, &h, "after the release");
	expect_progress(t, &h);
	herd_destroy(&h);
}

/* The tasks that are where the first one is, and that one. */
static void choose_neighbours(const struct herd *h, bool *chosen)
{
	struct task_stat first = { }, stat;
	unsigned int i;

	read_task_stat(h->crew.pid[0], &first);
	for (i = 0; i < h->count; i++)
		chosen[i] = !i || (!read_task_stat(h->crew.pid[i], &stat) &&
				   stat.cpu == first.cpu);
}

/* A CPU whose tasks have all gone gets others. */
static void balance_after_exit(struct ktap_case *t)
{
	bool chosen[HERD_MAX];
	struct herd h;
	unsigned int i;

	start_mixed(&h);
	expect_balance(t, &h, "before");
	choose_neighbours(&h, chosen);
	for (i = 0; i < h.count; i++)
		if (chosen[i])
			crew_kill(&h.crew, i);
	expect_balance(t, &h, "after the exits");
	expect_progress(t, &h);
	herd_destroy(&h);
}

/* All tasks of one CPU suddenly hold five times as many tickets. */
static void balance_after_change(struct ktap_case *t)
{
	bool chosen[HERD_MAX];
	struct herd h;
	unsigned int i;

	start_mixed(&h);
	expect_balance(t, &h, "before");
	choose_neighbours(&h, chosen);
	for (i = 0; i < h.count; i++) {
		if (!chosen[i])
			continue;
		h.tickets[i] *= 5;
		crew_enlist(&h.crew, i, h.tickets[i], 0);
	}
	expect_balance(t, &h, "after the change");
	expect_progress(t, &h);
	herd_destroy(&h);
}

static bool all_on_first(void *arg)
{
	return tasks_on(smp.cpu[0]) >= *(unsigned int *)arg;
}

/* Tasks that were bound to one CPU are let go: the idle CPUs get some. */
static void idle_gets_work(struct ktap_case *t)
{
	struct herd h;
	unsigned int i;

	herd_create(&h);
	for (i = 0; i < 2 * smp.count; i++)
		herd_add(&h, 100, 1ULL << smp.cpu[0]);
	herd_release(&h);
	expect(t, smp_moved(all_on_first, &h.count),
	       "not all tasks are on the CPU that they are bound to");
	for (i = 0; i < h.count; i++)
		affinity_set(h.crew.pid[i], smp.mask);
	expect(t, every_cpu_has_work(), "an idle CPU gets no work within %llu s",
	       SMP_MOVE_NS / NSEC_PER_SEC);
	expect_balance(t, &h, "after letting go");
	expect_progress(t, &h);
	herd_destroy(&h);
}

#define HIDERS	8U
#define HIDDEN	3U

static bool are_bound(void *arg)
{
	(void)arg;
	return tasks_on(smp.cpu[0]) + tasks_on(smp.cpu[1]) == HIDERS &&
	       tasks_on(smp.cpu[2]) == HIDDEN && tasks_on(smp.cpu[3]) == 1;
}

static bool two_on_last(void *arg)
{
	(void)arg;
	return tasks_on(smp.cpu[3]) == 2;
}

/*
 * Two CPUs are the fullest, but what they have may not go elsewhere. Of the other
 * two one has three tasks and one has one: the fullest must not hide them.
 */
static void fuller_cpus_hide_nobody(struct ktap_case *t)
{
	u64 full = 1ULL << smp.cpu[0] | 1ULL << smp.cpu[1];
	struct herd h;
	unsigned int i;

	if (smp.count < 4) {
		skip_test(t, "needs four CPUs");
		return;
	}
	herd_create(&h);
	for (i = 0; i < HIDDEN; i++)
		herd_add(&h, 100, 1ULL << smp.cpu[2]);
	herd_add(&h, 100, 1ULL << smp.cpu[3]);
	for (i = 0; i < HIDERS; i++)
		herd_add(&h, 100, full);
	herd_release(&h);
	expect(t, smp_moved(are_bound, NULL),
	       "not all tasks are on the CPUs that they are bound to");
	for (i = 0; i < HIDDEN; i++)
		affinity_set(h.crew.pid[i], 1ULL << smp.cpu[2] | 1ULL << smp.cpu[3]);
	expect(t, smp_moved(two_on_last, NULL),
	       "CPU %u has %llu tasks, wanted 2 of 4", smp.cpu[3], tasks_on(smp.cpu[3]));
	herd_destroy(&h);
}

/* Sleeps until its slot's rest is the next number; says in value where it woke. */
static CREW_FN(sleeper)
{
	struct crew_slot *slot = &crew->page->slot[i];
	u32 turn = 0;

	(void)arg;
	while (!load(&crew->page->stop)) {
		futex_await(&slot->rest, ++turn, 0);
		store64(&slot->value, (u64)sched_getcpu());
		futex_set(&slot->mark, turn);
	}
	return 0;
}

/* Wake it, allowed on @mask, for the time with this number; where it was then. */
static u64 wake_sleeper(struct ktap_case *t, struct crew *crew, unsigned int i, u64 mask,
			u32 turn)
{
	struct crew_slot *slot = &crew->page->slot[i];

	expect(t, crew_asleep(crew, i, SMP_WAIT_NS), "it does not sleep");
	affinity_set(crew->pid[i], mask);
	futex_set(&slot->rest, turn);
	expect(t, futex_await(&slot->mark, turn, now_ns() + SMP_WAIT_NS), "it does not wake");
	return load64(&slot->value);
}

/*
 * All CPUs but the last are busy. A task that was on the first one when it fell
 * asleep goes to the last one when it wakes, not some balancing later. The launcher
 * stays on the first one: a CPU with a real-time task is a bad place to wake on.
 */
static void waking_finds_idle(struct ktap_case *t)
{
	unsigned int i, elsewhere = 0;
	u32 last = smp.cpu[smp.count - 1], turn = 0;
	struct herd h;

	herd_create(&h);
	for (i = 0; i + 1 < smp.count; i++)
		herd_add(&h, 100, 1ULL << smp.cpu[i]);
	crew_fork(&h.crew, sleeper, NULL);
	h.tickets[h.count++] = 100;
	pin_to_cpu(smp.cpu[0]);
	herd_release(&h);
	for (i = 0; i < WAKE_UPS && !t->failed; i++) {
		wake_sleeper(t, &h.crew, h.count - 1, 1ULL << smp.cpu[0], ++turn);
		elsewhere += wake_sleeper(t, &h.crew, h.count - 1, smp.mask, ++turn) != last;
	}
	expect_bound(t, elsewhere <= WAKE_UPS_ELSEWHERE,
		     "%u of %u times it did not wake on the idle CPU %u", elsewhere, WAKE_UPS,
		     last);
	affinity_set(0, smp.mask);
	herd_destroy(&h);
}

void smp_balance(struct ktap *k)
{
	static const struct ktap_test tests[] = {
		{ "a task for each CPU finds it", release_spreads },
		{ "a task that wakes finds the idle CPU", waking_finds_idle },
		{ "an idle CPU gets work", idle_gets_work },
		{ "fuller CPUs hide nobody", fuller_cpus_hide_nobody },
		{ "the sums of tickets balance", sums_balance },
		{ "they balance again after exits", balance_after_exit },
		{ "they balance again after changes of tickets", balance_after_change },
	};

	ktap_group(k, "balance", tests, ARRAY_SIZE(tests));
}

// SPDX-License-Identifier: GPL-2.0
/* smp_affinity.c - lottery-smp: tasks that may not run everywhere. */
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <string.h>

#include "affinity.h"
#include "args.h"
#include "clock.h"
#include "crew.h"
#include "lottery_sched.h"
#include "procfs.h"
#include "smp.h"

/* The quantum of those whose share is counted, how many, and how many will do. */
#define SHARE_TICKS		20U
#define SHARE_LOTTERIES		200U
#define SHARE_LOTTERIES_MIN	50U
#define SHARE_WAIT_NS		(60 * NSEC_PER_SEC)

/*
 * A hog that looks where it runs. In its slot: value is the mask that holds
 * while mark is even (the launcher makes mark odd before it changes the mask,
 * and even afterwards), guard counts the looks that found it elsewhere.
 */
static CREW_FN(affine_hog)
{
	struct crew_slot *slot = &crew->page->slot[i];

	(void)arg;
	while (!load(&crew->page->stop)) {
		u32 generation = load(&slot->mark);
		int cpu = sched_getcpu();
		u64 mask = load64(&slot->value);

		if (cpu >= 0 && !(generation & 1) && load(&slot->mark) == generation &&
		    !(mask >> cpu & 1))
			store(&slot->guard, slot->guard + 1);
		store64(&slot->rounds, slot->rounds + 1);
		spin_a_little();
	}
	return 0;
}

/* A random mask with at least one of the CPUs of the tests. */
static u64 random_mask(void)
{
	u64 mask = 0;

	while (!mask)
		mask = random_u64(&smp.random) & smp.mask;
	return mask;
}

static void change_mask(struct ktap_case *t, struct crew *crew, unsigned int i)
{
	struct crew_slot *slot = &crew->page->slot[i];
	u64 mask = random_mask();
	int error;

	store(&slot->mark, slot->mark + 1);
	error = affinity_set(crew->pid[i], mask);
	if (expect(t, !error, "task %u: sched_setaffinity to %#llx: %s", i + 1, mask,
		   strerror(-error)))
		store64(&slot->value, mask);
	store(&slot->mark, slot->mark + 1);
}

static void affinity_holds(struct ktap_case *t)
{
	unsigned int i, count = 3 * smp.count, changes = 0;
	u64 end = now_ns() + smp.seconds * NSEC_PER_SEC;
	struct crew crew;

	crew_create(&crew, count);
	for (i = 0; i < count; i++) {
		crew_fork(&crew, affine_hog, NULL);
		crew.page->slot[i].value = smp.mask;
		affinity_set(crew.pid[i], smp.mask);
	}
	crew_gather(&crew, SMP_WAIT_NS);
	for (i = 0; i < count; i++)
		crew_enlist(&crew, i, random_between(&smp.random, 100, 1000), 0);
	crew_release(&crew);
	while (now_ns() < end && !t->failed) {
		change_mask(t, &crew, random_below(&smp.random, count));
		changes++;
		sleep_until_ns(now_ns() + random_between(&smp.random, 1, 3) * NSEC_PER_MSEC);
	}
	/* bound to one CPU an unlucky task may wait long: its exit is no matter here */
	for (i = 0; i < count; i++) {
		const struct crew_slot *slot = &crew.page->slot[i];

		expect(t, !load(&slot->guard), "task %u ran %u times where it may not",
		       i + 1, load(&slot->guard));
		expect_bound(t, load64(&slot->rounds), "task %u never ran", i + 1);
	}
	ktap_note(t->ktap, "%u changes of %u masks", changes, count);
	crew_destroy(&crew);
}

/* The first two of the herd are bound to one CPU with 3:1 tickets. */
static void fill_share_herd(struct herd *h, u32 cpu, u64 quantum_ns)
{
	unsigned int i;

	herd_create(h);
	herd_add(h, 300, 1ULL << cpu);
	herd_add(h, 100, 1ULL << cpu);
	for (i = 0; i < 3 * smp.count; i++)
		herd_add(h, random_between(&smp.random, 100, 1000),
			 smp.mask & ~(1ULL << cpu));
	herd_release(h);
	for (i = 0; i < 2; i++)
		crew_enlist(&h->crew, i, h->tickets[i], quantum_ns);
}

/* What the two have got, and the lotteries that were held for it. */
struct tally {
	double ran_ns[2];
	double lotteries;
};

static struct tally tally_of(const struct herd *h, u32 cpu)
{
	return (struct tally){
		.ran_ns = {
			(double)process_cpu_ns(h->crew.pid[0]),
			(double)process_cpu_ns(h->crew.pid[1]),
		},
		.lotteries = (double)lottery_count(cpu),
	};
}

/* So many lotteries on a CPU. */
struct lotteries {
	u32 cpu;
	u64 wanted;
};

static bool were_held(void *arg)
{
	const struct lotteries *l = arg;

	return lottery_count(l->cpu) >= l->wanted;
}

/*
 * Long quanta, and the kernel's own count of lotteries: virtual CPUs that share
 * fewer real ones stand still most of the time. A quantum of many ticks lasts
 * about as long for the one as for the other all the same, a short one does not.
 */
static void bound_tasks_share(struct ktap_case *t)
{
	u32 cpu = smp.cpu[smp.count - 1];
	struct lottery_state state;
	struct lotteries enough = { .cpu = cpu };
	struct tally begin, end;
	double n, ran[2], wins;
	struct herd h;
	unsigned int i;

	lottery_read(&state);
	fill_share_herd(&h, cpu, SHARE_TICKS * state.tick_ns);
	pin_to_cpu(cpu);	/* so that neither of the two runs while we look */
	begin = tally_of(&h, cpu);
	enough.wanted = (u64)begin.lotteries + SHARE_LOTTERIES;
	wait_until(were_held, &enough, SHARE_WAIT_NS);
	end = tally_of(&h, cpu);
	affinity_set(0, smp.mask);
	herd_destroy(&h);
	for (i = 0; i < 2; i++)
		ran[i] = end.ran_ns[i] - begin.ran_ns[i];
	n = end.lotteries - begin.lotteries;
	wins = n * ran[0] / (ran[0] + ran[1]);
	ktap_note(t->ktap, "3:1 on CPU %u: wins %.1f of %.0f, error %.2f sigma", cpu, wins, n,
		  (wins - 0.75 * n) / sqrt(0.75 * 0.25 * n));
	expect(t, n > 0 && ran[0] + ran[1] > 0, "no lotteries in %llu s",
	       SHARE_WAIT_NS / NSEC_PER_SEC);
	expect_bound(t, n >= SHARE_LOTTERIES_MIN, "%.0f lotteries in %llu s", n,
		     SHARE_WAIT_NS / NSEC_PER_SEC);
	expect_bound(t, fabs(wins - 0.75 * n) < LOTTERY_SIGMAS * sqrt(0.75 * 0.25 * n),
		     "more than %.0f sigma", LOTTERY_SIGMAS);
}

static bool has_run(void *arg)
{
	const struct crew *crew = arg;

	return load64(&crew->page->slot[0].rounds);
}

/* One CPU has no lottery task; a hog's CPU is taken over by a SCHED_FIFO hog. */
static void fifo_drives_off(struct ktap_case *t)
{
	struct sched_param param = { .sched_priority = 1 };
	struct task_stat stat;
	struct crew fifo;
	struct herd h;
	unsigned int i;

	herd_create(&h);
	for (i = 0; i + 1 < smp.count; i++)
		herd_add(&h, 100, smp.mask);
	herd_release(&h);
	expect_progress(t, &h);
	crew_create(&fifo, 1);
	crew_fork(&fifo, hog, NULL);
	crew_gather(&fifo, SMP_WAIT_NS);
	expect(t, !read_task_stat(h.crew.pid[0], &stat), "task 1 is lost");
	affinity_set(fifo.pid[0], 1ULL << stat.cpu);
	expect(t, !sched_setscheduler(fifo.pid[0], SCHED_FIFO, &param),
	       "no SCHED_FIFO hog: %s", strerror(errno));
	crew_release(&fifo);
	expect(t, wait_until(has_run, &fifo, SMP_WAIT_NS), "the SCHED_FIFO hog did not run");
	expect_progress(t, &h);
	expect_progress(t, &h);
	crew_destroy(&fifo);
	herd_destroy(&h);
}

void smp_affinity(struct ktap *k)
{
	static const struct ktap_test tests[] = {
		{ "affinity holds at all times", affinity_holds },
		{ "bound tasks share while other CPUs are busy", bound_tasks_share },
		{ "a SCHED_FIFO hog drives a task to a free CPU", fifo_drives_off },
	};

	ktap_group(k, "affinity", tests, ARRAY_SIZE(tests));
}

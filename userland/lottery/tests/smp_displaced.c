// SPDX-License-Identifier: GPL-2.0
/*
 * smp_displaced.c - lottery-smp: a task that loses its CPU to a real-time task, or wakes
 * on a busy one, soon runs elsewhere.
 */
#include <errno.h>
#include <sched.h>
#include <string.h>

#include "affinity.h"
#include "args.h"
#include "clock.h"
#include "crew.h"
#include "lottery_sched.h"
#include "procfs.h"
#include "smp_pulse.h"

#define TICKETS		100U

/* For an idle CPU to get work that waits elsewhere. */
#define SPREAD_NS	(50 * NSEC_PER_MSEC)

/* What is measured after that. */
#define WINDOW_NS	NSEC_PER_SEC
#define ROUNDS		10U
/* A round in which the real-time task displaced no task does not count. */
#define ROUNDS_MAX	(2 * ROUNDS)
#define SOON_NS		(100 * NSEC_PER_MSEC)

/*
 * For which a virtual CPU may wait for a real one beyond what the others have seen:
 * time is real here, and the host has fewer CPUs.
 */
#define HOST_NS		(40 * NSEC_PER_MSEC)

/*
 * Of the due of tasks that share fewer CPUs than they are, at first and in the end. Wide
 * enough for a host that is busy; the experiment wants more.
 */
#define SOON_PCT_MIN	60.0
#define EVEN_PCT	15.0

/* The CPU that is taken away from the tests' tasks: the second one. */
#define TAKEN		1U

static void start_pulses(struct herd *h, unsigned int count)
{
	unsigned int i;

	herd_create(h);
	for (i = 0; i < count; i++)
		herd_add_fn(h, pulse, NULL, TICKETS, 1ULL << smp.cpu[i]);
}

static u64 max_gap(const struct herd *h, unsigned int but)
{
	u64 gap, longest = 0;
	unsigned int i;

	for (i = 0; i < h->count; i++) {
		gap = i == but ? 0 : pulse_gap(&h->crew, i);
		if (gap > longest)
			longest = gap;
	}
	return longest;
}

/*
 * One CPU is idle, and the launcher sleeps there. The gaps of the tasks that were not
 * displaced show how long virtual CPUs wait for a real one.
 */
static void finds_idle(struct ktap_case *t)
{
	u64 gap, usual, worst = 0;
	struct intrusion *in;
	unsigned int round, displaced = 0;
	struct herd h;

	start_pulses(&h, smp.count - 1);
	in = intruder_add(&h, smp.cpu[TAKEN]);
	in->looks = 2;
	in->look_after_ns[1] = 2 * SOON_NS;
	pin_to_cpu(smp.cpu[smp.count - 1]);
	herd_release(&h);
	for (round = 0; round < ROUNDS_MAX && displaced < ROUNDS && !t->failed; round++) {
		if (!intrude(t, &h, in))
			break;
		if (in->displaced == h.count)
			continue;
		displaced++;
		usual = max_gap(&h, in->displaced);
		gap = pulse_gap(&h.crew, in->displaced);
		if (gap > worst)
			worst = gap;
		usual += 2 * smp.tick_ns + HOST_NS;
		expect_bound(t, gap <= usual, "round %u: it did not run for %.2f ms, wanted %.2f",
			     round, (double)gap / 1e6, (double)usual / 1e6);
	}
	ktap_note(t->ktap, "the longest gap of %u displaced tasks: %.2f ms", displaced,
		  (double)worst / 1e6);
	expect(t, displaced, "the SCHED_FIFO hog displaced no task, %u times", round);
	herd_destroy(&h);
	intruder_free(in);
	affinity_set(0, smp.mask);
}

/* A task for each CPU, and one CPU less: what each is due of a CPU. */
static double due(void)
{
	return (double)(smp.count - 1) / smp.count;
}

/* What the displaced one got of its due in each round of a soon time [%]; how many. */
static unsigned int displace(struct ktap_case *t, struct herd *h, struct intrusion *in,
			     double *pct)
{
	unsigned int round, displaced = 0;

	in->looks = 2;
	in->look_after_ns[1] = SOON_NS;
	for (round = 0; round < ROUNDS_MAX && displaced < ROUNDS; round++) {
		if (!intrude(t, h, in))
			break;
		if (in->displaced < h->count)
			pct[displaced++] =
				100 * intrusion_share(in, 0, 1, in->displaced) / due();
	}
	expect(t, displaced, "the SCHED_FIFO hog displaced no task, %u times", round);
	return displaced;
}

/* The launcher shares a CPU with the intruder: it disturbs no task while that is there. */
static struct intrusion *start_displacing(struct herd *h)
{
	struct intrusion *in;

	start_pulses(h, smp.count);
	in = intruder_add(h, smp.cpu[TAKEN]);
	pin_to_cpu(smp.cpu[TAKEN]);
	herd_release(h);
	return in;
}

static void end_displacing(struct herd *h, struct intrusion *in)
{
	herd_destroy(h);
	intruder_free(in);
	affinity_set(0, smp.mask);
}

static void shares_soon(struct ktap_case *t)
{
	double pct[ROUNDS], mean = 0, least = 1000;
	struct intrusion *in;
	unsigned int i, rounds;
	struct herd h;

	in = start_displacing(&h);
	rounds = displace(t, &h, in, pct);
	for (i = 0; i < rounds; i++) {
		mean += pct[i] / rounds;
		if (pct[i] < least)
			least = pct[i];
	}
	ktap_note(t->ktap, "in the first %llu ms: %.1f %% of its due, at least %.1f, %u rounds",
		  SOON_NS / NSEC_PER_MSEC, mean, least, rounds);
	expect_bound(t, mean >= SOON_PCT_MIN,
		     "the displaced one has %.1f %% of its due, wanted %.0f", mean, SOON_PCT_MIN);
	end_displacing(&h, in);
}

static void shares_evenly(struct ktap_case *t)
{
	struct intrusion *in;
	struct herd h;
	unsigned int i;

	in = start_displacing(&h);
	in->looks = 3;
	in->look_after_ns[1] = SOON_NS;
	in->look_after_ns[2] = SOON_NS + smp.seconds * NSEC_PER_SEC;
	if (intrude(t, &h, in)) {
		for (i = 0; i < h.count; i++) {
			double pct = 100 * intrusion_share(in, 1, 2, i) / due();

			ktap_note(t->ktap, "task %u: %.1f %% of its due in %u s", i + 1, pct,
				  smp.seconds);
			expect_bound(t, pct >= 100 - EVEN_PCT && pct <= 100 + EVEN_PCT,
				     "task %u has %.1f %% of its due, wanted 100 +- %.0f", i + 1,
				     pct, EVEN_PCT);
		}
	}
	end_displacing(&h, in);
}

/* A CPU is a real-time task's from now on; the launcher goes there, too. */
static void take_cpu(struct crew *fifo, u32 cpu)
{
	fifo_start(fifo, hog, cpu);
	pin_to_cpu(cpu);
	crew_release(fifo);
}

static void give_cpu_back(struct crew *fifo)
{
	crew_destroy(fifo);
	affinity_set(0, smp.mask);
}

/* From SPREAD_NS on each of the first @count has at least so much of a CPU. */
static void expect_shares(struct ktap_case *t, const struct herd *h, unsigned int count,
			  double least)
{
	u64 ran[HERD_MAX], begin = now_ns() + SPREAD_NS, elapsed;
	unsigned int i;

	sleep_until_ns(begin);
	for (i = 0; i < count; i++)
		ran[i] = pulse_ran_ns(&h->crew, i);
	sleep_until_ns(begin + WINDOW_NS);
	elapsed = now_ns() - begin;
	for (i = 0; i < count; i++) {
		double share = (double)(pulse_ran_ns(&h->crew, i) - ran[i]) / (double)elapsed;

		expect_bound(t, share >= least, "task %u has %.1f %% of a CPU, wanted %.0f", i + 1,
			     100 * share, 100 * least);
	}
}

/*
 * The second CPU has no tickets and a real-time task, those behind it are idle. Two
 * tasks of the first one are let go.
 */
static void idle_behind_real_time(struct ktap_case *t)
{
	struct crew fifo;
	struct herd h;
	unsigned int i;

	herd_create(&h);
	for (i = 0; i < 2; i++)
		herd_add_fn(&h, pulse, NULL, TICKETS, 1ULL << smp.cpu[0]);
	take_cpu(&fifo, smp.cpu[TAKEN]);
	herd_release(&h);
	for (i = 0; i < 2; i++)
		affinity_set(h.crew.pid[i], smp.mask);
	expect_shares(t, &h, 2, 0.9);
	herd_destroy(&h);
	give_cpu_back(&fifo);
}

/* Where each of the movable ones is, the last three of the herd; a bit for each CPU. */
#define MOVABLE	3U
static u64 movable_are_on(struct ktap_case *t, const struct herd *h)
{
	struct task_stat stat;
	unsigned int i;
	u64 mask = 0;

	for (i = h->count - MOVABLE; i < h->count; i++)
		if (expect(t, !read_task_stat(h->crew.pid[i], &stat), "task %u is lost", i + 1))
			mask |= 1ULL << stat.cpu;
	return mask;
}

/* Let the movable ones go, and see whether they are on all CPUs of @wanted in time. */
static void let_go(struct ktap_case *t, struct herd *h, u64 wanted)
{
	unsigned int i;
	u64 mask;

	for (i = h->count - MOVABLE; i < h->count; i++)
		affinity_set(h->crew.pid[i], smp.mask);
	sleep_until_ns(now_ns() + SPREAD_NS);
	mask = movable_are_on(t, h);
	expect_bound(t, mask == wanted,
		     "after %llu ms the movable ones are on %#llx, wanted %#llx",
		     SPREAD_NS / NSEC_PER_MSEC, mask, wanted);
	herd_destroy(h);
}

static void add_bound(struct herd *h, unsigned int count, u32 tickets, u32 cpu)
{
	while (count--)
		herd_add(h, tickets, 1ULL << cpu);
}

/* No task can leave the fullest CPU, the first: the second one's tasks can. */
static void bound_hide_nothing(struct ktap_case *t)
{
	struct herd h;

	herd_create(&h);
	add_bound(&h, 4, TICKETS, smp.cpu[0]);
	add_bound(&h, MOVABLE, TICKETS, smp.cpu[TAKEN]);
	pin_to_cpu(smp.cpu[0]);
	herd_release(&h);
	let_go(t, &h, smp.mask & ~(1ULL << smp.cpu[0]));
	affinity_set(0, smp.mask);
}

/*
 * The same, and a real-time task has the second CPU, so that this cannot send its
 * tasks away; the third one has lotteries, in which it could fetch them.
 */
static void bound_hide_nothing_under_real_time(struct ktap_case *t)
{
	struct crew fifo;
	struct herd h;

	herd_create(&h);
	add_bound(&h, 4, LOTTERY_TICKETS_MAX, smp.cpu[0]);
	add_bound(&h, 2, 1, smp.cpu[2]);
	add_bound(&h, MOVABLE, TICKETS, smp.cpu[TAKEN]);
	take_cpu(&fifo, smp.cpu[TAKEN]);
	herd_release(&h);
	sleep_until_ns(now_ns() + 2 * SOON_NS);	/* the CPU's capacity is gone */
	let_go(t, &h, 1ULL << smp.cpu[2] | 1ULL << smp.cpu[3]);
	give_cpu_back(&fifo);
}

/* The quantum of the task on the CPU on which the other one wakes. */
#define LONG_QUANTUM_NS	(50 * NSEC_PER_MSEC)
#define WAKE_UPS	20U
#define LATE_MAX	2U	/* the host itself may be late */

/*
 * Wakes by a timer of its own on the first CPU, allowed everywhere, again and again. In
 * its slot: rounds counts the wake-ups, rest those that were late, value is the
 * longest wait. No other task runs: a real-time task that falls asleep makes its CPU
 * look for work.
 */
static CREW_FN(waker)
{
	struct crew_slot *slot = &crew->page->slot[i];
	u64 when, waited;

	(void)arg;
	while (slot->rounds < WAKE_UPS) {
		if (affinity_set(0, 1ULL << smp.cpu[0]) || affinity_set(0, smp.mask))
			return EXIT_FAILED;
		when = now_ns() + LONG_QUANTUM_NS / 5;
		sleep_until_ns(when);
		waited = now_ns() - when;
		if (waited > slot->value)
			store64(&slot->value, waited);
		store(&slot->rest, slot->rest + (waited > LONG_QUANTUM_NS / 2));
		store64(&slot->rounds, slot->rounds + 1);
	}
	futex_set(&slot->mark, 1);
	return 0;
}

/*
 * The one with the CPU has so few tickets that waiting behind it looks cheap. When it
 * gets the CPU back, its turn begins, and lasts for much longer than the other sleeps.
 */
static void wakes_on_busy(struct ktap_case *t)
{
	struct crew_slot *slot;
	struct herd h;

	herd_create(&h);
	herd_add(&h, TICKETS, 1ULL << smp.cpu[0]);
	slot = &h.crew.page->slot[herd_add_fn(&h, waker, NULL, 10 * TICKETS, smp.mask)];
	pin_to_cpu(smp.cpu[smp.count - 1]);
	herd_release(&h);
	crew_enlist(&h.crew, 0, TICKETS, LONG_QUANTUM_NS);
	expect(t, futex_await(&slot->mark, 1, now_ns() + SMP_WAIT_NS), "it woke %llu times only",
	       load64(&slot->rounds));
	ktap_note(t->ktap, "the longest wait of %llu: %.2f ms", load64(&slot->rounds),
		  (double)load64(&slot->value) / 1e6);
	expect_bound(t, load(&slot->rest) <= LATE_MAX,
		     "%u of %u times it waited for more than %llu ms, with idle CPUs",
		     load(&slot->rest), WAKE_UPS, LONG_QUANTUM_NS / 2 / NSEC_PER_MSEC);
	herd_destroy(&h);
	affinity_set(0, smp.mask);
}

/* One object a round: what the displaced one got of a CPU, and was due. */
void smp_displaced_json(void)
{
	struct ktap_case t = { .ktap = &(struct ktap){ } };
	unsigned int i, rounds;
	struct intrusion *in;
	double pct[ROUNDS];
	struct herd h;

	in = start_displacing(&h);
	rounds = displace(&t, &h, in, pct);
	for (i = 0; i < rounds; i++)
		smp_json("displaced", i + 1, TICKETS, 100 * due(), pct[i] * due());
	end_displacing(&h, in);
	if (t.failed)
		die(EXIT_FAILED, "only %u rounds were measured", rounds);
}

void smp_displaced(struct ktap *k)
{
	static const struct ktap_test tests[] = {
		{ "a displaced task finds the idle CPU", finds_idle },
		{ "a displaced task that shares a CPU gets its due soon", shares_soon },
		{ "all tasks that share CPUs get their due", shares_evenly },
		{ "an idle CPU is found behind a real-time one", idle_behind_real_time },
		{ "a task that wakes on a busy CPU runs on an idle one", wakes_on_busy },
		{ "bound tasks do not hide those that can move", bound_hide_nothing },
		{ "bound tasks do not hide those under a real-time task",
		  bound_hide_nothing_under_real_time },
	};

	ktap_group(k, "displacement", tests, ARRAY_SIZE(tests));
}

// SPDX-License-Identifier: GPL-2.0
/* smp_turns.c - lottery-smp: a turn ends, whatever its holder and others do. */
#include <errno.h>
#include <sched.h>
#include <string.h>

#include "affinity.h"
#include "args.h"
#include "clock.h"
#include "lottery_sched.h"
#include "smp_pulse.h"

#define TICKETS		100U

/*
 * The one that changes something of itself does so several times a quantum. With so
 * many draws a standard deviation is one point.
 */
#define FLIP_NS		(700 * NSEC_PER_USEC)
#define FLIP_TICKS	2U
#define FLIP_DRAWS	2500U
#define FLIP_POINTS	5.0
#define FLIPS_MIN	FLIP_DRAWS

/* What a task does to itself, again and again, and the CPUs that it is allowed at times. */
struct flip {
	int (*change)(u64 others, u32 number);
	u64 others;
};

static int change_affinity(u64 others, u32 number)
{
	u64 here = 1ULL << smp.cpu[0];

	return affinity_set(0, number & 1 ? here : here | others);
}

static int change_tickets(u64 others, u32 number)
{
	u64 quantum_ns = FLIP_TICKS * smp.tick_ns;

	(void)others;
	return lottery_join(0, TICKETS + (number & 1), quantum_ns) ? -errno : 0;
}

static CREW_FN(flipper)
{
	struct crew_slot *slot = &crew->page->slot[i];
	const struct flip *flip = arg;
	u32 number = 0;

	while (!load(&crew->page->stop)) {
		work_for_ns(FLIP_NS);
		if (flip->change(flip->others, ++number))
			return EXIT_FAILED;
		store64(&slot->rounds, number);
	}
	return 0;
}

/* What the first two of a herd got, in seconds; the launcher is elsewhere. */
static void pass(const struct herd *h, u64 ns, double *ran)
{
	u64 end = now_ns() + ns;
	unsigned int i;

	for (i = 0; i < 2; i++)
		ran[i] = -(double)process_cpu_ns(h->crew.pid[i]) / NSEC_PER_SEC;
	sleep_until_ns(end);
	for (i = 0; i < 2; i++)
		ran[i] += (double)process_cpu_ns(h->crew.pid[i]) / NSEC_PER_SEC;
}

/* Two tasks with a CPU for themselves, the first of which flips. */
static void flip(struct ktap_case *t, const struct flip *flip)
{
	double ran[2], share;
	struct herd h;
	unsigned int i;
	u64 flips;

	herd_create(&h);
	herd_add_fn(&h, flipper, flip, TICKETS, 1ULL << smp.cpu[0]);
	herd_add_fn(&h, pulse, NULL, TICKETS, 1ULL << smp.cpu[0]);
	pin_to_cpu(smp.cpu[1]);
	herd_release(&h);
	for (i = 0; i < 2; i++)
		crew_enlist(&h.crew, i, TICKETS, FLIP_TICKS * smp.tick_ns);
	pass(&h, FLIP_DRAWS * FLIP_TICKS * smp.tick_ns, ran);
	flips = load64(&h.crew.page->slot[0].rounds);
	share = 100 * ran[0] / (ran[0] + ran[1]);
	ktap_note(t->ktap, "%llu changes, %.2f %% of %.2f s", flips, share, ran[0] + ran[1]);
	expect_bound(t, share >= 50 - FLIP_POINTS && share <= 50 + FLIP_POINTS,
		     "the one that changes itself has %.2f %%, wanted 50 +- %.0f", share,
		     FLIP_POINTS);
	expect(t, flips, "no changes");
	expect_bound(t, flips >= FLIPS_MIN, "only %llu changes, wanted %u", flips, FLIPS_MIN);
	herd_destroy(&h);
	affinity_set(0, smp.mask);
}

/* Where it is allowed at times is offline: it stays where the other one is. */
static void own_affinity(struct ktap_case *t)
{
	u32 last = smp.cpu[smp.count - 1];
	struct flip f = { .change = change_affinity, .others = 1ULL << last };
	int error;

	if (!smp.hotplug || !smp_can_unplug(last)) {
		skip_test(t, "CPU %u does not go offline", last);
		return;
	}
	error = smp_set_online(last, false);
	if (expect(t, !error, "CPU %u cannot go offline: %s", last, strerror(-error)))
		flip(t, &f);
	error = smp_set_online(last, true);
	expect(t, !error, "CPU %u cannot come back: %s", last, strerror(-error));
}

static void own_tickets(struct ktap_case *t)
{
	struct flip f = { .change = change_tickets };

	flip(t, &f);
}

/*
 * Ticks are at whole multiples of their length on CLOCK_MONOTONIC. A real-time task
 * that is there at each of them hides all others from what a tick looks at.
 */
#define TICKER_BEFORE_NS	(300 * NSEC_PER_USEC)
#define TICKER_AFTER_NS		(100 * NSEC_PER_USEC)
#define TICKING_SECONDS		4U
#define TICKING_POINTS		10.0
/*
 * A turn is a quantum of one tick, in which the real-time task has 0.4 ms at least. The
 * longest gap of 20 lost turns in a row is seen once in 2^20 of them.
 */
#define TICKING_GAP_TICKS	50U

/* In its slot: rounds counts its ticks, value those that it was late for. */
static CREW_FN(ticker)
{
	struct crew_slot *slot = &crew->page->slot[i];
	u64 tick = now_ns();

	(void)arg;
	while (!load(&crew->page->stop)) {
		tick = (tick / smp.tick_ns + 1) * smp.tick_ns;
		sleep_until_ns(tick - TICKER_BEFORE_NS);
		if (now_ns() >= tick)
			store64(&slot->value, slot->value + 1);
		while (now_ns() < tick + TICKER_AFTER_NS)
			spin_a_little();
		store64(&slot->rounds, slot->rounds + 1);
		if (now_ns() > tick)
			tick = now_ns();
	}
	return 0;
}

static void under_a_ticking_task(struct ktap_case *t)
{
	u64 gap, bound_ns = TICKING_GAP_TICKS * smp.tick_ns;
	double ran[2], share;
	struct crew ticking;
	struct herd h;
	unsigned int i;

	herd_create(&h);
	for (i = 0; i < 2; i++)
		herd_add_fn(&h, pulse, NULL, TICKETS, 1ULL << smp.cpu[0]);
	pin_to_cpu(smp.cpu[1]);
	fifo_start(&ticking, ticker, smp.cpu[0]);
	crew_release(&ticking);
	herd_release(&h);
	pulse_reset(&h.crew, 2);
	pass(&h, TICKING_SECONDS * NSEC_PER_SEC, ran);
	share = 100 * ran[0] / (ran[0] + ran[1]);
	ktap_note(t->ktap, "%llu ticks, late for %llu; %.2f s and %.2f s of %u s",
		  load64(&ticking.page->slot[0].rounds),
		  load64(&ticking.page->slot[0].value), ran[0], ran[1], TICKING_SECONDS);
	expect_bound(t, share >= 50 - TICKING_POINTS && share <= 50 + TICKING_POINTS,
		     "the first of two equals has %.2f %% of both, wanted 50 +- %.0f", share,
		     TICKING_POINTS);
	for (i = 0; i < 2; i++) {
		gap = pulse_gap(&h.crew, i);
		expect_bound(t, gap <= bound_ns, "task %u did not run for %.1f ms, wanted %.1f",
			     i + 1, (double)gap / 1e6, (double)bound_ns / 1e6);
	}
	crew_destroy(&ticking);
	herd_destroy(&h);
	affinity_set(0, smp.mask);
}

void smp_turns(struct ktap *k)
{
	static const struct ktap_test tests[] = {
		{ "changing one's own affinity gives no more of a CPU", own_affinity },
		{ "changing one's own tickets gives no more of a CPU", own_tickets },
		{ "turns end under a real-time task that spans every tick",
		  under_a_ticking_task },
	};

	ktap_group(k, "turns", tests, ARRAY_SIZE(tests));
}

// SPDX-License-Identifier: GPL-2.0
/*
 * smp_shares.c - lottery-smp: several CPUs are shared as tickets say, against the
 * water-filled shares.
 *
 * The bound is 5.7 standard deviations of independent draws, each for one tick of
 * one CPU. Where all virtual CPUs share one real one, only one in so many ticks of a
 * CPU comes in time, and a turn lasts that much longer. At 20 s and four CPUs these are
 * 5,000 draws a CPU: 4 points for the greatest of 16 tasks, 1.3 for the smallest. (Turns
 * whose length varies by chance have twice the variance: these are four deviations then.)
 * A task with a capped share, or with few others on its CPU, must be closer.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "affinity.h"
#include "args.h"
#include "clock.h"
#include "lottery_sched.h"
#include "procfs.h"
#include "smp_pulse.h"
#include "waterfill.h"

#define SIGMAS		5.7
#define ROUNDING	0.000001
#define TASKS_MAX	16U

/* In times of --seconds. */
#define WINDOW		4U
#define SETTLE_NS	(200 * NSEC_PER_MSEC)

/* After so many draws of each CPU, 20 s at 1 ms; fewer leave room for more. */
#define FEW_DRAWS	5000.0

#define MIGRATIONS_MAX	200.0	/* a second, of all tasks together */

struct shares {
	const char *name;
	unsigned int count;
	u32 tickets[TASKS_MAX];
	u64 bound[TASKS_MAX];	/* the CPUs of smp.cpu that it may use, 0: all; a bit for each */
	double few_pct;		/* if not 0, the bound in parts of what each is due */
	double least_moves;	/* migrations a second: how soon those that wait have a turn */
	/* filled in, in parts of a CPU */
	double due[TASKS_MAX];
	double got[TASKS_MAX];
	double migrations;	/* a second */
	double lotteries;	/* of all CPUs */
	double draws;		/* of each CPU, at least: for the bound */
};

static const struct shares sixteen = {
	.name = "1..16",
	.count = 16,
	.tickets = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 },
};

static const struct shares five = {
	.name = "4:1:1:1:1",
	.count = 5,
	.tickets = { 4, 1, 1, 1, 1 },
	.few_pct = 3,
};

/*
 * Its due is a CPU, and those beside it have what it leaves of two. In virtual time a change of
 * CPU takes 2.6 ms, and there are 14 a second; by draws alone it has two thirds.
 */
static const struct shares between = {
	.name = "1 on each of two CPUs, 2 on both",
	.count = 3,
	.tickets = { 100, 100, 200 },
	.bound = { 0x1, 0x2, 0x3 },
	.few_pct = 12,
	.least_moves = 7,
};

static u64 migrations_of(pid_t pid)
{
	char path[64], text[8192];
	unsigned long long count;
	const char *at;

	snprintf(path, sizeof(path), "/proc/%d/sched", pid);
	if (read_text(path, text, sizeof(text)) < 0)
		die(EXIT_FAILED, "cannot read %s", path);
	at = strstr(text, "se.nr_migrations");
	if (!at || sscanf(at, "se.nr_migrations : %llu", &count) != 1)
		die(EXIT_FAILED, "%s: no nr_migrations", path);
	return count;
}

static u64 migrations(const struct herd *h)
{
	unsigned int i;
	u64 sum = 0;

	for (i = 0; i < h->count; i++)
		sum += migrations_of(h->crew.pid[i]);
	return sum;
}

/* Of @cpus, a bit for each, those that a task may use. */
static u64 cpus_of(const struct shares *s, unsigned int i, u64 cpus)
{
	u64 mask = 0;
	unsigned int c;

	for (c = 0; c < smp.count; c++)
		if (s->bound[i] >> c & 1)
			mask |= 1ULL << smp.cpu[c];
	return mask ? mask : cpus;
}

static void fill_due(struct shares *s, u64 cpus)
{
	struct waterfill_task tasks[TASKS_MAX];
	unsigned int i;

	for (i = 0; i < s->count; i++)
		tasks[i] = (struct waterfill_task){
			.cpus = cpus_of(s, i, cpus),
			.tickets = s->tickets[i],
		};
	waterfill(tasks, s->count, cpus);
	for (i = 0; i < s->count; i++)
		s->due[i] = tasks[i].share;
}

/* The launcher sleeps all the time. */
static void measure(struct shares *s)
{
	u64 ran[TASKS_MAX], begin, elapsed, moved, draws = 0;
	unsigned int i;
	struct herd h;

	fill_due(s, smp.mask);
	herd_create(&h);
	for (i = 0; i < s->count; i++)
		herd_add_fn(&h, pulse, NULL, s->tickets[i], cpus_of(s, i, smp.mask));
	herd_release(&h);
	sleep_until_ns(now_ns() + SETTLE_NS);
	moved = migrations(&h);
	for (i = 0; i < smp.count; i++)
		draws -= lottery_count(smp.cpu[i]);
	begin = now_ns();
	for (i = 0; i < s->count; i++)
		ran[i] = pulse_ran_ns(&h.crew, i);
	sleep_until_ns(begin + WINDOW * smp.seconds * NSEC_PER_SEC);
	elapsed = now_ns() - begin;
	for (i = 0; i < s->count; i++)
		ran[i] = pulse_ran_ns(&h.crew, i) - ran[i];
	moved = migrations(&h) - moved;
	for (i = 0; i < smp.count; i++)
		draws += lottery_count(smp.cpu[i]);
	s->lotteries = (double)draws;
	herd_destroy(&h);
	for (i = 0; i < s->count; i++)
		s->got[i] = (double)ran[i] / (double)elapsed;
	s->migrations = (double)moved * NSEC_PER_SEC / (double)elapsed;
	s->draws = (double)elapsed / (double)(smp.tick_ns * smp.count);
}

static double bound_of(const struct shares *s, unsigned int i)
{
	if (s->few_pct > 0)
		return s->due[i] * s->few_pct / 100 * fmax(1, sqrt(FEW_DRAWS / s->draws));
	return SIGMAS * sqrt(s->due[i] * (1 - s->due[i]) / s->draws);
}

static void expect_dues(struct ktap_case *t, const struct shares *s)
{
	double worst = 0, worst_relative = 0;
	unsigned int i;

	for (i = 0; i < s->count; i++) {
		double error = s->got[i] - s->due[i], bound = bound_of(s, i);

		ktap_note(t->ktap, "task %u, %u tickets: due %.2f %%, got %.2f %% (%+.1f %%)",
			  i + 1, s->tickets[i], 100 * s->due[i], 100 * s->got[i],
			  100 * error / s->due[i]);
		expect_bound(t, fabs(error) <= bound,
			     "task %u: off by %+.2f points of a CPU, allowed %.2f", i + 1,
			     100 * error, 100 * bound);
		worst = fmax(worst, fabs(error));
		worst_relative = fmax(worst_relative, fabs(error) / s->due[i]);
	}
	ktap_note(t->ktap,
		  "%s: at most %.2f points or %.1f %% off, %.1f migrations/s, %.0f lotteries",
		  s->name, 100 * worst, 100 * worst_relative, s->migrations, s->lotteries);
	expect_bound(t, s->migrations <= MIGRATIONS_MAX && s->migrations >= s->least_moves,
		     "%.1f migrations a second, allowed %.0f to %.0f", s->migrations,
		     s->least_moves, MIGRATIONS_MAX);
}

static void sixteen_share(struct ktap_case *t)
{
	struct shares s = sixteen;

	measure(&s);
	expect_dues(t, &s);
}

static void five_share(struct ktap_case *t)
{
	struct shares s = five;

	measure(&s);
	expect_dues(t, &s);
}

static void between_share(struct ktap_case *t)
{
	struct shares s = between;

	measure(&s);
	expect_dues(t, &s);
}

void smp_shares_json(void)
{
	const struct shares *const cases[] = { &sixteen, &five };
	unsigned int which, i;

	for (which = 0; which < ARRAY_SIZE(cases); which++) {
		struct shares s = *cases[which];

		measure(&s);
		for (i = 0; i < s.count; i++)
			smp_json(s.name, i + 1, s.tickets[i], 100 * s.due[i], 100 * s.got[i]);
	}
}

/* What waterfill() says of cases that were worked out by hand. */
static void water_fills(struct ktap_case *t)
{
	static const struct {
		u64 cpus;
		unsigned int count;
		u32 tickets[5];
		double share[5];
	} cases[] = {
		{ 0xf, 5, { 4, 1, 1, 1, 1 }, { 1, 0.75, 0.75, 0.75, 0.75 } },
		{ 0x3, 3, { 1, 1, 2 }, { 0.5, 0.5, 1 } },
		{ 0x3, 3, { 1, 1, 100 }, { 0.5, 0.5, 1 } },
		{ 0x7, 4, { 1, 9, 90, 900 }, { 0.1, 0.9, 1, 1 } },
		{ 0xf, 2, { 1, 3 }, { 1, 1 } },
		{ 0x1, 2, { 1, 3 }, { 0.25, 0.75 } },
	};
	unsigned int c, i;

	for (c = 0; c < ARRAY_SIZE(cases); c++) {
		struct shares s = { .count = cases[c].count };

		memcpy(s.tickets, cases[c].tickets, sizeof(cases[c].tickets));
		fill_due(&s, cases[c].cpus);
		for (i = 0; i < s.count; i++)
			expect(t, fabs(s.due[i] - cases[c].share[i]) < ROUNDING,
			       "case %u, task %u: %f, wanted %f", c + 1, i + 1, s.due[i],
			       cases[c].share[i]);
	}
}

void smp_shares(struct ktap *k)
{
	static const struct ktap_test tests[] = {
		{ "shares of whole CPUs are what they are by hand", water_fills },
		{ "16 tasks of 1 to 16 tickets", sixteen_share },
		{ "5 tasks of which one is due a whole CPU", five_share },
		{ "one between two CPUs, each with a task of its own", between_share },
	};

	ktap_group(k, "shares", tests, ARRAY_SIZE(tests));
}

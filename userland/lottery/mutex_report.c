// SPDX-License-Identifier: GPL-2.0
/* mutex_report.c - lottery-mutex: bounds and output. */
#include <math.h>
#include <stdio.h>

#include "json.h"
#include "ktap.h"
#include "lottery_proc.h"
#include "mutex.h"

/* The numbers of one group, ratios against the last group. */
struct line {
	double ratio;		/* of what was acquired */
	double expected;	/* of what was to be won, with who took part */
	double full;		/* where all others always wait, see mutex.h */
	double tickets;
	double sigma_error;	/* of what was won */
	double wait_ms;		/* mean */
	double waits;		/* against the first group */
};

/* Nothing is known where nothing was counted. */
static double over(double a, double b)
{
	return b > 0 ? a / b : NAN;
}

static double mean_wait_ms(const struct tally *t)
{
	return over((double)t->wait_ns / NSEC_PER_MSEC, (double)t->acquired);
}

static double sigma_error(const struct tally *t)
{
	return over((double)t->won - t->expected, sqrt(t->variance));
}

static double full_weight(const struct contest *c, u32 group)
{
	double total = 0;
	u32 i;

	for (i = 0; i < c->groups; i++)
		total += (double)c->tickets[i] * c->tasks / c->groups;
	return c->tickets[group] * (total - c->tickets[group]);
}

static struct line line_of(const struct contest *c, const struct arena *arena, u32 group)
{
	const struct tally *t = &arena->group[group], *last = &arena->group[c->groups - 1];

	return (struct line){
		.ratio = over((double)t->acquired, (double)last->acquired),
		.expected = over(t->expected, last->expected),
		.full = over(full_weight(c, group), full_weight(c, c->groups - 1)),
		.tickets = (double)c->tickets[group] / c->tickets[c->groups - 1],
		.sigma_error = sigma_error(t),
		.wait_ms = mean_wait_ms(t),
		.waits = over(mean_wait_ms(t), mean_wait_ms(&arena->group[0])),
	};
}

static void line_json(const struct contest *c, const struct arena *arena, u32 group)
{
	const struct tally *t = &arena->group[group];
	struct line l = line_of(c, arena, group);

	json_open();
	json_text("case", c->ratio);
	json_text("kind", mutex_kinds[c->kind]);
	json_text("policy", mutex_policies[c->policy]);
	json_bool("spread", c->spread);
	json_number("tasks", c->tasks);
	json_number("hold_us", c->hold_ns / NSEC_PER_USEC);
	json_number("compute_us", c->compute_ns / NSEC_PER_USEC);
	json_number("seconds", c->seconds);
	json_number("group", group + 1);
	json_number("tickets", c->tickets[group]);
	json_number("acquired", t->acquired);
	json_number("won", t->won);
	json_real("expected", t->expected);
	json_real("sigma_error", l.sigma_error);
	json_real("ratio", l.ratio);
	json_real("expected_ratio", l.expected);
	json_real("full_ratio", l.full);
	json_real("tickets_ratio", l.tickets);
	json_real("wait_mean_ms", l.wait_ms);
	json_real("wait_max_ms", (double)t->longest_ns / NSEC_PER_MSEC);
	json_close();
}

static void line_table(const struct contest *c, const struct arena *arena, u32 group)
{
	const struct tally *t = &arena->group[group];
	struct line l = line_of(c, arena, group);

	printf("%5u %8u %9llu %7.3f %9.3f %7.3f %8.3f %7.2f %10.3f %7.3f %10.3f\n", group + 1,
	       c->tickets[group], t->acquired, l.ratio, l.expected, l.full, l.tickets,
	       l.sigma_error, l.wait_ms, l.waits, (double)t->longest_ns / NSEC_PER_MSEC);
}

static void line_ktap(const struct contest *c, const struct arena *arena, u32 group,
		      const struct ktap *k)
{
	const struct tally *t = &arena->group[group];
	struct line l = line_of(c, arena, group);

	ktap_note(k, "group %u: tickets %u, acquired %llu, ratio %.3f", group + 1,
		  c->tickets[group], t->acquired, l.ratio);
	ktap_note(k, "group %u: expected ratio %.3f, full ratio %.3f, tickets %.3f", group + 1,
		  l.expected, l.full, l.tickets);
	ktap_note(k, "group %u: won %llu, expected %.1f, error %.2f sigma, mean wait %.3f ms",
		  group + 1, t->won, t->expected, l.sigma_error, l.wait_ms);
}

static bool lucky(const struct tally *t)
{
	return fabs(sigma_error(t)) < LOTTERY_SIGMAS;
}

static bool judge_exclusion(const struct contest *c, const struct arena *arena,
			    const struct ktap *k)
{
	u64 acquired = 0;
	u32 i;

	for (i = 0; i < c->groups; i++)
		acquired += arena->group[i].acquired;
	ktap_note(k, "acquired %llu times, %llu of them counted", acquired, arena->held);
	return acquired && arena->held == acquired;
}

static bool judge_groups(const struct contest *c, const struct arena *arena,
			 const struct ktap *k)
{
	bool good = true;
	u32 i;

	for (i = 0; i < c->groups; i++) {
		line_ktap(c, arena, i, k);
		good &= lucky(&arena->group[i]);
	}
	return good;
}

/* Each one alone, as others of its group could make up for one that never wins. */
static bool judge_tasks(const struct contest *c, const struct arena *arena,
			const struct ktap *k)
{
	bool good = true;
	u32 i;

	for (i = 0; i < c->tasks; i++) {
		const struct tally *t = &arena->task[i];
		bool enough = t->variance >= LOTTERY_VARIANCE_MIN;

		ktap_note(k, "task %u: won %llu, expected %.1f, error %.2f sigma%s", i + 1, t->won,
			  t->expected, sigma_error(t), enough ? "" : ": too few draws for a bound");
		good &= enough && lucky(t) && t->won;
	}
	return good;
}

static int report_ktap(const struct contest *c, const struct arena *arena)
{
	struct ktap k;

	ktap_start(&k, 3);
	ktap_result(&k, judge_exclusion(c, arena, &k), "one task at a time has the mutex");
	ktap_result(&k, judge_groups(c, arena, &k), "groups win by their tickets");
	ktap_result(&k, judge_tasks(c, arena, &k), "no task is left waiting");
	return ktap_finish(&k);
}

int contest_report(const struct contest *c, const struct arena *arena)
{
	u32 i;

	if (c->output == OUTPUT_KTAP)
		return report_ktap(c, arena);
	if (c->output == OUTPUT_TABLE)
		printf("%5s %8s %9s %7s %9s %7s %8s %7s %10s %7s %10s\n", "group", "tickets",
		       "acquired", "ratio", "expected", "full", "tickets", "sigma", "wait ms",
		       "waits", "longest ms");
	for (i = 0; i < c->groups; i++) {
		if (c->output == OUTPUT_JSON)
			line_json(c, arena, i);
		else
			line_table(c, arena, i);
	}
	return EXIT_GOOD;
}

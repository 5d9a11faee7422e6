// SPDX-License-Identifier: GPL-2.0
/*
 * lottery-montecarlo.c - Monte-Carlo integrations that set their own tickets.
 *
 * Each task draws points of the unit square; the part of them that lies in the
 * quarter circle estimates pi / 4. Its relative error falls with the square root of
 * the number of trials. Each task gives itself tickets in proportion to the square of
 * its error: who has begun late, and knows little, overtakes nobody but catches up.
 *
 * Waldspurger and Weihl, "Lottery Scheduling", 1994, figure 6.
 */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "affinity.h"
#include "args.h"
#include "hog.h"
#include "json.h"
#include "lottery_sched.h"
#include "progress.h"
#include "random.h"

/* Between two looks of a task at its own error. */
#define BATCH		2000U

/* Of the square, in steps of the random numbers. */
#define EDGE		4294967296.0

/*
 * Tickets of a relative error of 1. The error of 110,000 trials is worth all the
 * tickets that there are, so that there are many to give up afterwards.
 */
#define TICKETS_SCALE	4e11

static const char usage[] =
"Usage: lottery-montecarlo [options]\n"
"\n"
"Run Monte-Carlo integrations of the same area on one CPU, started one after the\n"
"other. Each sets its own lottery tickets in proportion to the square of its relative\n"
"error. Report how many trials each has made, again and again.\n"
"\n"
"      --tasks N      how many integrations, 2..16 (3)\n"
"      --stagger S    seconds from one start to the next (5)\n"
"      --seconds S    how long in all (30)\n"
"      --look-ms MS   how often to look, 10..60000 (500)\n"
"      --fixed        all keep the same tickets\n"
"      --seed N       of the random numbers, 0..1000000 (1)\n"
"      --cpu CPU      where they run (the first that is allowed)\n"
"      --json         one JSON object for each task and look\n"
"  -h, --help         this text\n"
"  -V, --version      the version\n";

struct options {
	struct progress progress;
	u32 tasks;
	u32 stagger_s;
	u32 seed;
	bool fixed;
};

static void parse(int argc, char **argv, struct options *o)
{
	static const struct option longs[] = {
		{ "tasks", required_argument, NULL, 'n' },
		{ "stagger", required_argument, NULL, 'g' },
		{ "seconds", required_argument, NULL, 's' },
		{ "look-ms", required_argument, NULL, 'l' },
		{ "fixed", no_argument, NULL, 'f' },
		{ "seed", required_argument, NULL, 'r' },
		{ "cpu", required_argument, NULL, 'c' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ }
	};
	int c;

	while ((c = getopt_long(argc, argv, ":hV", longs, NULL)) != -1) {
		switch (c) {
		case 'n':
			o->tasks = (u32)args_number("--tasks", optarg, 2,
						    PROGRESS_TASKS_MAX);
			break;
		case 'g':
			o->stagger_s = (u32)args_number("--stagger", optarg, 0, 3600);
			break;
		case 's':
			o->progress.seconds = seconds_argument(optarg);
			break;
		case 'l':
			o->progress.look_ms = look_argument(optarg);
			break;
		case 'f':
			o->fixed = true;
			break;
		case 'r':
			o->seed = (u32)args_number("--seed", optarg, 0, 1000000);
			break;
		case 'c':
			o->progress.cpu = cpu_argument(optarg);
			break;
		case 'j':
			o->progress.json = true;
			break;
		case 'h':
			args_help(usage);
		case 'V':
			args_version();
		default:
			args_refuse(c, argv);
		}
	}
	args_no_more(argc, argv, optind);
	progress_check(&o->progress);
	if (o->stagger_s * 1000 % o->progress.look_ms)
		die(EXIT_USAGE, "--look-ms: bad value '%u': tasks start at looks, every %u s",
		    o->progress.look_ms, o->stagger_s);
	if ((o->tasks - 1) * o->stagger_s >= o->progress.seconds)
		die(EXIT_USAGE, "--seconds: bad value '%u': the last of %u tasks starts after %u s",
		    o->progress.seconds, o->tasks, (o->tasks - 1) * o->stagger_s);
}

/* What a task knows of the area. */
struct integral {
	struct random random;
	u64 trials;
	u64 hits;
	u32 tickets;
	bool fixed;
};

static double square_of_error(u64 trials, u64 hits)
{
	return hits ? (double)(trials - hits) / ((double)hits * (double)trials) : INFINITY;
}

static u32 tickets_of(u64 trials, u64 hits)
{
	double tickets = TICKETS_SCALE * square_of_error(trials, hits);

	return (u32)fmin(fmax(tickets, 1), LOTTERY_TICKETS_MAX);
}

/* A hog_piece: some trials, then new tickets; the slot's mark counts pieces, value hits. */
static void batch(struct crew_slot *slot, void *arg)
{
	struct integral *t = arg;
	unsigned int n;
	u32 tickets;

	for (n = 0; n < BATCH; n++) {
		u64 bits = random_u64(&t->random);
		double x = (double)(bits >> 32), y = (double)(u32)bits;

		t->hits += x * x + y * y < EDGE * EDGE;
	}
	t->trials += BATCH;
	tickets = t->fixed ? t->tickets : tickets_of(t->trials, t->hits);
	if (tickets != t->tickets && lottery_join(0, tickets, 0))
		die(EXIT_FAILED, "cannot give myself %u tickets: %s", tickets, strerror(errno));
	t->tickets = tickets;
	store64(&slot->value, t->hits);
	store(&slot->mark, slot->mark + 1);
}

static CREW_FN(integrate)
{
	const struct options *o = arg;
	struct integral t = {
		.random = { .state = ((u64)o->seed << 32) + i },
		.tickets = LOTTERY_TICKETS_MAX,
		.fixed = o->fixed,
	};

	return hog_work(crew, i, batch, &t);
}

static void report(const struct progress *p, u64 ms, unsigned int i)
{
	const struct crew_slot *slot = &p->crew.page->slot[i];
	u64 trials = (u64)load(&slot->mark) * BATCH, hits = load64(&slot->value);
	struct lottery_attr attr;
	double estimate, error;

	if (!trials)
		return;		/* it has not begun */
	if (attr_get(p->crew.pid[i], &attr))
		die(EXIT_FAILED, "task %u: %s", i + 1, strerror(errno));
	estimate = 4 * (double)hits / (double)trials;
	error = sqrt(square_of_error(trials, hits));
	if (!p->json) {
		printf("%10.1f %4u %8u %12llu %10.7f %10.7f\n", (double)ms / 1000, i + 1,
		       attr.sched_tickets, trials, estimate, error);
		return;
	}
	json_open();
	json_number("time_ms", ms);
	json_number("task", i + 1);
	json_number("tickets", attr.sched_tickets);
	json_number("trials", trials);
	json_real("estimate", estimate);
	json_real("error", error);
	json_close();
}

static void look_at(struct progress *p, unsigned int look, u64 ms, const void *arg)
{
	const struct options *o = arg;
	unsigned int i;

	(void)look;
	for (i = 0; i < o->tasks; i++) {
		report(p, ms, i);
		if (ms >= (u64)i * o->stagger_s * 1000)
			hog_wake(&p->crew, i);
	}
}

int main(int argc, char **argv)
{
	struct options o = {
		.progress = { .seconds = 30, .look_ms = 500 },
		.tasks = 3, .stagger_s = 5, .seed = 1,
	};
	struct progress *p = &o.progress;
	u32 tickets[PROGRESS_TASKS_MAX];
	unsigned int i;
	bool good;

	args_init("lottery-montecarlo");
	p->cpu = first_cpu();
	parse(argc, argv, &o);
	for (i = 0; i < o.tasks; i++)
		tickets[i] = LOTTERY_TICKETS_MAX;
	progress_start(p, o.tasks, integrate, &o, tickets);
	if (!p->json)
		printf("%10s %4s %8s %12s %10s %10s\n", "seconds", "task", "tickets", "trials",
		       "estimate", "error");
	progress_run(p, look_at, &o);
	good = progress_end(p);
	finish_output();
	return good ? EXIT_GOOD : EXIT_FAILED;
}

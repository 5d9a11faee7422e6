// SPDX-License-Identifier: GPL-2.0
/*
 * lottery-floor.c - what a fair task keeps under a lottery hog on the same CPU:
 * the kernel's fair server owes it 50 ms of every second.
 */
#include <getopt.h>
#include <stdio.h>

#include "affinity.h"
#include "args.h"
#include "clock.h"
#include "crew.h"
#include "json.h"
#include "ktap.h"
#include "lottery_sched.h"
#include "work.h"

#define FLOOR_PCT_MIN	4.0
#define FLOOR_PCT_MAX	6.0
#define WAIT_NS		(60 * NSEC_PER_SEC)
/* The server's: a turn, with what a tick is late, in each period. */
#define PERIOD_NS	NSEC_PER_SEC
#define LATE_MAX_NS	(60 * NSEC_PER_MSEC)
/* When it wakes up: from so long before the end of a turn on, in so many steps. */
#define MEET_STEPS	20
#define MEET_BEFORE_NS	(1500 * NSEC_PER_USEC)
#define MEET_STEP_NS	(100 * NSEC_PER_USEC)

static const char usage[] =
"Usage: lottery-floor [options]\n"
"\n"
"Run a lottery hog and a SCHED_OTHER hog on one CPU and report what part of the\n"
"CPU the latter gets.\n"
"\n"
"      --seconds S     how long (20)\n"
"      --cpu CPU       where they run (the first that is allowed)\n"
"      --meet          and what if a SCHED_FIFO task wakes up when a turn of the\n"
"                      latter ends: does it run then? (20 s more)\n"
"      --json          one JSON object\n"
"      --ktap          check that it is 4 % to 6 %, as a test\n"
"  -h, --help          this text\n"
"  -V, --version       the version\n";

struct options {
	u32 seconds;
	u32 cpu;
	bool meet;
	enum output output;
};

static void parse(int argc, char **argv, struct options *o)
{
	static const struct option longs[] = {
		{ "seconds", required_argument, NULL, 's' },
		{ "cpu", required_argument, NULL, 'c' },
		{ "meet", no_argument, NULL, 'm' },
		{ "json", no_argument, NULL, 'j' },
		{ "ktap", no_argument, NULL, 'k' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ }
	};
	int c;

	while ((c = getopt_long(argc, argv, ":hV", longs, NULL)) != -1) {
		switch (c) {
		case 's':
			o->seconds = (u32)args_number("--seconds", optarg, 1, 3600);
			break;
		case 'c':
			o->cpu = cpu_argument(optarg);
			break;
		case 'm':
			o->meet = true;
			break;
		case 'j':
			o->output = OUTPUT_JSON;
			break;
		case 'k':
			o->output = OUTPUT_KTAP;
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
}

struct floor {
	double fair_pct;
	double lottery_pct;
	u64 late_ns;		/* the latest that the caller woke up */
	u32 seconds;
};

/* It does not look at its CPU time: to read that brings the account of a server up to date. */
CREW_FN(spinner)
{
	(void)i;
	(void)arg;
	while (!load(&crew->page->stop))
		spin_a_little();
	return 0;
}

static u64 sleep_late_ns(u64 until)
{
	sleep_until_ns(until);
	return now_ns() - until;
}

/*
 * The caller is of SCHED_FIFO, and waits for the turns of the server all the same.
 * How late was it when it woke up around the end of one?
 */
static u64 meet(void)
{
	u64 late, latest = 0, end, stop = now_ns() + 3 * PERIOD_NS;
	unsigned int i;

	do {
		late = sleep_late_ns(now_ns() + NSEC_PER_MSEC);
	} while (late < LATE_MAX_NS / 2 && now_ns() < stop);
	end = now_ns();
	for (i = 0; i < MEET_STEPS; i++) {
		late = sleep_late_ns(end + PERIOD_NS - MEET_BEFORE_NS + i * MEET_STEP_NS);
		/* Late, it has seen the end. */
		end = late >= MEET_STEP_NS ? now_ns() : end + PERIOD_NS;
		if (late > latest)
			latest = late;
	}
	return latest;
}

static struct floor measure(const struct options *o)
{
	u64 begin, elapsed, late = 0, ran[2];
	struct crew crew;
	unsigned int i;

	crew_create(&crew, 2);
	crew_fork(&crew, spinner, NULL);
	crew_fork(&crew, spinner, NULL);
	crew_gather(&crew, WAIT_NS);
	crew_enlist(&crew, 0, 0, 0);
	crew_release(&crew);
	/* Between two turns: a window of whole periods has as many turns, however late they are. */
	sleep_until_ns(now_ns() + PERIOD_NS / 2);
	begin = now_ns();
	for (i = 0; i < 2; i++)
		ran[i] = process_cpu_ns(crew.pid[i]);
	sleep_until_ns(begin + o->seconds * NSEC_PER_SEC);
	elapsed = now_ns() - begin;
	for (i = 0; i < 2; i++)
		ran[i] = process_cpu_ns(crew.pid[i]) - ran[i];
	if (o->meet)
		late = meet();
	crew_destroy(&crew);
	return (struct floor){
		.lottery_pct = 100.0 * (double)ran[0] / (double)elapsed,
		.fair_pct = 100.0 * (double)ran[1] / (double)elapsed,
		.late_ns = late,
		.seconds = o->seconds,
	};
}

/* What the tests judge. */
static struct floor measured;

static void keeps_its_floor(struct ktap_case *t)
{
	double pct = measured.fair_pct;

	ktap_note(t->ktap, "fair %.2f %%, lottery %.2f %% of %u s; allowed %.0f..%.0f %%", pct,
		  measured.lottery_pct, measured.seconds, FLOOR_PCT_MIN, FLOOR_PCT_MAX);
	expect_bound(t, pct >= FLOOR_PCT_MIN && pct <= FLOOR_PCT_MAX, "it has %.2f %%", pct);
}

static void ends_its_turn(struct ktap_case *t)
{
	ktap_note(t->ktap, "woken %llu us late at most", measured.late_ns / NSEC_PER_USEC);
	expect_bound(t, measured.late_ns <= LATE_MAX_NS, "too late by %llu us",
		     (measured.late_ns - LATE_MAX_NS) / NSEC_PER_USEC);
}

static int report_ktap(const struct options *o, const struct floor *f)
{
	static const struct ktap_test tests[] = {
		{ "a fair task keeps its floor under a lottery hog", keeps_its_floor },
		{ "its turn ends for who wakes up then", ends_its_turn },
	};
	unsigned int i, count = 1 + o->meet;
	struct ktap k;

	measured = *f;
	ktap_start(&k, count);
	for (i = 0; i < count; i++)
		ktap_run(&k, &tests[i]);
	return ktap_finish(&k);
}

int main(int argc, char **argv)
{
	struct options o = { .seconds = 20 };
	int code = EXIT_GOOD;
	struct floor f;

	args_init("lottery-floor");
	o.cpu = first_cpu();
	parse(argc, argv, &o);
	lottery_require();
	pin_to_cpu(o.cpu);
	become_launcher(LAUNCHER_PRIORITY);
	f = measure(&o);
	if (o.output == OUTPUT_JSON) {
		json_open();
		json_real("fair_pct", f.fair_pct);
		json_real("lottery_pct", f.lottery_pct);
		json_number("seconds", o.seconds);
		if (o.meet)
			json_real("late_us", (double)f.late_ns / NSEC_PER_USEC);
		json_close();
	} else if (o.output == OUTPUT_KTAP) {
		code = report_ktap(&o, &f);
	} else {
		printf("%-8s %10s %10s\n", "seconds", "fair %", "lottery %");
		printf("%-8u %10.2f %10.2f\n", o.seconds, f.fair_pct, f.lottery_pct);
		if (o.meet)
			printf("woken %llu us late at most\n", f.late_ns / NSEC_PER_USEC);
	}
	finish_output();
	return code;
}

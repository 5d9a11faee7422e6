// SPDX-License-Identifier: GPL-2.0
/*
 * lottery-pipe.c - the round trip of one byte through two pipes between two
 * tasks on one CPU: each step is a wakeup, a dequeue and a pick of the class.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "affinity.h"
#include "args.h"
#include "clock.h"
#include "crew.h"
#include "json.h"
#include "lottery_sched.h"
#include "memory.h"
#include "quantile.h"

/* Rounds before the first repeat, which warm the caches and are not measured. */
#define WARM_UP_ROUNDS	1000U

#define REPEATS_MAX	100000U
#define GATHER_NS	(60 * NSEC_PER_SEC)

/* No machine needs a millisecond for a round. */
#define ROUND_LIMIT_NS	NSEC_PER_MSEC
#define SPARE_NS	(60 * NSEC_PER_SEC)

static const char usage[] =
"Usage: lottery-pipe [options]\n"
"\n"
"Send a byte to and fro between two tasks on one CPU and report ns for a round.\n"
"\n"
"      --policy NAME   of both tasks: lottery, other (lottery)\n"
"      --rounds N      in one repeat (10000)\n"
"      --repeats R     how often it is measured (5)\n"
"      --cpu CPU       where they run (the first that is allowed)\n"
"      --json          one JSON object for each repeat\n"
"  -h, --help          this text\n"
"  -V, --version       the version\n";

static const char *const policies[] = { "lottery", "other", NULL };

struct options {
	unsigned int policy;	/* the index in policies */
	u32 rounds;
	u32 repeats;
	u32 cpu;
	bool json;
	int there[2];		/* the two pipes */
	int back[2];
};

static void parse(int argc, char **argv, struct options *o)
{
	static const struct option longs[] = {
		{ "policy", required_argument, NULL, 'p' },
		{ "rounds", required_argument, NULL, 'n' },
		{ "repeats", required_argument, NULL, 'r' },
		{ "cpu", required_argument, NULL, 'c' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ }
	};
	int c;

	while ((c = getopt_long(argc, argv, ":hV", longs, NULL)) != -1) {
		switch (c) {
		case 'p':
			o->policy = args_choice("--policy", optarg, policies);
			break;
		case 'n':
			o->rounds = (u32)args_number("--rounds", optarg, 1, 100000000);
			break;
		case 'r':
			o->repeats = (u32)args_number("--repeats", optarg, 1, REPEATS_MAX);
			break;
		case 'c':
			o->cpu = cpu_argument(optarg);
			break;
		case 'j':
			o->json = true;
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

static bool give(int fd)
{
	char byte = 0;

	return write(fd, &byte, 1) == 1;
}

static bool take(int fd)
{
	char byte;

	return read(fd, &byte, 1) == 1;
}

static bool play(const struct options *o, u32 rounds)
{
	while (rounds--)
		if (!give(o->there[1]) || !take(o->back[0]))
			return false;
	return true;
}

/* The one that asks: its slot i of the page holds the ns of repeat i. */
static CREW_FN(ask)
{
	const struct options *o = arg;
	u32 repeat;

	(void)i;
	close(o->back[1]);	/* so that a dead peer is the end of the file */
	if (!play(o, WARM_UP_ROUNDS))
		return EXIT_FAILED;
	for (repeat = 0; repeat < o->repeats; repeat++) {
		u64 begin = now_ns();

		if (!play(o, o->rounds))
			return EXIT_FAILED;
		store64(&crew->page->slot[repeat].value, now_ns() - begin);
	}
	close(o->there[1]);
	return 0;
}

static CREW_FN(answer)
{
	const struct options *o = arg;

	(void)crew;
	(void)i;
	close(o->there[1]);
	while (take(o->there[0]))
		if (!give(o->back[1]))
			return EXIT_FAILED;
	return 0;
}

/* @ns has room for the ns of a round of every repeat. */
static void measure(struct options *o, double *ns)
{
	u64 limit_ns = (u64)o->rounds * o->repeats * ROUND_LIMIT_NS + SPARE_NS;
	struct crew crew;
	u32 i;

	if (pipe(o->there) || pipe(o->back))
		die(EXIT_FAILED, "no pipe: %s", strerror(errno));
	crew_create(&crew, o->repeats > 2 ? o->repeats : 2);
	crew_fork(&crew, ask, o);
	crew_fork(&crew, answer, o);
	close(o->there[1]);
	close(o->back[1]);
	crew_gather(&crew, GATHER_NS);
	for (i = 0; i < 2 && o->policy == 0; i++)
		crew_enlist(&crew, i, 0, 0);
	crew_release(&crew);
	if (crew_reap(&crew, limit_ns))
		die(EXIT_FAILED, "the two tasks did not finish their rounds");
	for (i = 0; i < o->repeats; i++)
		ns[i] = (double)crew.page->slot[i].value / o->rounds;
	crew_destroy(&crew);
}

static void report_json(const struct options *o, const double *ns)
{
	u32 i;

	for (i = 0; i < o->repeats; i++) {
		json_open();
		json_text("policy", policies[o->policy]);
		json_number("rounds", o->rounds);
		json_number("repeat", i + 1);
		json_real("ns_per_round", ns[i]);
		json_close();
	}
}

static void report_table(const struct options *o, double *ns)
{
	double mean = mean_of(ns, o->repeats);

	sort_samples(ns, o->repeats);
	printf("%-8s %8s %8s %10s %10s %10s %10s\n", "policy", "rounds", "repeats",
	       "mean ns", "min ns", "median ns", "max ns");
	printf("%-8s %8u %8u %10.1f %10.1f %10.1f %10.1f\n", policies[o->policy],
	       o->rounds, o->repeats, mean, ns[0], quantile(ns, o->repeats, 0.5),
	       ns[o->repeats - 1]);
}

int main(int argc, char **argv)
{
	struct options o = { .rounds = 10000, .repeats = 5 };
	double *ns;

	args_init("lottery-pipe");
	o.cpu = first_cpu();
	parse(argc, argv, &o);
	if (o.policy == 0)
		lottery_require();
	ns = xcalloc(o.repeats, sizeof(*ns));
	pin_to_cpu(o.cpu);
	become_launcher(LAUNCHER_PRIORITY);
	measure(&o, ns);
	if (o.json)
		report_json(&o, ns);
	else
		report_table(&o, ns);
	free(ns);
	finish_output();
	return EXIT_GOOD;
}

// SPDX-License-Identifier: GPL-2.0
/* lottery-mutex.c - do tasks get a mutex in proportion to their tickets? */
#include <getopt.h>

#include "affinity.h"
#include "lottery_sched.h"
#include "memory.h"
#include "mutex.h"

static const char usage[] =
"Usage: lottery-mutex [options]\n"
"\n"
"Let tasks with tickets take a mutex, hold it, release it and compute, again and again;\n"
"report how often each group got the mutex and how long it waited for it.\n"
"\n"
"      --kind KIND      the mutex: user (won by lot), pthread (user)\n"
"      --policy NAME    of all tasks: lottery, other (lottery)\n"
"      --threads N      how many tasks, as many in each group (8)\n"
"      --ratio RATIO    the tickets of a task of each group (2:1)\n"
"      --hold-us US     CPU time with the mutex (50000)\n"
"      --compute-us US  CPU time between release and the next wait (50000)\n"
"      --seconds S      how long (20)\n"
"      --cpu CPU        where all run (the first that is allowed)\n"
"      --spread         on all CPUs that are allowed instead\n"
"      --json           one JSON object for each group\n"
"      --ktap           check exclusion, and wins against tickets (5 sigma), as a test\n"
"  -h, --help           this text\n"
"  -V, --version        the version\n";

#define WORK_US_MAX	10000000U

static u64 work_argument(const char *what, const char *text)
{
	return NSEC_PER_USEC * args_number(what, text, 0, WORK_US_MAX);
}

static void ratio_argument(struct contest *c, const char *text)
{
	c->ratio = text;
	c->groups = args_ratio(text, LOTTERY_TICKETS_MAX, c->tickets, MUTEX_GROUPS_MAX);
}

static void check(const struct contest *c)
{
	if (c->tasks % c->groups)
		die(EXIT_USAGE, "--threads: bad value '%u': must be a multiple of the %u groups",
		    c->tasks, c->groups);
	if (c->output == OUTPUT_KTAP && c->kind != MUTEX_USER)
		die(EXIT_USAGE, "--ktap: bad kind '%s': allowed %s", mutex_kinds[c->kind],
		    mutex_kinds[MUTEX_USER]);
}

static void parse(int argc, char **argv, struct contest *c)
{
	static const struct option longs[] = {
		{ "kind", required_argument, NULL, 'K' },
		{ "policy", required_argument, NULL, 'p' },
		{ "threads", required_argument, NULL, 'n' },
		{ "ratio", required_argument, NULL, 'r' },
		{ "hold-us", required_argument, NULL, 'o' },
		{ "compute-us", required_argument, NULL, 't' },
		{ "seconds", required_argument, NULL, 's' },
		{ "cpu", required_argument, NULL, 'c' },
		{ "spread", no_argument, NULL, 'S' },
		{ "json", no_argument, NULL, 'j' },
		{ "ktap", no_argument, NULL, 'k' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ }
	};
	int o;

	while ((o = getopt_long(argc, argv, ":hV", longs, NULL)) != -1) {
		switch (o) {
		case 'K':
			c->kind = args_choice("--kind", optarg, mutex_kinds);
			break;
		case 'p':
			c->policy = args_choice("--policy", optarg, mutex_policies);
			break;
		case 'n':
			c->tasks = (u32)args_number("--threads", optarg, 2, MUTEX_TASKS_MAX);
			break;
		case 'r':
			ratio_argument(c, optarg);
			break;
		case 'o':
			c->hold_ns = work_argument("--hold-us", optarg);
			break;
		case 't':
			c->compute_ns = work_argument("--compute-us", optarg);
			break;
		case 's':
			c->seconds = (u32)args_number("--seconds", optarg, 1, 3600);
			break;
		case 'c':
			c->cpu = cpu_argument(optarg);
			break;
		case 'S':
			c->spread = true;
			break;
		case 'j':
			c->output = OUTPUT_JSON;
			break;
		case 'k':
			c->output = OUTPUT_KTAP;
			break;
		case 'h':
			args_help(usage);
		case 'V':
			args_version();
		default:
			args_refuse(o, argv);
		}
	}
	args_no_more(argc, argv, optind);
	check(c);
}

int main(int argc, char **argv)
{
	struct contest c = {
		.tasks = 8,
		.hold_ns = 50 * NSEC_PER_MSEC,
		.compute_ns = 50 * NSEC_PER_MSEC,
		.seconds = 20,
	};
	struct arena *arena;
	int code;

	args_init("lottery-mutex");
	ratio_argument(&c, "2:1");
	c.cpu = first_cpu();
	parse(argc, argv, &c);
	if (c.policy == MUTEX_POLICY_LOTTERY)
		lottery_require();
	if (!c.spread)
		pin_to_cpu(c.cpu);
	/* fair tasks leave room for a launcher that is one, too */
	if (c.policy == MUTEX_POLICY_LOTTERY)
		become_launcher(LAUNCHER_PRIORITY);
	arena = xshared(sizeof(*arena));
	contest_run(&c, arena);
	code = contest_report(&c, arena);
	finish_output();
	return code;
}

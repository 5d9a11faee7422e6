// SPDX-License-Identifier: GPL-2.0
/*
 * lottery-insulate.c - two currencies, and inflation within one of them.
 *
 * Waldspurger and Weihl 1994, section 5.5 and figure 9: cgroups A and B are backed alike,
 * and each has two tasks. In the middle a third one begins in B, with as many tickets as
 * the other two together: they get half of what they had, and those in A what they had.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "affinity.h"
#include "args.h"
#include "cgroup.h"
#include "clock.h"
#include "hog.h"
#include "json.h"
#include "lottery_sched.h"

#define BACKING		1000U
#define TASKS		5U
#define PHASES		2U
#define WAIT_NS		(60 * NSEC_PER_SEC)

static const char usage[] =
"Usage: lottery-insulate [options]\n"
"\n"
"Let two cgroups with as many tickets each have two tasks, and let a third one begin in\n"
"the second group after half of the time. Needs root and cgroups of version 2.\n"
"\n"
"      --seconds S     how long each half lasts (10)\n"
"      --no-currencies the groups are no currencies: all tickets are alike\n"
"      --cpu CPU       where all run (the first that is allowed)\n"
"      --json          one JSON object for each task and half\n"
"  -h, --help          this text\n"
"  -V, --version       the version\n";

struct options {
	u32 seconds;
	u32 cpu;
	bool no_currencies;
	bool json;
};

static const struct task {
	unsigned int group;
	u32 tickets;
} tasks[TASKS] = { { 0, 100 }, { 0, 200 }, { 1, 100 }, { 1, 200 }, { 1, 300 } };

/* The last one begins in the middle. */
#define LATE	(TASKS - 1)

static const char *const groups[] = { "A", "B" };
static const char *const phases[PHASES] = { "before", "after" };

static void parse(int argc, char **argv, struct options *o)
{
	static const struct option longs[] = {
		{ "seconds", required_argument, NULL, 's' },
		{ "no-currencies", no_argument, NULL, 'n' },
		{ "cpu", required_argument, NULL, 'c' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ }
	};
	int c;

	while ((c = getopt_long(argc, argv, ":hV", longs, NULL)) != -1) {
		switch (c) {
		case 's':
			o->seconds = (u32)args_number("--seconds", optarg, 1, 86400);
			break;
		case 'n':
			o->no_currencies = true;
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

static const char *path_of(unsigned int group)
{
	static char path[2][64];

	snprintf(path[group], sizeof(path[group]), CGROUP_ROOT "/lottery-insulate-%d-%s",
		 getpid(), groups[group]);
	return path[group];
}

static void must(int error, const char *what)
{
	if (error)
		die(EXIT_FAILED, "%s: %s", what, strerror(-error));
}

static void open_groups(const struct options *o)
{
	unsigned int g;

	if (!cgroups_usable())
		die(EXIT_UNSUPPORTED, CGROUP_MISSING);
	for (g = 0; g < ARRAY_SIZE(groups); g++) {
		must(cgroup_make(path_of(g)), path_of(g));
		if (!o->no_currencies)
			must(cgroup_back(path_of(g), BACKING), "cpu.lottery.tickets");
	}
}

static void start_tasks(struct crew *crew)
{
	unsigned int i;

	crew_create(crew, TASKS);
	for (i = 0; i < TASKS; i++) {
		crew_fork(crew, hog, NULL);
		must(cgroup_move(path_of(tasks[i].group), crew->pid[i]), "cgroup.procs");
	}
	crew_gather(crew, WAIT_NS);
	for (i = 0; i < TASKS; i++)
		crew_enlist(crew, i, tasks[i].tickets, 0);
	store(&crew->page->slot[LATE].rest, 1);
	crew_release(crew);
	if (!hog_rest(crew, LATE, WAIT_NS))
		die(EXIT_FAILED, "task %u does not wait for its time", LATE + 1);
}

static void measure(struct crew *crew, u32 seconds, u64 *ran_ns)
{
	u64 before[TASKS];
	unsigned int i;

	for (i = 0; i < TASKS; i++)
		before[i] = process_cpu_ns(crew->pid[i]);
	sleep_until_ns(now_ns() + seconds * NSEC_PER_SEC);
	for (i = 0; i < TASKS; i++)
		ran_ns[i] = process_cpu_ns(crew->pid[i]) - before[i];
}

static void report(const struct options *o, u64 ran_ns[PHASES][TASKS])
{
	unsigned int phase, i;

	if (!o->json)
		printf("%-8s %-8s %8s %10s\n", "half", "currency", "tickets", "cpu s");
	for (phase = 0; phase < PHASES; phase++) {
		for (i = 0; i < TASKS; i++) {
			const char *group = groups[tasks[i].group];
			double ran_s = (double)ran_ns[phase][i] / NSEC_PER_SEC;

			if (!o->json) {
				printf("%-8s %-8s %8u %10.2f\n", phases[phase], group,
				       tasks[i].tickets, ran_s);
				continue;
			}
			json_open();
			json_text("case", phases[phase]);
			json_bool("currencies", !o->no_currencies);
			json_text("currency", group);
			json_number("task", i + 1);
			json_number("tickets", tasks[i].tickets);
			json_real("cpu_s", ran_s);
			json_close();
		}
	}
}

int main(int argc, char **argv)
{
	struct options o = { .seconds = 10 };
	u64 ran_ns[PHASES][TASKS];
	struct crew crew;
	unsigned int g;

	args_init("lottery-insulate");
	o.cpu = first_cpu();
	parse(argc, argv, &o);
	lottery_require();
	pin_to_cpu(o.cpu);
	become_launcher(LAUNCHER_PRIORITY);
	open_groups(&o);
	start_tasks(&crew);
	measure(&crew, o.seconds, ran_ns[0]);
	hog_wake(&crew, LATE);
	measure(&crew, o.seconds, ran_ns[1]);
	crew_destroy(&crew);
	for (g = 0; g < ARRAY_SIZE(groups); g++)
		must(cgroup_remove(path_of(g), WAIT_NS), path_of(g));
	report(&o, ran_ns);
	finish_output();
	return EXIT_GOOD;
}

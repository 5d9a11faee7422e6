// SPDX-License-Identifier: GPL-2.0
/* lottery-hogs.c - run a command beside tasks that want its CPU for ever. */
#include <getopt.h>
#include <stdint.h>

#include "affinity.h"
#include "args.h"
#include "hog.h"
#include "lottery_sched.h"
#include "target.h"

static const char usage[] =
"Usage: lottery-hogs [options] COMMAND [ARGUMENT...]\n"
"\n"
"Run a command with CPU-bound processes beside it, all on one CPU. The command\n"
"starts as SCHED_OTHER; the exit status is its own.\n"
"\n"
"      --hogs N         how many processes, 0..64 (1) ...\n"
"      --hog-tickets N  ... as lottery tasks with N tickets each (as SCHED_OTHER)\n"
"      --cpu CPU        where all of it runs (the first that is allowed)\n"
"  -h, --help           this text\n"
"  -V, --version        the version\n";

struct options {
	u32 hogs;
	u32 tickets;		/* 0: SCHED_OTHER */
	u32 cpu;
};

static void parse(int argc, char **argv, struct options *o)
{
	static const struct option longs[] = {
		{ "hogs", required_argument, NULL, 'H' },
		{ "hog-tickets", required_argument, NULL, 't' },
		{ "cpu", required_argument, NULL, 'c' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ }
	};
	int c;

	/* '+': the options of the command are not ours */
	while ((c = getopt_long(argc, argv, "+:hV", longs, NULL)) != -1) {
		switch (c) {
		case 'H':
			o->hogs = (u32)args_number("--hogs", optarg, 0, HOGS_MAX);
			break;
		case 't':
			o->tickets = (u32)args_number("--hog-tickets", optarg, 1,
						      LOTTERY_TICKETS_MAX);
			break;
		case 'c':
			o->cpu = cpu_argument(optarg);
			break;
		case 'h':
			args_help(usage);
		case 'V':
			args_version();
		default:
			args_refuse(c, argv);
		}
	}
	if (o->tickets && !o->hogs)
		die(EXIT_USAGE, "--hog-tickets needs --hogs of 1 or more");
	if (optind == argc)
		die(EXIT_USAGE, "a command is missing, try --help");
}

int main(int argc, char **argv)
{
	struct options o = { .hogs = 1 };
	struct crew hogs;
	pid_t child;
	int status;

	args_init("lottery-hogs");
	o.cpu = first_cpu();
	parse(argc, argv, &o);
	pin_to_cpu(o.cpu);
	hogs_start(&hogs, o.hogs, o.tickets);
	child = fork_child();
	if (!child)
		become(argv + optind);
	status = wait_child(child, UINT64_MAX);
	hogs_stop(&hogs);
	return exit_code_of(status);
}

// SPDX-License-Identifier: GPL-2.0
/* lottery-api.c - the class's interface: refusals first, then the rest. */
#include <getopt.h>
#include <string.h>
#include <unistd.h>

#include "affinity.h"
#include "api.h"
#include "args.h"

#define GROUPS	(API_REFUSAL_GROUPS + 4)

static const char usage[] =
"Usage: lottery-api [options]\n"
"\n"
"Test the interface of SCHED_LOTTERY: what it refuses, what it takes, what that\n"
"does. All that must be refused comes first, each time with a look that nothing has\n"
"changed: for a SCHED_OTHER task, a sleeping and a runnable lottery task, and an\n"
"unprivileged caller. The output is KTAP. Needs root, and no other lottery tasks that\n"
"start or stop meanwhile.\n"
"\n"
"      --reads N       reads of /proc/sched_lottery in a row (100000)\n"
"      --sysrq         test SysRq-n as well, which sets every task of the machine\n"
"                      to SCHED_OTHER: for a virtual machine\n"
"      --cpu CPU       where its tasks run (the first that is allowed)\n"
TEST_USAGE;

static void parse(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "reads", required_argument, NULL, 'r' },
		{ "sysrq", no_argument, NULL, 's' },
		{ "cpu", required_argument, NULL, 'c' },
		{ "ktap", no_argument, NULL, 'k' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ }
	};
	int c;

	while ((c = getopt_long(argc, argv, ":hV", longs, NULL)) != -1) {
		switch (c) {
		case 'r':
			api.reads = args_number("--reads", optarg, 1, 1000000000);
			break;
		case 's':
			api.sysrq = true;
			break;
		case 'c':
			api.cpu = cpu_argument(optarg);
			break;
		default:
			args_validator(c, argv, usage);
		}
	}
	args_no_more(argc, argv, optind);
}

int main(int argc, char **argv)
{
	struct lottery_state state;
	struct ktap k;

	args_init("lottery-api");
	if (argc == 2 && !strcmp(argv[1], API_WAIT_VERB))
		return api_wait_verb();
	api.reads = 100000;
	api.cpu = first_cpu();
	parse(argc, argv);
	lottery_require();
	if (geteuid())
		die(EXIT_FAILED, "be root: the tests drop privileges");
	lottery_read(&state);
	api.tick_ns = state.tick_ns;
	pin_to_cpu(api.cpu);
	become_launcher(LAUNCHER_PRIORITY);
	ktap_start(&k, GROUPS);
	api_refusals(&k);
	api_acceptances(&k);
	api_inheritance(&k);
	api_effects(&k);
	api_proc(&k);
	return ktap_finish(&k);
}

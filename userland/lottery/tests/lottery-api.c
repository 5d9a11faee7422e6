// SPDX-License-Identifier: GPL-2.0
/* lottery-api.c - the class's interface: refusals first, then the rest. */
#include <string.h>
#include <unistd.h>

#include "affinity.h"
#include "api.h"
#include "args.h"
#include "opts.h"

#define GROUPS	(API_REFUSAL_GROUPS + 4)

static const struct opt rows[] = {
	OPT(0, "--reads", "N", NUMBER(api.reads, 1, 1000000000, 100000),
	    "reads of /proc/sched_lottery in a row (%d)"),
	OPT(0, "--sysrq", NULL, FLAG(api.sysrq),
	    "test SysRq-n as well, which sets every task of the machine\n"
	    "to SCHED_OTHER: for a virtual machine"),
	OPT(0, "--cpu", "CPU", CALL_TO(cpu_option, api.cpu),
	    "where its tasks run (the first that is allowed)"),
	KTAP_OPT,
	{ }
};

static const struct opts opts = {
	.usage =
"Usage: lottery-api [options]\n"
"\n"
"Test the interface of SCHED_LOTTERY: what it refuses, what it takes, what that\n"
"does. All that must be refused comes first, each time with a look that nothing has\n"
"changed: for a SCHED_OTHER task, a sleeping and a runnable lottery task, and an\n"
"unprivileged caller. The output is KTAP. Needs root, and no other lottery tasks that\n"
"start or stop meanwhile.\n"
"\n",
	.rows = rows,
	.tail = TEST_TAIL,
};

int main(int argc, char **argv)
{
	struct lottery_state state;
	struct ktap k;

	args_init("lottery-api");
	if (argc == 2 && !strcmp(argv[1], API_WAIT_VERB))
		return api_wait_verb();
	api.cpu = first_cpu();
	opts_parse(&opts, argc, argv);
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

// SPDX-License-Identifier: GPL-2.0
/* lottery_lend.c - lottery lend: a command whose tickets work while it waits. */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "clock.h"
#include "diskfile.h"
#include "lottery_sched.h"
#include "verbs.h"

#define LEND_MAX_S	(365ULL * 24 * 3600)

struct options {
	u32 tickets;		/* to join the class with, 0 when it is in it */
	pid_t to[LOTTERY_LOANS_MAX];
	unsigned int count;
	u32 amount;
	u64 timeout_ns;
};

static struct options options;

static void add_borrower(const struct opt *row, const char *text)
{
	if (options.count == LOTTERY_LOANS_MAX)
		die(EXIT_USAGE, "%s: more than %u tasks", row->name, LOTTERY_LOANS_MAX);
	options.to[options.count++] = (pid_t)args_number(row->name, text, 1, 1 << 30);
}

static const struct opt rows[] = {
	OPT(0, "--to", "PID", CALL(add_borrower),
	    "a thread that the command waits for; up to 8 times"),
	OPT(0, "--amount", "TICKETS", NUMBER(options.amount, 1, LOTTERY_TICKETS_MAX, 0),
	    "%r to each (all that the command has)"),
	OPT(0, "--timeout", "S", SCALED(options.timeout_ns, 1, LEND_MAX_S, 0, NSEC_PER_SEC),
	    "%r seconds, after which it lends no more (none)"),
	OPT('t', "--tickets", "TICKETS", NUMBER(options.tickets, 1, LOTTERY_TICKETS_MAX, 0),
	    "%r of its own, if the caller has none"),
	{ }
};

const struct opts lend_opts = {
	.name = "lend",
	.operand = "COMMAND",
	.rows = rows,
	.command = true,
	.whole = &lottery_opts,
};

static void parse(int argc, char **argv, const struct options *o)
{
	opts_parse(&lend_opts, argc, argv);
	if (!o->count)
		die(EXIT_USAGE, "lend: --to PID is missing");
	if (optind == argc)
		die(EXIT_USAGE, "lend: a command is missing, try --help");
}

static void __noreturn refused(pid_t pid)
{
	switch (errno) {
	case ESRCH:
		die(EXIT_FAILED, "pid %d: no such task", pid);
	case EPERM:
		if (sched_getscheduler(0) == SCHED_LOTTERY)
			die(EXIT_FAILED,
			    "pid %d: another user's task: to lend to it needs CAP_SYS_NICE", pid);
		die(EXIT_FAILED, "only a lottery task has tickets to lend: use -t TICKETS");
	case EINVAL:
		die(EXIT_UNSUPPORTED, "this kernel lends no tickets");
	default:
		die(EXIT_FAILED, "pid %d: %s", pid, strerror(errno));
	}
}

int lottery_lend(int argc, char **argv)
{
	const struct options *o = &options;
	unsigned int i;

	parse(argc, argv, o);
	if (o->tickets) {
		lottery_require();
		if (lottery_join(0, o->tickets, 0))
			die(EXIT_FAILED, LOTTERY_DENIED);
	}
	for (i = 0; i < o->count; i++) {
		struct loan_ask ask = {
			.pid = o->to[i],
			.tickets = o->amount,
			.flags = LOAN_KEEP,
			.timeout_ns = o->timeout_ns,
		};

		if (loan_make(&ask))
			refused(o->to[i]);
	}
	become(argv + optind);
}

// SPDX-License-Identifier: GPL-2.0
/* lottery_lend.c - lottery lend: a command whose tickets work while it waits. */
#include <errno.h>
#include <getopt.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "clock.h"
#include "lottery_loan.h"
#include "lottery_sched.h"
#include "target.h"
#include "verbs.h"

#define LEND_MAX_S	(365ULL * 24 * 3600)

struct options {
	u32 tickets;		/* to join the class with, 0 when it is in it */
	pid_t to[LOTTERY_LOANS_MAX];
	unsigned int count;
	u32 amount;
	u64 timeout_ns;
};

static void add_borrower(struct options *o, const char *text)
{
	if (o->count == LOTTERY_LOANS_MAX)
		die(EXIT_USAGE, "--to: more than %u tasks", LOTTERY_LOANS_MAX);
	o->to[o->count++] = (pid_t)args_number("--to", text, 1, 1 << 30);
}

static void parse(int argc, char **argv, struct options *o, const char *usage)
{
	static const struct option longs[] = {
		{ "to", required_argument, NULL, 'o' },
		{ "amount", required_argument, NULL, 'a' },
		{ "timeout", required_argument, NULL, 'T' },
		{ "tickets", required_argument, NULL, 't' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ }
	};
	int c;

	while ((c = getopt_long(argc, argv, "+:t:hV", longs, NULL)) != -1) {
		switch (c) {
		case 'o':
			add_borrower(o, optarg);
			break;
		case 'a':
			o->amount = (u32)args_number("--amount", optarg, 1,
						     LOTTERY_TICKETS_MAX);
			break;
		case 'T':
			o->timeout_ns = args_number("--timeout", optarg, 1, LEND_MAX_S) *
					NSEC_PER_SEC;
			break;
		case 't':
			o->tickets = (u32)args_number("--tickets", optarg, 1,
						      LOTTERY_TICKETS_MAX);
			break;
		case 'h':
			args_help(usage);
		case 'V':
			args_version();
		default:
			args_refuse(c, argv);
		}
	}
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
		die(EXIT_FAILED, "only a lottery task has tickets to lend: use -t TICKETS");
	case EINVAL:
		die(EXIT_UNSUPPORTED, "this kernel lends no tickets");
	default:
		die(EXIT_FAILED, "pid %d: %s", pid, strerror(errno));
	}
}

int lottery_lend(int argc, char **argv, const char *usage)
{
	struct options o = { };
	unsigned int i;

	parse(argc, argv, &o, usage);
	if (o.tickets) {
		lottery_require();
		if (lottery_join(0, o.tickets, 0))
			die(EXIT_FAILED, LOTTERY_DENIED);
	}
	for (i = 0; i < o.count; i++) {
		struct loan_ask ask = {
			.pid = o.to[i],
			.tickets = o.amount,
			.flags = LOAN_KEEP,
			.timeout_ns = o.timeout_ns,
		};

		if (loan_make(&ask))
			refused(o.to[i]);
	}
	become(argv + optind);
}

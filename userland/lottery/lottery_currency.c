// SPDX-License-Identifier: GPL-2.0
/* lottery_currency.c - lottery currency: tickets that are backed by others. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "cgroup.h"
#include "diskfile.h"
#include "lottery_sched.h"
#include "verbs.h"

struct options {
	const char *group;	/* NULL for a command */
	bool backed;		/* --backing was given */
	u32 backing;
	u32 tickets;		/* to join the class with, 0 when it is in it */
};

static struct options options;

static const struct opt rows[] = {
	OPT('b', "--backing", "TICKETS", NUMBER(options.backing, 0, LOTTERY_TICKETS_MAX, 0),
	    "1..1000000 to share; 0 to leave it, or to end a cgroup's",
	    .given = &options.backed),
	OPT('g', "--group", "GROUP", TEXT(options.group, NULL),
	    "a cgroup, from " CGROUP_ROOT " on or with its whole path"),
	OPT('t', "--tickets", "TICKETS", NUMBER(options.tickets, 1, LOTTERY_TICKETS_MAX, 0),
	    "%r within it, if the caller is not in the class"),
	{ }
};

const struct opts currency_opts = {
	.name = "currency",
	.operand = "COMMAND",
	.rows = rows,
	.command = true,
	.whole = &lottery_opts,
};

static void check(int argc, char **argv, const struct options *o)
{
	if (o->group && o->tickets)
		die(EXIT_USAGE, "currency: --tickets goes with a command, not with --group");
	if (o->group) {
		args_no_more(argc, argv, optind);
		return;
	}
	if (!o->backed)
		die(EXIT_USAGE, "currency: --backing TICKETS is missing");
	if (optind == argc)
		die(EXIT_USAGE, "currency: a command or --group is missing, try --help");
}

/* A path, or what follows the root of all cgroups. */
static char *path_of(const char *group)
{
	char *path = NULL;

	if (group[0] == '/')
		path = strdup(group);
	else if (asprintf(&path, CGROUP_ROOT "/%s", group) < 0)
		path = NULL;
	if (!path)
		die(EXIT_FAILED, "no memory");
	return path;
}

static void __noreturn group_refused(const char *path, int error)
{
	switch (error) {
	case -ENOENT:
		die(EXIT_FAILED, "%s: no cgroup that can be a currency", path);
	case -EPERM:
		die(EXIT_FAILED, "%s: base tickets need CAP_SYS_NICE (be root)", path);
	case -ENOSPC:
		die(EXIT_FAILED, "%s: more than %u currencies within each other", path,
		    LOTTERY_CURRENCIES_MAX);
	default:
		die(EXIT_FAILED, "%s: %s", path, strerror(-error));
	}
}

static int change_or_show(const struct options *o)
{
	char *path = path_of(o->group), tickets[32], stat[256];
	int error;

	if (o->backed) {
		error = cgroup_back(path, o->backing);
	} else {
		error = cgroup_read(path, "cpu.lottery.tickets", tickets, sizeof(tickets));
		if (!error)
			error = cgroup_read(path, "cpu.lottery.stat", stat, sizeof(stat));
	}
	if (error)
		group_refused(path, error);
	if (!o->backed)
		printf("backing %s%s", tickets, stat);
	free(path);
	return EXIT_GOOD;
}

int lottery_currency(int argc, char **argv)
{
	const struct options *o = &options;

	opts_parse(&currency_opts, argc, argv);
	check(argc, argv, o);
	if (o->group)
		return change_or_show(o);
	if (o->tickets) {
		lottery_require();
		if (lottery_join(0, o->tickets, 0))
			die(EXIT_FAILED, LOTTERY_DENIED);
	}
	if (currency_make(o->backing))
		die(EXIT_FAILED, errno != EPERM ? "%s" : o->backing ?
		    "more tickets than it has need CAP_SYS_NICE (be root)" :
		    "to leave a currency needs CAP_SYS_NICE (be root)", strerror(errno));
	become(argv + optind);
}

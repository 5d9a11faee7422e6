// SPDX-License-Identifier: GPL-2.0
/* lottery_currency.c - lottery currency: tickets that are backed by others. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "cgroup.h"
#include "lottery_currency.h"
#include "lottery_sched.h"
#include "target.h"
#include "verbs.h"

struct options {
	const char *group;	/* NULL for a command */
	bool backed;		/* --backing was given */
	u32 backing;
	u32 tickets;		/* to join the class with, 0 when it is in it */
};

static void parse(int argc, char **argv, struct options *o, const char *usage)
{
	static const struct option longs[] = {
		{ "backing", required_argument, NULL, 'b' },
		{ "group", required_argument, NULL, 'g' },
		{ "tickets", required_argument, NULL, 't' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ }
	};
	int c;

	while ((c = getopt_long(argc, argv, "+:b:g:t:hV", longs, NULL)) != -1) {
		switch (c) {
		case 'b':
			o->backing = (u32)args_number("--backing", optarg, 0,
						      LOTTERY_TICKETS_MAX);
			o->backed = true;
			break;
		case 'g':
			o->group = optarg;
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
}

static void check(int argc, char **argv, const struct options *o)
{
	if (o->group && o->tickets)
		die(EXIT_USAGE, "currency: --tickets goes with a command, not with --group");
	if (o->group) {
		args_no_more(argc, argv, optind);
		return;
	}
	if (!o->backing)
		die(EXIT_USAGE, "currency: --backing TICKETS is missing, at least 1");
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

int lottery_currency(int argc, char **argv, const char *usage)
{
	struct options o = { };

	parse(argc, argv, &o, usage);
	check(argc, argv, &o);
	if (o.group)
		return change_or_show(&o);
	if (o.tickets) {
		lottery_require();
		if (lottery_join(0, o.tickets, 0))
			die(EXIT_FAILED, LOTTERY_DENIED);
	}
	if (currency_make(o.backing))
		die(EXIT_FAILED, errno == EPERM ?
		    "more tickets than it has need CAP_SYS_NICE (be root)" : "%s",
		    strerror(errno));
	become(argv + optind);
}

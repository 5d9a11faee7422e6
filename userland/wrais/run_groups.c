// SPDX-License-Identifier: GPL-2.0
/* run_groups.c - wrais-run: probe and load in cgroups of their own. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "cgroup.h"
#include "clock.h"
#include "files.h"
#include "privilege.h"
#include "run.h"

#define PROBE_GROUP	CGROUP_ROOT "/wrais-run-probe"
#define LOAD_GROUP	CGROUP_ROOT "/wrais-run-load"
#define WEIGHT_MAX	1000U
/* For tasks that were killed to leave. */
#define REMOVE_NS	(10 * NSEC_PER_SEC)

void groups_parse(const char *text, struct run_options *o)
{
	char *words = xstrdup(text), *comma = strchr(words, ',');

	if (!comma)
		die(EXIT_USAGE, "--groups: bad value '%s': WEIGHT,WEIGHT is allowed", text);
	*comma = '\0';
	o->probe_weight = (u32)args_number("--groups", words, 1, WEIGHT_MAX);
	o->load_weight = (u32)args_number("--groups", comma + 1, 1, WEIGHT_MAX);
	free(words);
}

static void set_in(const char *group, const char *name, u32 value)
{
	char text[16];
	int error;

	snprintf(text, sizeof(text), "%u", value);
	error = cgroup_write(group, name, text);
	if (error)
		die(EXIT_FAILED, "cannot write '%s' to %s/%s: %s", text, group, name,
		    strerror(-error));
}

static void make_group(const char *group, u32 weight)
{
	int error = cgroup_make(group);

	if (error && error != -EEXIST)
		die(EXIT_FAILED, "%s: %s", group, strerror(-error));
	set_in(group, "io.bfq.weight", weight);
}

static void enter(const char *group)
{
	int error = cgroup_move(group, 0);

	if (error)
		die(EXIT_FAILED, "cannot move to the cgroup %s: %s", group, strerror(-error));
}

void groups_make(const struct run_options *o)
{
	int error = cgroup_write(CGROUP_ROOT, "cgroup.subtree_control", "+io");

	if (error)
		die(EXIT_UNSUPPORTED, "--groups: no cgroup2 with the io controller at "
		    CGROUP_ROOT ": %s", strerror(-error));
	make_group(PROBE_GROUP, o->probe_weight);
	make_group(LOAD_GROUP, o->load_weight);
	if (o->member)
		set_in(PROBE_GROUP, CGROUP_SWITCH, 1);
	/* Each task that is started from now on belongs there as well. */
	enter(LOAD_GROUP);
}

void groups_join_probe(void)
{
	enter(PROBE_GROUP);
}

void groups_remove(void)
{
	int error = cgroup_move(CGROUP_ROOT, 0);

	if (!error)
		error = cgroup_remove(PROBE_GROUP, REMOVE_NS);
	if (!error)
		error = cgroup_remove(LOAD_GROUP, REMOVE_NS);
	if (error)
		complain("the cgroups of wrais-run stay: %s", strerror(-error));
}

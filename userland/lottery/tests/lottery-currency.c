// SPDX-License-Identifier: GPL-2.0
/* lottery-currency.c - tickets within cgroups and processes: refusals first. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "affinity.h"
#include "args.h"
#include "clock.h"
#include "currency.h"
#include "lottery_sched.h"

static const char usage[] =
"Usage: lottery-currency [options]\n"
"\n"
"Test currencies of SCHED_LOTTERY: what a cgroup is worth that has\n"
"cpu.lottery.tickets, and a process that asked for that, and what their members get of\n"
"it. The output is KTAP. Needs root, cgroups of version 2, and no other lottery tasks\n"
"that start or stop meanwhile.\n"
"\n";

/* The other way to say it. */
static long result_of(int error)
{
	errno = -error;
	return error ? -1 : 0;
}

void group_open(struct ktap_case *t, struct group *g, const struct group *parent,
		const char *name, u32 tickets)
{
	int error;

	if (parent)
		cgroup_control_cpu(parent->path);
	if (asprintf(&g->path, "%s/%s-%d", parent ? parent->path : CGROUP_ROOT, name,
		     getpid()) < 0)
		die(EXIT_FAILED, "no memory");
	error = cgroup_make(g->path);
	expect(t, !error, "cannot make %s: %s", g->path, strerror(-error));
	if (tickets)
		group_back(t, g, tickets);
}

void group_close(struct ktap_case *t, const struct group *g)
{
	int error = cgroup_remove(g->path, STAGE_WAIT_NS);

	expect(t, !error, "cannot remove %s: %s", g->path, strerror(-error));
	free(g->path);
}

void group_back(struct ktap_case *t, const struct group *g, u32 tickets)
{
	int error = cgroup_back(g->path, tickets);

	expect(t, !error, "cannot back %s with %u tickets: %s", g->path, tickets,
	       strerror(-error));
}

void group_move(struct ktap_case *t, const struct group *g, const struct stage *s,
		unsigned int i)
{
	const char *path = g ? g->path : CGROUP_ROOT;
	int error = cgroup_move(path, s->crew.pid[i]);

	expect(t, !error, "cannot move actor %u to %s: %s", i, path, strerror(-error));
}

void all_spin(struct ktap_case *t, struct stage *s)
{
	unsigned int i;

	for (i = 0; i < s->crew.count; i++)
		act(t, s, i, ACT_SPIN, 0);
}

void give(struct ktap_case *t, const struct stage *s, unsigned int i, u32 tickets)
{
	expect(t, !lottery_join(s->crew.pid[i], tickets, 0), "actor %u gets no tickets: %s", i,
	       strerror(errno));
}

static void refused_tickets(struct ktap_case *t)
{
	static const struct {
		const char *text;
		int error;
	} texts[] = {
		{ "1000001", ERANGE }, { "18446744073709551615", ERANGE }, { "-1", EINVAL },
		{ "many", EINVAL }, { "1000000", 0 }, { "0", 0 }, { "0", 0 },
	};
	struct group g;
	char text[32];
	unsigned int i;
	int error;

	group_open(t, &g, NULL, "refused", 7);
	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		error = cgroup_write(g.path, "cpu.lottery.tickets", texts[i].text);
		expect_error(t, texts[i].text, result_of(error), texts[i].error);
		cgroup_read(g.path, "cpu.lottery.tickets", text, sizeof(text));
		expect(t, !strcmp(text, texts[i].error ? "7\n" : i == 4 ? "1000000\n" : "0\n"),
		       "after '%s' it says %s", texts[i].text, text);
	}
	group_close(t, &g);
}

static void refused_depth(struct ktap_case *t)
{
	struct group g[LOTTERY_CURRENCIES_MAX + 1];
	unsigned int i;

	for (i = 0; i <= LOTTERY_CURRENCIES_MAX; i++)
		group_open(t, &g[i], i ? &g[i - 1] : NULL, "d", i ? 10 : 0);
	/* One more at the top would be above eight. */
	expect_error(t, "a ninth currency above", result_of(cgroup_back(g[0].path, 1)), ENOSPC);
	group_back(t, &g[4], 0);
	group_back(t, &g[0], 1);
	expect_error(t, "a ninth currency between", result_of(cgroup_back(g[4].path, 1)),
		     ENOSPC);
	while (i--)
		group_close(t, &g[i]);
}

/* Groups that belong to somebody else: step that failed, or 0. */
static int nobody_asks(const struct group *outer, const struct group *inner)
{
	if (setresuid(NOBODY, NOBODY, NOBODY))
		return 1;
	if (cgroup_back(outer->path, 20) != -EPERM || cgroup_back(outer->path, 0) != -EPERM)
		return 2;
	if (cgroup_back(inner->path, 20) || cgroup_back(inner->path, 0) ||
	    cgroup_back(inner->path, LOTTERY_TICKETS_MAX))
		return 3;
	return 0;
}

static bool hand_over(const struct group *g)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/cpu.lottery.tickets", g->path);
	return !chown(path, NOBODY, NOBODY);
}

static void refused_delegation(struct ktap_case *t)
{
	struct group outer, inner;
	int status;
	pid_t pid;

	group_open(t, &outer, NULL, "outer", 10);
	group_open(t, &inner, &outer, "inner", 0);
	expect(t, hand_over(&outer) && hand_over(&inner), "chown: %s", strerror(errno));
	pid = fork_child();
	if (!pid)
		_exit(nobody_asks(&outer, &inner));
	status = wait_child(pid, now_ns() + STAGE_WAIT_NS);
	expect(t, !status, "step %d: see nobody_asks()", status >> 8);
	group_close(t, &inner);
	group_close(t, &outer);
}

void currency_refusals(struct ktap *k)
{
	static const struct ktap_test tests[] = {
		{ "tickets of a cgroup", refused_tickets },
		{ "too many within each other", refused_depth },
		{ "base tickets for the unprivileged", refused_delegation },
	};

	ktap_group(k, "refusals", tests, ARRAY_SIZE(tests));
}

int main(int argc, char **argv)
{
	struct ktap k;

	args_init("lottery-currency");
	theatre.slack = 0.01;
	theatre_parse(argc, argv, usage, 2000);
	lottery_require();
	if (!cgroups_usable())
		die(EXIT_SKIPPED, CGROUP_MISSING);
	theatre_open();
	ktap_start(&k, CURRENCY_GROUPS);
	currency_refusals(&k);
	currency_values(&k);
	currency_changes(&k);
	currency_processes(&k);
	return ktap_finish(&k);
}

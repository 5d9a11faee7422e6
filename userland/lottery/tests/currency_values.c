// SPDX-License-Identifier: GPL-2.0
/* currency_values.c - lottery-currency: what members of cgroups get. */
#include "affinity.h"
#include "clock.h"
#include "currency.h"
#include "lottery_sched.h"

/* Two groups, with two actors each. */
struct pair {
	struct stage stage;
	struct group a;
	struct group b;
};

enum {
	A1,
	A2,
	B1,
	B2,
	FOUR,
};

static const u32 hundred[FOUR] = { 100, 100, 100, 100 };

static void pair_open(struct ktap_case *t, struct pair *p, u32 backs_a, u32 backs_b)
{
	group_open(t, &p->a, NULL, "a", backs_a);
	group_open(t, &p->b, NULL, "b", backs_b);
	stage_open(&p->stage, hundred, FOUR);
	group_move(t, &p->a, &p->stage, A1);
	group_move(t, &p->a, &p->stage, A2);
	group_move(t, &p->b, &p->stage, B1);
	group_move(t, &p->b, &p->stage, B2);
	all_spin(t, &p->stage);
}

static void pair_close(struct ktap_case *t, struct pair *p)
{
	stage_close(t, &p->stage);
	group_close(t, &p->a);
	group_close(t, &p->b);
}

static void inflation_is_inside(struct ktap_case *t)
{
	struct pair p;

	pair_open(t, &p, 1000, 1000);
	expect_share(t, &p.stage, A1, 1, 4);
	give(t, &p.stage, B1, LOTTERY_TICKETS_MAX);
	expect_share(t, &p.stage, A1, 1, 4);
	expect_share(t, &p.stage, B1, 1, 2);
	give(t, &p.stage, B1, 300);
	expect_share(t, &p.stage, B1, 3, 8);
	expect_share(t, &p.stage, B2, 1, 8);
	pair_close(t, &p);
}

static void value_is_with_the_active(struct ktap_case *t)
{
	struct pair p;

	pair_open(t, &p, 2000, 1000);
	expect_share(t, &p.stage, A2, 1, 3);
	act(t, &p.stage, A1, ACT_SLEEP, 0);
	expect_share(t, &p.stage, A2, 2, 3);
	act(t, &p.stage, A2, ACT_SLEEP, 0);
	expect_share(t, &p.stage, B1, 1, 2);
	act(t, &p.stage, A1, ACT_SPIN, 0);
	expect_share(t, &p.stage, A1, 2, 3);
	pair_close(t, &p);
}

static void beside_those_outside(struct ktap_case *t)
{
	struct pair p;

	pair_open(t, &p, 200, 100);
	group_move(t, NULL, &p.stage, B2);
	expect_share(t, &p.stage, B2, 1, 4);
	expect_share(t, &p.stage, A1, 1, 4);
	pair_close(t, &p);
}

static void within_each_other(struct ktap_case *t)
{
	struct group inner, one, other;
	struct pair p;

	pair_open(t, &p, 1000, 1000);
	/* A cgroup has tasks or groups. */
	group_move(t, NULL, &p.stage, B1);
	group_move(t, NULL, &p.stage, B2);
	group_open(t, &inner, &p.b, "inner", 300);
	group_open(t, &one, &inner, "one", 50);
	group_open(t, &other, &inner, "other", 100);
	group_move(t, &one, &p.stage, B1);
	group_move(t, &other, &p.stage, B2);
	expect_share(t, &p.stage, B1, 1, 6);
	expect_share(t, &p.stage, A1, 1, 4);
	give(t, &p.stage, B1, LOTTERY_TICKETS_MAX);
	expect_share(t, &p.stage, B2, 2, 6);
	act(t, &p.stage, B2, ACT_SLEEP, 0);
	expect_share(t, &p.stage, B1, 1, 2);
	stage_close(t, &p.stage);
	group_close(t, &one);
	group_close(t, &other);
	group_close(t, &inner);
	group_close(t, &p.a);
	group_close(t, &p.b);
}

/* A's tickets are half here, half there, and so are B's until one of them sleeps. */
static void on_several_cpus(struct ktap_case *t)
{
	struct pair p;

	if (theatre.cpu == theatre.other_cpu) {
		skip_test(t, "one CPU");
		return;
	}
	pair_open(t, &p, 2000, 1000);
	affinity_set(p.stage.crew.pid[A2], 1ULL << theatre.other_cpu);
	affinity_set(p.stage.crew.pid[B2], 1ULL << theatre.other_cpu);
	/* Of the time of both CPUs. */
	expect_share(t, &p.stage, A1, 2, 6);
	expect_share(t, &p.stage, B2, 1, 6);
	act(t, &p.stage, B2, ACT_SLEEP, 0);
	expect_share(t, &p.stage, B1, 1, 4);
	expect_share(t, &p.stage, A2, 1, 2);
	pair_close(t, &p);
}

/* What B1 lends is of B, wherever it goes. */
static void loans_stay_inside(struct ktap_case *t)
{
	struct pair p;

	pair_open(t, &p, 1000, 1000);
	act(t, &p.stage, B2, ACT_SLEEP, 0);
	act_lend(t, &p.stage, B1, A1, 0, LOAN_KEEP, 0);
	expect_share(t, &p.stage, A2, 1, 4);
	expect_share(t, &p.stage, A1, 3, 4);
	act(t, &p.stage, B2, ACT_SPIN, 0);
	expect_share(t, &p.stage, B2, 1, 4);
	group_move(t, &p.a, &p.stage, B1);
	expect_share(t, &p.stage, B2, 1, 2);
	expect_share(t, &p.stage, A1, 2, 6);
	pair_close(t, &p);
}

struct stat_wanted {
	const struct group *group;
	const char *name;
	s64 value;
};

static bool stat_is(void *arg)
{
	const struct stat_wanted *w = arg;

	return cgroup_lottery_stat(w->group->path, w->name) == w->value;
}

/* Soon: a task that says that it sleeps may have been preempted on the way. */
static void expect_stat(struct ktap_case *t, const struct group *group, const char *name,
			s64 value)
{
	struct stat_wanted wanted = { group, name, value };

	expect(t, wait_until(stat_is, &wanted, STAGE_WAIT_NS), "%s %lld, wanted %lld", name,
	       cgroup_lottery_stat(group->path, name), value);
}

static void statistics(struct ktap_case *t)
{
	struct pair p;

	pair_open(t, &p, 1000, 1000);
	expect_stat(t, &p.a, "active", 200);
	expect_stat(t, &p.a, "entries", 2);
	pass(&p.stage, 100 * NSEC_PER_MSEC);
	expect(t, cgroup_lottery_stat(p.a.path, "wins") > 0, "no wins");
	act(t, &p.stage, A1, ACT_SLEEP, 0);
	expect_stat(t, &p.a, "active", 100);
	pair_close(t, &p);
}

void currency_values(struct ktap *k)
{
	static const struct ktap_test tests[] = {
		{ "inflation is at the expense of the same currency", inflation_is_inside },
		{ "value is with the active", value_is_with_the_active },
		{ "beside those outside", beside_those_outside },
		{ "within each other", within_each_other },
		{ "on several CPUs", on_several_cpus },
		{ "loans stay inside", loans_stay_inside },
		{ "statistics", statistics },
	};

	ktap_group(k, "values", tests, ARRAY_SIZE(tests));
}

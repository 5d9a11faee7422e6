// SPDX-License-Identifier: GPL-2.0
/* currency_changes.c - lottery-currency: groups that change while tasks are in them. */
#include "currency.h"
#include "lottery_sched.h"

enum {
	INSIDE,
	OUTSIDE,
	TWO,
};

struct scene {
	struct stage stage;
	struct group g;
};

static void scene_open(struct ktap_case *t, struct scene *s, u32 inside, u32 backs)
{
	const u32 tickets[TWO] = { inside, 100 };

	group_open(t, &s->g, NULL, "g", backs);
	stage_open(&s->stage, tickets, TWO);
	group_move(t, &s->g, &s->stage, INSIDE);
	all_spin(t, &s->stage);
}

static void scene_close(struct ktap_case *t, struct scene *s)
{
	stage_close(t, &s->stage);
	group_close(t, &s->g);
}

static void more_back_it(struct ktap_case *t)
{
	struct scene s;

	scene_open(t, &s, 100, 100);
	expect_share(t, &s.stage, INSIDE, 1, 2);
	group_back(t, &s.g, 300);
	expect_share(t, &s.stage, INSIDE, 3, 4);
	group_back(t, &s.g, 1);
	expect_share(t, &s.stage, INSIDE, 1, 101);
	scene_close(t, &s);
}

/* A group whose tasks have tickets of the currency above becomes one, and is none. */
static void it_becomes_one(struct ktap_case *t)
{
	struct scene s;

	scene_open(t, &s, 300, 0);
	expect_share(t, &s.stage, INSIDE, 3, 4);
	group_back(t, &s.g, 100);
	expect_share(t, &s.stage, INSIDE, 1, 2);
	expect_tickets(t, &s.stage, 200);
	group_back(t, &s.g, 0);
	expect_share(t, &s.stage, INSIDE, 3, 4);
	expect_tickets(t, &s.stage, 400);
	scene_close(t, &s);
}

/* The same for one that is around a currency. */
static void around_one(struct ktap_case *t)
{
	struct group inner;
	struct scene s;

	scene_open(t, &s, 300, 0);
	group_move(t, NULL, &s.stage, INSIDE);
	group_open(t, &inner, &s.g, "inner", 50);
	group_move(t, &inner, &s.stage, INSIDE);
	expect_share(t, &s.stage, INSIDE, 50, 150);
	group_back(t, &s.g, 300);
	expect_share(t, &s.stage, INSIDE, 3, 4);
	group_back(t, &s.g, 0);
	expect_share(t, &s.stage, INSIDE, 50, 150);
	stage_close(t, &s.stage);
	group_close(t, &inner);
	group_close(t, &s.g);
}

static void tasks_move(struct ktap_case *t)
{
	struct scene s;
	unsigned int i;

	scene_open(t, &s, 100, 300);
	for (i = 0; i < 20; i++) {
		group_move(t, NULL, &s.stage, INSIDE);
		expect_tickets(t, &s.stage, 200);
		group_move(t, &s.g, &s.stage, INSIDE);
		expect_tickets(t, &s.stage, 400);
	}
	expect_share(t, &s.stage, INSIDE, 3, 4);
	scene_close(t, &s);
}

/* What it was given within a currency is no more than nice 0 outside. */
static void what_comes_out(struct ktap_case *t)
{
	struct scene s;

	scene_open(t, &s, 100, 100);
	give(t, &s.stage, INSIDE, LOTTERY_TICKETS_MAX);
	expect_tickets(t, &s.stage, 200);
	group_move(t, NULL, &s.stage, INSIDE);
	expect_tickets(t, &s.stage, 1124);
	give(t, &s.stage, INSIDE, 2000);
	expect_tickets(t, &s.stage, 2100);
	scene_close(t, &s);
}

/* A loan is left behind in a group that goes away, and does not win before. */
static void a_group_with_a_loan_goes(struct ktap_case *t)
{
	struct scene s;

	scene_open(t, &s, 100, 300);
	act_lend(t, &s.stage, INSIDE, OUTSIDE, 0, LOAN_KEEP, 0);
	expect_tickets(t, &s.stage, 400);
	group_back(t, &s.g, 1);
	give(t, &s.stage, OUTSIDE, LOTTERY_TICKETS_MAX);
	group_move(t, NULL, &s.stage, INSIDE);
	group_close(t, &s.g);
	expect_tickets(t, &s.stage, LOTTERY_TICKETS_MAX + 100);
	expect_share(t, &s.stage, OUTSIDE, 1, 1);
	stage_close(t, &s.stage);
}

void currency_changes(struct ktap *k)
{
	static const struct ktap_test tests[] = {
		{ "more tickets back it", more_back_it },
		{ "a group becomes a currency, and is none", it_becomes_one },
		{ "the same around a currency", around_one },
		{ "tasks move in and out", tasks_move },
		{ "what was given inside is less outside", what_comes_out },
		{ "a group with a loan goes", a_group_with_a_loan_goes },
	};

	ktap_group(k, "changes", tests, ARRAY_SIZE(tests));
}

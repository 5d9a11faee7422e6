// SPDX-License-Identifier: GPL-2.0
/* lend_named.c - lottery-lend: loans to tasks that the lender names. */
#include "affinity.h"
#include "clock.h"
#include "lend.h"
#include "lottery_sched.h"

/* Who is who in most tests. */
enum {
	HOG,
	SERVER,
	LENDER,
	SECOND,
};

/* A hog and a server that spin, and somebody who sleeps and lends. */
static void open_served(struct ktap_case *t, struct stage *s, const u32 *tickets,
			unsigned int count)
{
	stage_open(s, tickets, count);
	act(t, s, SERVER, ACT_SPIN, 0);
	act(t, s, HOG, ACT_SPIN, 0);
}

static void to_a_lottery_task(struct ktap_case *t)
{
	static const u32 tickets[] = { 100, 100, 200 };
	struct stage s;

	open_served(t, &s, tickets, 3);
	expect_share(t, &s, SERVER, 100, 200);
	act_lend(t, &s, LENDER, SERVER, 0, LOAN_KEEP, 0);
	expect_tickets(t, &s, 400);
	expect_share(t, &s, SERVER, 300, 400);
	stage_close(t, &s);
}

static void to_a_fair_task(struct ktap_case *t)
{
	static const u32 tickets[] = { 100, 0, 300 };
	struct stage s;

	open_served(t, &s, tickets, 3);
	act_lend(t, &s, LENDER, SERVER, 0, LOAN_KEEP, 0);
	expect_tickets(t, &s, 400);
	expect_share(t, &s, SERVER, 300, 400);
	stage_close(t, &s);
}

/* With no lottery task awake its borrower comes before other fair tasks. */
static void before_fair_tasks(struct ktap_case *t)
{
	static const u32 tickets[] = { 0, 0, 300 };
	struct stage s;

	open_served(t, &s, tickets, 3);
	expect_share(t, &s, SERVER, 1, 2);
	act_lend(t, &s, LENDER, SERVER, 0, LOAN_KEEP, 0);
	expect_share(t, &s, SERVER, 1, 1);
	stage_close(t, &s);
}

#define FLOOR_NS	(4 * NSEC_PER_SEC)
/* Of 5 %; without its part it has none. */
#define FLOOR_MIN	0.04

/* They keep their part all the same: the deadline server does not count the guest. */
static void fair_tasks_keep_their_part(struct ktap_case *t)
{
	static const u32 tickets[] = { 0, 0, 300 };
	struct stage s;
	double part;

	open_served(t, &s, tickets, 3);
	act_lend(t, &s, LENDER, SERVER, 0, LOAN_KEEP, 0);
	pass(&s, FLOOR_NS);
	part = (double)s.ran_ns[HOG] / FLOOR_NS;
	ktap_note(t->ktap, "the other fair task: %.1f %%", 100 * part);
	expect_bound(t, part >= FLOOR_MIN, "it has %.1f %% of the CPU, wanted %.1f", 100 * part,
		     100 * FLOOR_MIN);
	stage_close(t, &s);
}

static void a_part(struct ktap_case *t)
{
	static const u32 tickets[] = { 100, 100, 300 };
	struct stage s;

	open_served(t, &s, tickets, 3);
	act_lend(t, &s, LENDER, SERVER, 100, LOAN_KEEP, 0);
	expect_tickets(t, &s, 300);
	expect_share(t, &s, SERVER, 200, 300);
	stage_close(t, &s);
}

/* Each its part; no more than there is if they were promised more. */
static void to_several(struct ktap_case *t)
{
	static const u32 tickets[] = { 100, 100, 400, 100 };
	struct stage s;

	open_served(t, &s, tickets, 4);
	act(t, &s, SECOND, ACT_SPIN, 0);
	act_lend(t, &s, LENDER, SERVER, 300, LOAN_KEEP, 0);
	act_lend(t, &s, LENDER, SECOND, 100, LOAN_KEEP, 0);
	expect_tickets(t, &s, 700);
	expect_share(t, &s, SERVER, 400, 700);
	act_lend(t, &s, LENDER, SECOND, 0, LOAN_KEEP, 0);
	expect_tickets(t, &s, 300 + 171 + 228);
	stage_close(t, &s);
}

static void along_a_chain(struct ktap_case *t)
{
	static const u32 tickets[] = { 100, 100, 200, 200 };
	struct stage s;

	open_served(t, &s, tickets, 4);
	act_lend(t, &s, SECOND, LENDER, 0, LOAN_KEEP, 0);
	act_lend(t, &s, LENDER, SERVER, 0, LOAN_KEEP, 0);
	/* The loan sleeps with the lender until that wakes up once. */
	act(t, &s, LENDER, ACT_SLEEP, 0);
	expect_tickets(t, &s, 600);
	expect_share(t, &s, SERVER, 500, 600);
	stage_close(t, &s);
}

/* A circle ends: nobody can use the tickets, and nobody looks for ever. */
static void in_a_circle(struct ktap_case *t)
{
	static const u32 tickets[] = { 100, 100, 200, 200 };
	struct stage s;

	open_served(t, &s, tickets, 4);
	act_lend(t, &s, LENDER, SECOND, 0, LOAN_KEEP, 0);
	act_lend(t, &s, SECOND, LENDER, 0, LOAN_KEEP, 0);
	expect_tickets(t, &s, 200);
	expect_share(t, &s, SERVER, 100, 200);
	stage_close(t, &s);
}

/* A borrower that sleeps has them when it wakes up. */
static void to_a_sleeper(struct ktap_case *t)
{
	static const u32 tickets[] = { 100, 100, 200 };
	struct stage s;

	stage_open(&s, tickets, 3);
	act(t, &s, HOG, ACT_SPIN, 0);
	act_lend(t, &s, LENDER, SERVER, 0, LOAN_KEEP, 0);
	expect_tickets(t, &s, 100);
	act(t, &s, SERVER, ACT_SPIN, 0);
	expect_tickets(t, &s, 400);
	expect_share(t, &s, SERVER, 300, 400);
	act(t, &s, SERVER, ACT_SLEEP, 0);
	expect_tickets(t, &s, 100);
	stage_close(t, &s);
}

static u64 tickets_on(unsigned int cpu)
{
	struct lottery_state state;
	const struct lottery_cpu *c;

	lottery_read(&state);
	c = lottery_find(&state, cpu);
	return c ? c->tickets : 0;
}

struct on_cpu {
	unsigned int cpu;
	u64 tickets;
};

static bool cpu_holds(void *arg)
{
	const struct on_cpu *o = arg;

	return tickets_on(o->cpu) == o->tickets;
}

/* Tickets follow a borrower to its CPU, and leave again. */
static void to_another_cpu(struct ktap_case *t)
{
	static const u32 tickets[] = { 100, 100, 200 };
	struct on_cpu want = { theatre.other_cpu, 300 };
	struct stage s;

	if (theatre.cpu == theatre.other_cpu) {
		skip_test(t, "needs two CPUs");
		return;
	}
	want.tickets += tickets_on(want.cpu);
	open_served(t, &s, tickets, 3);
	act_lend(t, &s, LENDER, SERVER, 0, LOAN_KEEP, 0);
	affinity_set(s.crew.pid[SERVER], 1ULL << theatre.other_cpu);
	expect(t, wait_until(cpu_holds, &want, STAGE_WAIT_NS),
	       "CPU %u has %llu tickets, wanted %llu", want.cpu, tickets_on(want.cpu),
	       want.tickets);
	expect_tickets(t, &s, 400);
	act(t, &s, LENDER, ACT_SPIN, 0);
	expect_tickets(t, &s, 400);
	want.tickets -= 200;
	expect(t, wait_until(cpu_holds, &want, STAGE_WAIT_NS),
	       "CPU %u has %llu tickets, wanted %llu", want.cpu, tickets_on(want.cpu),
	       want.tickets);
	stage_close(t, &s);
}

void lend_named(struct ktap *k)
{
	static const struct ktap_test tests[] = {
		{ "to a lottery task", to_a_lottery_task },
		{ "to a fair task", to_a_fair_task },
		{ "before fair tasks", before_fair_tasks },
		{ "fair tasks keep their part", fair_tasks_keep_their_part },
		{ "a part", a_part },
		{ "to several", to_several },
		{ "along a chain", along_a_chain },
		{ "in a circle", in_a_circle },
		{ "to a sleeper", to_a_sleeper },
		{ "to another CPU", to_another_cpu },
	};

	ktap_group(k, "named", tests, ARRAY_SIZE(tests));
}

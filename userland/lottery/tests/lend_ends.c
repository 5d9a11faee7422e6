// SPDX-License-Identifier: GPL-2.0
/* lend_ends.c - lottery-lend: how loans end. */
#include "clock.h"
#include "lend.h"

enum {
	HOG,
	SERVER,
	LENDER,
};

#define SOON_NS	(200 * NSEC_PER_MSEC)

static const u32 tickets[] = { 100, 100, 200 };

static void open_lent(struct ktap_case *t, struct stage *s, u32 flags, u64 timeout_ns)
{
	stage_open(s, tickets, ARRAY_SIZE(tickets));
	act(t, s, SERVER, ACT_SPIN, 0);
	act(t, s, HOG, ACT_SPIN, 0);
	act_lend(t, s, LENDER, SERVER, 0, flags, timeout_ns);
	expect_tickets(t, s, 400);
}

/* The lender does something, and sleeps again. */
static void wake_once(struct ktap_case *t, struct stage *s)
{
	act(t, s, LENDER, ACT_SLEEP, 0);
}

static void at_a_wakeup(struct ktap_case *t)
{
	struct stage s;

	open_lent(t, &s, 0, 0);
	wake_once(t, &s);
	expect_tickets(t, &s, 200);
	expect_share(t, &s, SERVER, 100, 200);
	stage_close(t, &s);
}

static void not_at_a_wakeup(struct ktap_case *t)
{
	struct stage s;

	open_lent(t, &s, LOAN_KEEP, 0);
	wake_once(t, &s);
	expect_tickets(t, &s, 400);
	expect_share(t, &s, SERVER, 300, 400);
	stage_close(t, &s);
}

/* While the lender runs, it has them itself. */
static void while_it_runs(struct ktap_case *t)
{
	struct stage s;

	open_lent(t, &s, LOAN_KEEP, 0);
	act(t, &s, LENDER, ACT_SPIN, 0);
	expect_tickets(t, &s, 400);
	expect_share(t, &s, LENDER, 200, 400);
	stage_close(t, &s);
}

static void at_a_time(struct ktap_case *t)
{
	struct stage s;

	stage_open(&s, tickets, ARRAY_SIZE(tickets));
	act(t, &s, SERVER, ACT_SPIN, 0);
	act(t, &s, HOG, ACT_SPIN, 0);
	act_lend(t, &s, LENDER, SERVER, 0, LOAN_KEEP, SOON_NS);
	expect_tickets(t, &s, 200);
	expect_share(t, &s, SERVER, 100, 200);
	stage_close(t, &s);
}

static void revoked(struct ktap_case *t)
{
	struct stage s;

	open_lent(t, &s, LOAN_KEEP, 0);
	act(t, &s, LENDER, ACT_REVOKE, (u64)s.crew.pid[SERVER]);
	expect_tickets(t, &s, 200);
	expect_share(t, &s, SERVER, 100, 200);
	stage_close(t, &s);
}

static void lender_exits(struct ktap_case *t)
{
	struct stage s;

	open_lent(t, &s, LOAN_KEEP, 0);
	tell(&s, LENDER, ACT_EXIT, 0);
	expect_tickets(t, &s, 200);
	expect(t, !crew_wait(&s.crew, LENDER, now_ns() + STAGE_WAIT_NS),
	       "the lender did not exit well");
	stage_close(t, &s);
}

static void lender_is_killed(struct ktap_case *t)
{
	struct stage s;

	open_lent(t, &s, LOAN_KEEP, 0);
	crew_kill(&s.crew, LENDER);
	expect_tickets(t, &s, 200);
	stage_close(t, &s);
}

static void borrower_exits(struct ktap_case *t)
{
	struct stage s;

	open_lent(t, &s, LOAN_KEEP, 0);
	tell(&s, SERVER, ACT_EXIT, 0);
	expect(t, !crew_wait(&s.crew, SERVER, now_ns() + STAGE_WAIT_NS),
	       "the borrower did not exit well");
	expect_tickets(t, &s, 100);
	wake_once(t, &s);
	expect_tickets(t, &s, 100);
	stage_close(t, &s);
}

void lend_ends(struct ktap *k)
{
	static const struct ktap_test tests[] = {
		{ "at a wake-up", at_a_wakeup },
		{ "not at a wake-up", not_at_a_wakeup },
		{ "while the lender runs", while_it_runs },
		{ "at a time", at_a_time },
		{ "revoked", revoked },
		{ "the lender exits", lender_exits },
		{ "the lender is killed", lender_is_killed },
		{ "the borrower exits", borrower_exits },
	};

	ktap_group(k, "ends", tests, ARRAY_SIZE(tests));
}

// SPDX-License-Identifier: GPL-2.0-only
/* The lag of tasks, on accounts that no CPU has. */

#include <kunit/test.h>
#include <linux/mmu_context.h>

#include "lottery/balance.h"

#define TICKETS		100
#define LAG_TICK	NSEC_PER_MSEC

/* A tick of a CPU that ran lottery tasks all the time. */
static void lag_tick(struct lottery_account *a, u64 owned, unsigned int nr, u64 average)
{
	a->ran = LAG_TICK;
	a->average = average << LOTTERY_LOAD_SHIFT;
	lottery_account_fold(a, owned, nr, a->clock + LAG_TICK);
}

/*
 * Three equal tasks, two CPUs: each is due two thirds of a CPU, the one alone has a whole
 * one, the others have a half.
 */
static void lag_three_on_two(struct kunit *test)
{
	const u64 average = 3 * TICKETS / 2;
	struct lottery_account pair = { }, one = { };
	u64 carried[3];
	s64 lag[3];
	int i;

	for (i = 0; i < 2; i++)
		carried[i] = lottery_account_join(&pair, TICKETS, 0);
	carried[2] = lottery_account_join(&one, TICKETS, 0);
	for (i = 0; i < 12; i++) {
		lag_tick(&pair, 2 * TICKETS, 2, average);
		lag_tick(&one, TICKETS, 1, average);
	}
	KUNIT_EXPECT_LT(test, abs(pair.lag - 4 * (s64)LAG_TICK), LAG_TICK / 10);
	KUNIT_EXPECT_LT(test, abs(one.lag + 4 * (s64)LAG_TICK), LAG_TICK / 10);
	for (i = 0; i < 2; i++)
		lag[i] = lottery_account_leave(&pair, TICKETS, carried[i]);
	lag[2] = lottery_account_leave(&one, TICKETS, carried[2]);
	KUNIT_EXPECT_LT(test, abs(lag[0] - 2 * (s64)LAG_TICK), LAG_TICK / 10);
	KUNIT_EXPECT_LT(test, abs(lag[2] + 4 * (s64)LAG_TICK), LAG_TICK / 10);
	KUNIT_EXPECT_EQ(test, pair.carried, 0);
	KUNIT_EXPECT_EQ(test, one.carried, 0);
}

/* By its tickets a task would be due more than a CPU: its lag is 0. */
static void lag_no_more_than_a_cpu(struct kunit *test)
{
	struct lottery_account a = { };
	int i;

	for (i = 0; i < 1000; i++)
		lag_tick(&a, 4 * TICKETS, 1, TICKETS);
	KUNIT_EXPECT_EQ(test, a.lag, 0);
}

/* A real-time task has the CPU: the lag is the whole due. */
static void lag_behind_a_real_time_task(struct kunit *test)
{
	struct lottery_account a = { .average = TICKETS << LOTTERY_LOAD_SHIFT };

	lottery_account_fold(&a, TICKETS, 1, 10 * LAG_TICK);
	KUNIT_EXPECT_LT(test, abs(a.lag - 10 * (s64)LAG_TICK), LAG_TICK / 10);
}

/* A joining task takes as much out as it brought in, whenever that is. */
static void lag_is_carried(struct kunit *test)
{
	struct lottery_account a = { };
	u64 carried;

	lag_tick(&a, 3 * TICKETS, 3, TICKETS);
	carried = lottery_account_join(&a, TICKETS, 5 * LAG_TICK);
	KUNIT_EXPECT_EQ(test, lottery_account_leave(&a, TICKETS, carried), 5 * LAG_TICK);
	KUNIT_EXPECT_EQ(test, a.carried, 0);
}

static void lag_is_bounded(struct kunit *test)
{
	struct lottery_account a = { };
	u64 carried;
	int i;

	/* The largest sum of tickets for the smallest average, and the other way. */
	for (i = 0; i < 1000; i++)
		lag_tick(&a, (u64)LOTTERY_TICKETS_MAX << 22, 1 << 22, 1);
	KUNIT_EXPECT_LE(test, a.lag, (s64)LOTTERY_LAG_MAX);
	a = (struct lottery_account){ };
	for (i = 0; i < 1000; i++)
		lag_tick(&a, 2, 2, 1);
	KUNIT_EXPECT_LE(test, a.lag, (s64)LOTTERY_LAG_MAX);
	carried = lottery_account_join(&a, LOTTERY_TICKETS_MAX, LOTTERY_LAG_MAX);
	KUNIT_EXPECT_LE(test, lottery_account_leave(&a, LOTTERY_TICKETS_MAX, carried),
			(s64)LOTTERY_LAG_MAX);
}

/* Of three ticks one task is due two: it is given all of them, and the other one lacks one. */
static void lag_of_a_grant(struct kunit *test)
{
	struct lottery_account a = { };
	u64 one = lottery_account_join(&a, 2 * TICKETS, LAG_TICK);
	u64 other = lottery_account_join(&a, TICKETS, 0);

	one -= lottery_account_grant(&a, 3 * TICKETS, 3 * LAG_TICK);
	KUNIT_EXPECT_LT(test, abs(lottery_account_lag(&a, 2 * TICKETS, one)), LAG_TICK / 100);
	KUNIT_EXPECT_LT(test, abs(lottery_account_lag(&a, TICKETS, other) - (s64)LAG_TICK),
			LAG_TICK / 100);
	KUNIT_EXPECT_EQ(test, lottery_account_lag(&a, 3 * TICKETS, a.carried), LAG_TICK);
	KUNIT_EXPECT_EQ(test, lottery_account_grant(&a, 0, LAG_TICK), 0);
}

/* A CPU that is behind for years: its counter wraps, and a joining task does not see it. */
static void lag_wraps(struct kunit *test)
{
	struct lottery_account a = { .behind = S64_MAX - 5 };
	u64 carried = lottery_account_join(&a, LOTTERY_TICKETS_MAX, LAG_TICK);
	s64 lag;

	a.average = 1 << LOTTERY_LOAD_SHIFT;
	a.behind += 100;
	lag = lottery_account_lag(&a, LOTTERY_TICKETS_MAX, carried) - LAG_TICK;
	KUNIT_EXPECT_EQ(test, lag, 100ULL * LOTTERY_TICKETS_MAX >> LOTTERY_LAG_SHIFT);
}

/* An empty CPU, or one without a survey, has no lag. */
static void lag_of_nobody(struct kunit *test)
{
	struct lottery_account a = { };

	lag_tick(&a, 0, 0, TICKETS);
	KUNIT_EXPECT_EQ(test, a.behind, 0);
	lag_tick(&a, TICKETS, 2, 0);
	KUNIT_EXPECT_EQ(test, a.lag, 0);
}

static struct kunit_case lottery_lag_cases[] = {
	KUNIT_CASE(lag_three_on_two),
	KUNIT_CASE(lag_no_more_than_a_cpu),
	KUNIT_CASE(lag_behind_a_real_time_task),
	KUNIT_CASE(lag_is_carried),
	KUNIT_CASE(lag_is_bounded),
	KUNIT_CASE(lag_of_a_grant),
	KUNIT_CASE(lag_wraps),
	KUNIT_CASE(lag_of_nobody),
	{}
};

static struct kunit_suite lottery_lag_suite = {
	.name		= "lottery_lag",
	.test_cases	= lottery_lag_cases,
};

kunit_test_suite(lottery_lag_suite);

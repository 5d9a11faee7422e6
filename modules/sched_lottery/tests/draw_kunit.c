// SPDX-License-Identifier: GPL-2.0-only
/*
 * The random numbers, and the draw that they make with a pool, against the chi-square
 * distribution. The generator's seed is fixed, so that a result repeats; the bounds are
 * the quantiles that a fair draw exceeds once in 10,000 seeds.
 */

#include <kunit/test.h>
#include <linux/math64.h>
#include <linux/prandom.h>
#include <linux/sched.h>

#include "lottery/lottery.h"

#define DRAW_SEED	2026
#define DRAW_COUNT	200000

/* Quantiles of chi-square at 1 - 10^-4, in thousandths. */
#define CHI2_DF2	18421
#define CHI2_DF7	29878
#define CHI2_DF15	44263

/* Chi-square of @seen against weights, in thousandths. */
static u64 draw_chi2(const u64 *seen, const u64 *weight, int n)
{
	u64 total = 0, draws = 0, chi2 = 0;
	int i;

	for (i = 0; i < n; i++) {
		total += weight[i];
		draws += seen[i];
	}
	for (i = 0; i < n; i++) {
		u64 expected = mul_u64_u64_div_u64(draws, weight[i], total);
		s64 off = seen[i] - expected;

		chi2 += div64_u64((u64)(off * off) * 1000, expected);
	}
	return chi2;
}

/* Sort DRAW_COUNT numbers below @total into @n equal bins. */
static u64 draw_uniform_chi2(struct kunit *test, u64 total, int n)
{
	u64 seen[16] = { }, weight[16], number;
	struct rnd_state rnd;
	int i;

	prandom_seed_state(&rnd, DRAW_SEED);
	for (i = 0; i < DRAW_COUNT; i++) {
		number = lottery_random_below(&rnd, total);
		KUNIT_ASSERT_LT(test, number, total);
		seen[mul_u64_u64_div_u64(number, n, total)]++;
	}
	for (i = 0; i < n; i++)
		weight[i] = 1;
	return draw_chi2(seen, weight, n);
}

static void draw_small_total(struct kunit *test)
{
	KUNIT_EXPECT_LT(test, draw_uniform_chi2(test, 3, 3), CHI2_DF2);
	KUNIT_EXPECT_LT(test, draw_uniform_chi2(test, 16, 16), CHI2_DF15);
}

/*
 * Three quarters of 2^32: a remainder would hand every number of the first
 * third out twice, a shift without rejection every third one.
 */
static void draw_awkward_total(struct kunit *test)
{
	struct rnd_state rnd;
	u64 total = 3ULL << 30, seen[3] = { }, weight[3] = { 1, 1, 1 };
	int i;

	KUNIT_EXPECT_LT(test, draw_uniform_chi2(test, total, 3), CHI2_DF2);
	KUNIT_EXPECT_LT(test, draw_uniform_chi2(test, total, 16), CHI2_DF15);

	prandom_seed_state(&rnd, DRAW_SEED);
	for (i = 0; i < DRAW_COUNT; i++)
		seen[lottery_random_below(&rnd, total) % 3]++;
	KUNIT_EXPECT_LT(test, draw_chi2(seen, weight, 3), CHI2_DF2);
}

static void draw_beyond_32_bits(struct kunit *test)
{
	KUNIT_EXPECT_LT(test, draw_uniform_chi2(test, 1ULL << 32, 16), CHI2_DF15);
	KUNIT_EXPECT_LT(test, draw_uniform_chi2(test, 4000003ULL * 1000000, 16),
			CHI2_DF15);
}

static void draw_only_ticket(struct kunit *test)
{
	struct rnd_state rnd;
	int i;

	prandom_seed_state(&rnd, DRAW_SEED);
	for (i = 0; i < 1000; i++)
		KUNIT_ASSERT_EQ(test, lottery_random_below(&rnd, 1), 0);
}

/* A generator whose numbers are all rejected: it must end. */
static void draw_ends(struct kunit *test)
{
	struct rnd_state stuck = { };

	KUNIT_EXPECT_LT(test, lottery_random_below(&stuck, 3ULL << 30), 3ULL << 30);
}

/* Winners of a pool against their tickets. */
static void draw_winners(struct kunit *test, const struct lottery_pool_ops *ops)
{
	static const u64 tickets[8] = { 100, 50, 1000, 300, 10, 20, 200, 5 };
	struct lottery_entry *e = kunit_kcalloc(test, 8, sizeof(*e), GFP_KERNEL);
	struct lottery_pool *pool = kunit_kzalloc(test, sizeof(*pool), GFP_KERNEL);
	struct rnd_state rnd;
	u64 seen[8] = { };
	int i;

	KUNIT_ASSERT_NOT_NULL(test, e);
	KUNIT_ASSERT_NOT_NULL(test, pool);
	ops->init(pool);
	for (i = 0; i < 8; i++) {
		e[i].tickets = tickets[i];
		ops->insert(pool, &e[i]);
	}

	prandom_seed_state(&rnd, DRAW_SEED);
	for (i = 0; i < DRAW_COUNT; i++)
		seen[ops->draw(pool, lottery_random_below(&rnd, pool->tickets)) - e]++;
	KUNIT_EXPECT_LT(test, draw_chi2(seen, tickets, 8), CHI2_DF7);
}

static void draw_list_winners(struct kunit *test)
{
	draw_winners(test, &lottery_pool_list);
}

static void draw_rbtree_winners(struct kunit *test)
{
	draw_winners(test, &lottery_pool_rbtree);
}

static void draw_sums_winners(struct kunit *test)
{
	draw_winners(test, &lottery_pool_sums);
}

static struct kunit_case lottery_draw_cases[] = {
	KUNIT_CASE(draw_only_ticket),
	KUNIT_CASE(draw_ends),
	KUNIT_CASE(draw_small_total),
	KUNIT_CASE(draw_awkward_total),
	KUNIT_CASE(draw_beyond_32_bits),
	KUNIT_CASE(draw_list_winners),
	KUNIT_CASE(draw_rbtree_winners),
	KUNIT_CASE(draw_sums_winners),
	{}
};

static struct kunit_suite lottery_draw_suite = {
	.name		= "lottery_draw",
	.test_cases	= lottery_draw_cases,
};

kunit_test_suite(lottery_draw_suite);

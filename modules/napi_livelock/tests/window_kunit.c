// SPDX-License-Identifier: GPL-2.0-only
/* What was used of the CPU's time, and what is left of it. */

#include "tests.h"
#include "window.h"

#define MS	NSEC_PER_MSEC

static bool window_whole(struct nll_window *window, u64 now, unsigned int limit)
{
	return nll_window_open(window, now, limit, NLL_WINDOW_NS);
}

static void window_share(struct kunit *test)
{
	struct nll_window window = { };

	KUNIT_EXPECT_TRUE(test, window_whole(&window, 0, 1));
	nll_window_charge(&window, 2 * MS, MS);
	KUNIT_EXPECT_TRUE(test, window_whole(&window, 2 * MS, 40));
	/* Another port may have another limit. */
	KUNIT_EXPECT_FALSE(test, window_whole(&window, 2 * MS, 10));
	nll_window_charge(&window, 6 * MS, 3 * MS - 1);
	KUNIT_EXPECT_TRUE(test, window_whole(&window, 9 * MS, 40));
	nll_window_charge(&window, 9 * MS, 1);
	KUNIT_EXPECT_FALSE(test, window_whole(&window, 9 * MS, 40));
	KUNIT_EXPECT_TRUE(test, window_whole(&window, 9 * MS, 41));
}

/* Not all at the beginning. */
static void window_ahead(struct kunit *test)
{
	struct nll_window window = { };

	KUNIT_EXPECT_TRUE(test, nll_window_open(&window, 0, 50, MS));
	nll_window_charge(&window, MS / 2, MS / 2);
	KUNIT_EXPECT_FALSE(test, nll_window_open(&window, 0, 50, MS));
	KUNIT_EXPECT_TRUE(test, nll_window_open(&window, MS / 2, 50, MS));
	nll_window_charge(&window, MS, MS / 2);
	KUNIT_EXPECT_FALSE(test, nll_window_open(&window, MS, 50, MS));
	KUNIT_EXPECT_TRUE(test, nll_window_open(&window, MS + 2, 50, MS));
	/* Never more than the window's share. */
	nll_window_charge(&window, 6 * MS, 4 * MS);
	KUNIT_EXPECT_FALSE(test, nll_window_open(&window, 9 * MS, 50, 5 * MS));
}

static void window_next(struct kunit *test)
{
	struct nll_window window = { };

	KUNIT_EXPECT_TRUE(test, window_whole(&window, 0, 40));
	nll_window_charge(&window, 9 * MS, 4 * MS);
	KUNIT_EXPECT_FALSE(test, window_whole(&window, 9 * MS, 40));
	KUNIT_EXPECT_TRUE(test, window_whole(&window, 10 * MS, 40));
	KUNIT_EXPECT_EQ(test, window.start, 10 * MS);
	KUNIT_EXPECT_EQ(test, window.used, 0);
	/* Long idle: a window begins now, it is not the rest of an old one. */
	KUNIT_EXPECT_TRUE(test, window_whole(&window, 95 * MS, 40));
	KUNIT_EXPECT_EQ(test, window.start, 95 * MS);
}

/* A batch that went beyond the share is paid for in the next window. */
static void window_debt(struct kunit *test)
{
	struct nll_window window = { };
	u64 used = 0, now;

	KUNIT_EXPECT_TRUE(test, window_whole(&window, 0, 20));
	nll_window_charge(&window, 3 * MS, 3 * MS);
	KUNIT_EXPECT_TRUE(test, window_whole(&window, 10 * MS, 20));
	KUNIT_EXPECT_EQ(test, window.used, MS);

	/* In the long run it is the limit, however badly batches fit. */
	memset(&window, 0, sizeof(window));
	for (now = 0; now < 1000 * MS; now += MS / 10) {
		if (!nll_window_open(&window, now, 20, MS))
			continue;
		now += 7 * MS / 10;
		nll_window_charge(&window, now, 7 * MS / 10);
		used += 7 * MS / 10;
	}
	KUNIT_EXPECT_LE(test, used, 202 * MS);
	KUNIT_EXPECT_GE(test, used, 195 * MS);
}

/* Another CPU's clock may be a little behind. */
static void window_backwards(struct kunit *test)
{
	struct nll_window window = { .start = 20 * MS };

	nll_window_charge(&window, 20 * MS - 1, MS);
	KUNIT_EXPECT_EQ(test, window.start, 20 * MS);
	KUNIT_EXPECT_FALSE(test, window_whole(&window, 20 * MS - 1, 9));
	KUNIT_EXPECT_TRUE(test, window_whole(&window, 20 * MS - 1, 11));
}

static struct kunit_case nll_window_cases[] = {
	KUNIT_CASE(window_share),
	KUNIT_CASE(window_ahead),
	KUNIT_CASE(window_next),
	KUNIT_CASE(window_debt),
	KUNIT_CASE(window_backwards),
	{}
};

struct kunit_suite nll_window_suite = {
	.name		= "nll_window",
	.test_cases	= nll_window_cases,
};

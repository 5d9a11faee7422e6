// SPDX-License-Identifier: GPL-2.0-only
/* What was used of the CPU's time, and what is left of it. */

#include "tests.h"
#include "window.h"

#define MS	NSEC_PER_MSEC

static void window_share(struct kunit *test)
{
	struct nll_window window = { };

	KUNIT_EXPECT_EQ(test, nll_window_left(&window, MS, 40), 4 * MS);
	nll_window_charge(&window, 2 * MS, MS);
	KUNIT_EXPECT_EQ(test, nll_window_left(&window, 2 * MS, 40), 3 * MS);
	/* Another port may have another limit. */
	KUNIT_EXPECT_EQ(test, nll_window_left(&window, 2 * MS, 10), 0);
	nll_window_charge(&window, 6 * MS, 3 * MS);
	KUNIT_EXPECT_EQ(test, nll_window_left(&window, 9 * MS, 40), 0);
	KUNIT_EXPECT_EQ(test, nll_window_left(&window, 9 * MS, 100), 6 * MS);
}

static void window_next(struct kunit *test)
{
	struct nll_window window = { };

	nll_window_charge(&window, 9 * MS, 4 * MS);
	KUNIT_EXPECT_EQ(test, nll_window_left(&window, 9 * MS, 40), 0);
	KUNIT_EXPECT_EQ(test, nll_window_left(&window, 10 * MS, 40), 4 * MS);
	KUNIT_EXPECT_EQ(test, window.start, 10 * MS);
	/* Long idle: a window begins now, it is not the rest of an old one. */
	KUNIT_EXPECT_EQ(test, nll_window_left(&window, 95 * MS, 40), 4 * MS);
	KUNIT_EXPECT_EQ(test, window.start, 95 * MS);
}

/* A batch that went beyond the share is paid for in the next window. */
static void window_debt(struct kunit *test)
{
	struct nll_window window = { };
	u64 used = 0, now;

	KUNIT_EXPECT_EQ(test, nll_window_left(&window, 0, 20), 2 * MS);
	nll_window_charge(&window, 3 * MS, 3 * MS);
	KUNIT_EXPECT_EQ(test, nll_window_left(&window, 10 * MS, 20), MS);

	/* In the long run it is the limit, however badly batches fit. */
	memset(&window, 0, sizeof(window));
	for (now = 0; now < 1000 * MS; now += MS / 10) {
		if (!nll_window_left(&window, now, 20))
			continue;
		nll_window_charge(&window, now, 7 * MS / 10);
		used += 7 * MS / 10;
		now += 6 * MS / 10;
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
	KUNIT_EXPECT_EQ(test, nll_window_left(&window, 20 * MS - 1, 40), 3 * MS);
}

static struct kunit_case nll_window_cases[] = {
	KUNIT_CASE(window_share),
	KUNIT_CASE(window_next),
	KUNIT_CASE(window_debt),
	KUNIT_CASE(window_backwards),
	{}
};

struct kunit_suite nll_window_suite = {
	.name		= "nll_window",
	.test_cases	= nll_window_cases,
};

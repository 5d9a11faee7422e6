// SPDX-License-Identifier: GPL-2.0-only
/*
 * The bounds: how much memory the privileged may dirty, and when it is the
 * others' turn.
 */

#include <kunit/test.h>
#include <linux/mm.h>

#include "bfq_wrais/internal.h"

static void bounds_headroom(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, wrais_headroom(0, 20), 0);
	KUNIT_EXPECT_EQ(test, wrais_headroom(100, 20), 20);
	KUNIT_EXPECT_EQ(test, wrais_headroom(100, 1), 1);
	/* Whatever the threshold is, memory is the limit. */
	KUNIT_EXPECT_EQ(test, wrais_headroom(ULONG_MAX / 100, 25),
			totalram_pages() / 16);
}

/* Fill @slots of the window. */
static void bounds_use(struct wrais_device *dev, int slots, u64 raised, u64 others)
{
	int i;

	for (i = 0; i < slots; i++) {
		dev->cost[i][0] += raised;
		dev->cost[i][1] += others;
	}
	dev->credit = raised;
}

static void bounds_start_is_free(struct kunit *test)
{
	struct wrais_device dev = { };

	bounds_use(&dev, 4, 100000, 0);
	KUNIT_EXPECT_FALSE(test, wrais_floor_is_due(&dev, 5));
}

static void bounds_floor(struct kunit *test)
{
	struct wrais_device dev = { };

	bounds_use(&dev, 10, 100000, 0);
	KUNIT_EXPECT_TRUE(test, wrais_floor_is_due(&dev, 5));
	KUNIT_EXPECT_FALSE(test, wrais_floor_is_due(&dev, 0));

	/* 5.2 and 6.5 % of it all. */
	bounds_use(&dev, 10, 0, 5500);
	dev.credit = 100000;
	KUNIT_EXPECT_TRUE(test, wrais_floor_is_due(&dev, 5));
	bounds_use(&dev, 10, 0, 1500);
	dev.credit = 100000;
	KUNIT_EXPECT_FALSE(test, wrais_floor_is_due(&dev, 5));
}

/* Paid back little by little: not before the privileged had their part. */
static void bounds_credit(struct kunit *test)
{
	struct wrais_device dev = { };

	bounds_use(&dev, 10, 100000, 0);
	dev.credit = 0;
	KUNIT_EXPECT_FALSE(test, wrais_floor_is_due(&dev, 5));
}

static struct kunit_case wrais_bounds_cases[] = {
	KUNIT_CASE(bounds_headroom),
	KUNIT_CASE(bounds_start_is_free),
	KUNIT_CASE(bounds_floor),
	KUNIT_CASE(bounds_credit),
	{}
};

static struct kunit_suite wrais_bounds_suite = {
	.name		= "wrais_bounds",
	.test_cases	= wrais_bounds_cases,
};

kunit_test_suite(wrais_bounds_suite);

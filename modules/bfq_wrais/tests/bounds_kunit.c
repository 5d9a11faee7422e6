// SPDX-License-Identifier: GPL-2.0-only
/* The bounds: how much memory privileged writers may dirty, and when it is the others' turn. */

#include <kunit/test.h>
#include <linux/backing-dev-defs.h>
#include <linux/ioprio.h>
#include <linux/mm.h>
#include <linux/sched.h>

#include "bfq_wrais/bfq.h"
#include "bfq_wrais/memory.h"
#include "bfq_wrais/privilege.h"
#include "bfq_wrais/waits.h"

static void bounds_headroom(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, wrais_headroom(0, 1000, 20), 0);
	KUNIT_EXPECT_EQ(test, wrais_headroom(100, 1000, 20), 20);
	KUNIT_EXPECT_EQ(test, wrais_headroom(100, 1000, 1), 1);
	/* Memory is the limit, whatever the threshold is: for a group the group's memory. */
	KUNIT_EXPECT_EQ(test, wrais_headroom(800, 1000, 25), 1000 / 16);
	KUNIT_EXPECT_EQ(test, wrais_headroom(ULONG_MAX / 100, 1000, 25), 1000 / 16);
}

static void bounds_room(struct kunit *test)
{
	/* The headroom is a quarter by default. */
	KUNIT_EXPECT_TRUE(test, wrais_has_room(999, 1000, 10000));
	KUNIT_EXPECT_TRUE(test, wrais_has_room(1000, 1000, 10000));
	KUNIT_EXPECT_FALSE(test, wrais_has_room(2000, 1000, 10000));
	/* A device without a share has no room, even if it is clean. */
	KUNIT_EXPECT_FALSE(test, wrais_has_room(0, 0, 10000));
}

/* Of few tags, privileged requests have one of their own, and exempt ones another. */
static void bounds_spare(struct kunit *test)
{
	static const struct {
		unsigned int tags, reads, exempt;
	} cases[] = {
		{ 64, 48, 56 }, { 8, 6, 7 }, { 4, 2, 3 }, { 3, 1, 2 }, { 2, 1, 1 }, { 1, 1, 1 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		KUNIT_EXPECT_EQ(test, wrais_tags_for_reads(cases[i].tags), cases[i].reads);
		KUNIT_EXPECT_EQ(test, wrais_tags_for_exempt(cases[i].tags), cases[i].exempt);
	}
}

/* They leave nothing before a privileged task has used the device. */
static void bounds_active(struct kunit *test)
{
	struct request_queue *queue = kunit_kzalloc(test, sizeof(*queue), GFP_KERNEL);
	struct gendisk *disk = kunit_kzalloc(test, sizeof(*disk), GFP_KERNEL);
	struct backing_dev_info *bdi = kunit_kzalloc(test, sizeof(*bdi), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, queue);
	KUNIT_ASSERT_NOT_NULL(test, disk);
	KUNIT_ASSERT_NOT_NULL(test, bdi);
	queue->nr_requests = 64;
	queue->disk = disk;
	disk->bdi = bdi;
	KUNIT_EXPECT_EQ(test, __wrais_read_tags(queue), 64);
	wrais_note_active(&bdi->wrais);
	KUNIT_EXPECT_EQ(test, __wrais_read_tags(queue), 48);
	bdi->wrais.active_at -= WRAIS_ACTIVE_FOR + 1;
	KUNIT_EXPECT_EQ(test, __wrais_read_tags(queue), 64);
}

/* A napping writer tests often, and never waits longer than its pause. */
static void bounds_nap(struct kunit *test)
{
	long pause = 50;

	KUNIT_EXPECT_TRUE(test, wrais_naps(0, 3, &pause));
	KUNIT_EXPECT_EQ(test, pause, 3);
	pause = 50;
	KUNIT_EXPECT_TRUE(test, wrais_naps(46, 3, &pause));
	KUNIT_EXPECT_EQ(test, pause, 3);
	pause = 50;
	KUNIT_EXPECT_FALSE(test, wrais_naps(48, 3, &pause));
	KUNIT_EXPECT_EQ(test, pause, 2);
	/* It has waited already, and may not go on yet. */
	pause = 50;
	KUNIT_EXPECT_FALSE(test, wrais_naps(ULONG_MAX, 3, &pause));
	KUNIT_EXPECT_EQ(test, pause, 3);
	/* A nap of less than a tick is one tick. */
	pause = 50;
	KUNIT_EXPECT_TRUE(test, wrais_naps(0, 0, &pause));
	KUNIT_EXPECT_EQ(test, pause, 1);
}

/* A wait ends 30 s after the last of them began, and is long by the first. */
static void bounds_waits(struct kunit *test)
{
	struct wrais_waits waits = { };

	KUNIT_EXPECT_FALSE(test, wrais_is_waited(&waits));
	wrais_waits_begin(&waits);
	KUNIT_EXPECT_TRUE(test, wrais_is_waited(&waits));
	KUNIT_EXPECT_FALSE(test, wrais_is_waited_long(&waits));
	/* Those that come later do not hide it, and it ends with the last of them. */
	waits.begun -= HZ / 2 + 1;
	wrais_waits_begin(&waits);
	KUNIT_EXPECT_TRUE(test, wrais_is_waited_long(&waits));
	wrais_waits_end(&waits);
	wrais_waits_end(&waits);
	KUNIT_EXPECT_FALSE(test, wrais_is_waited(&waits));
	wrais_waits_begin(&waits);
	KUNIT_EXPECT_FALSE(test, wrais_is_waited_long(&waits));
	waits.since = jiffies - 29 * HZ;
	KUNIT_EXPECT_TRUE(test, wrais_is_waited(&waits));
	waits.since = jiffies - 30 * HZ;
	KUNIT_EXPECT_FALSE(test, wrais_is_waited(&waits));
	KUNIT_EXPECT_FALSE(test, wrais_is_waited_long(&waits));
	wrais_waits_end(&waits);
}

/* Fill @slots of the window. */
static void bounds_use(struct wrais_device *dev, int slots, u64 raised, u64 others)
{
	int i;

	for (i = 0; i < slots; i++) {
		dev->cost[i][WRAIS_PRIVILEGED] += raised;
		dev->cost[i][WRAIS_OTHERS] += others;
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

/* Served little by little: not before the privileged had their part. */
static void bounds_credit(struct kunit *test)
{
	struct wrais_device dev = { };

	bounds_use(&dev, 10, 100000, 0);
	dev.credit = 0;
	KUNIT_EXPECT_FALSE(test, wrais_floor_is_due(&dev, 5));
}

/* A start-up reads at random for free; then its share falls. */
static void bounds_random(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, wrais_random_lost(0, 30000, 20), 0);
	KUNIT_EXPECT_EQ(test, wrais_random_lost(10000, 30000, 20), 0);
	KUNIT_EXPECT_EQ(test, wrais_random_lost(12500, 30000, 20), 40);
	KUNIT_EXPECT_EQ(test, wrais_random_lost(15000, 30000, 20), 80);
	KUNIT_EXPECT_EQ(test, wrais_random_lost(U64_MAX, 30000, 20), 80);
	KUNIT_EXPECT_EQ(test, wrais_random_lost(30000, 30000, 1), 99);
	/* All of the device is theirs. */
	KUNIT_EXPECT_EQ(test, wrais_random_lost(30000, 30000, 100), 0);
}

#define BOUNDS_READ_NS	(10 * (u64)NSEC_PER_MSEC)

/* Random reads of 10 ms without a pause, for that long, while the others get nothing. */
static void bounds_read(struct wrais_queue *q, u64 *now_ns, u64 for_ns)
{
	u64 until_ns = *now_ns + for_ns;

	while (*now_ns < until_ns) {
		*now_ns += BOUNDS_READ_NS;
		wrais_random_spend(q, *now_ns, BOUNDS_READ_NS, 0);
	}
}

/* The free part lasts a little longer, for some of it is forgotten; all of it after a while. */
static void bounds_random_start(struct kunit *test)
{
	struct wrais_queue q = { .used_at_ns = NSEC_PER_SEC };
	u64 now_ns = NSEC_PER_SEC;

	bounds_read(&q, &now_ns, 11 * (u64)NSEC_PER_SEC);
	KUNIT_EXPECT_FALSE(test, wrais_in_debt(&q, 0));
	bounds_read(&q, &now_ns, 2 * (u64)NSEC_PER_SEC);
	KUNIT_EXPECT_TRUE(test, wrais_in_debt(&q, 0));

	q.debt_ns = 0;
	now_ns += 120 * (u64)NSEC_PER_SEC;
	wrais_random_spend(&q, now_ns, BOUNDS_READ_NS, 0);
	KUNIT_EXPECT_EQ(test, q.used_ns, BOUNDS_READ_NS);
	KUNIT_EXPECT_FALSE(test, wrais_in_debt(&q, 0));
}

/* The others are served with time on the device, whichever queue delays them. */
static void bounds_debt(struct kunit *test)
{
	struct wrais_queue q = { .debt_ns = 100, .settled_ns = 1000 };

	KUNIT_EXPECT_TRUE(test, wrais_in_debt(&q, 1000));
	KUNIT_EXPECT_TRUE(test, wrais_in_debt(&q, 1099));
	KUNIT_EXPECT_FALSE(test, wrais_in_debt(&q, 1100));
	/* Unwanted time does not add up without limit, nor what they had before. */
	wrais_random_spend(&q, 1, 0, U64_MAX / 4);
	KUNIT_EXPECT_EQ(test, q.debt_ns, -100 * (s64)NSEC_PER_MSEC);
	q = (struct wrais_queue){ .debt_ns = S64_MAX };
	wrais_random_spend(&q, 1, 0, 0);
	KUNIT_EXPECT_EQ(test, q.debt_ns, 100 * (s64)NSEC_PER_MSEC);
}

/* Waits and requests share the device, and forget what is long ago. */
static void bounds_lead(struct kunit *test)
{
	struct wrais_device dev = { };
	int i;

	KUNIT_EXPECT_FALSE(test, wrais_waiter_first(&dev));
	wrais_lead_by(&dev, false, 100);
	KUNIT_EXPECT_TRUE(test, wrais_waiter_first(&dev));
	wrais_lead_by(&dev, true, 250);
	KUNIT_EXPECT_EQ(test, dev.lead, 150);
	KUNIT_EXPECT_FALSE(test, wrais_waiter_first(&dev));
	for (i = 0; i < 1000; i++)
		wrais_lead_by(&dev, true, 1040);
	KUNIT_EXPECT_EQ(test, dev.lead, 2048);
	for (i = 0; i < 1000; i++)
		wrais_lead_by(&dev, false, 1040);
	KUNIT_EXPECT_EQ(test, dev.lead, -2048);
}

/* A small overdue request goes at once, and large ones have their part of the device. */
static void bounds_overdue(struct kunit *test)
{
	struct wrais_device dev = { };
	u64 privileged = 0, others = 0;
	int i;

	KUNIT_EXPECT_FALSE(test, wrais_overdue_may_go(&dev, true));
	wrais_charge(&dev, WRAIS_PRIVILEGED, 1000000);
	/* A request that goes at once leaves some to those that have waited. */
	for (i = 0; wrais_overdue_may_go(&dev, false) && i < 1000; i++) {
		dev.overdue = true;
		wrais_charge(&dev, WRAIS_OTHERS, 24);
	}
	KUNIT_EXPECT_EQ(test, i, 4);
	for (i = 0; wrais_overdue_may_go(&dev, true) && i < 1000; i++) {
		dev.overdue = true;
		wrais_charge(&dev, WRAIS_OTHERS, 24);
	}
	KUNIT_EXPECT_EQ(test, i, 3);

	for (i = 0; i < 10000; i++) {
		dev.overdue = wrais_overdue_may_go(&dev, true);
		others += dev.overdue ? 1040 : 0;
		privileged += dev.overdue ? 0 : 528;
		wrais_charge(&dev, dev.overdue ? WRAIS_OTHERS : WRAIS_PRIVILEGED,
			     dev.overdue ? 1040 : 528);
	}
	KUNIT_EXPECT_LE(test, others * 20, others + privileged + 20 * 1040);
	KUNIT_EXPECT_GE(test, others * 25, others + privileged);

	/* What the others have besides is not subtracted. */
	wrais_charge(&dev, WRAIS_PRIVILEGED, 1000000);
	dev.overdue = true;
	wrais_charge(&dev, WRAIS_OTHERS, 24);
	wrais_charge(&dev, WRAIS_OTHERS, 1000000);
	KUNIT_EXPECT_TRUE(test, wrais_overdue_may_go(&dev, true));
}

/* Late reads go one at a time, and have a fiftieth of the time. */
static void bounds_late(struct kunit *test)
{
	struct wrais_device dev = { };
	u64 all = 0, late = 0;
	int i;

	KUNIT_EXPECT_FALSE(test, wrais_late_may_go(&dev));
	for (i = 0; i < 10000; i++) {
		bool goes = wrais_late_may_go(&dev);
		u64 spent_ns = (goes ? 18 : 9) * NSEC_PER_MSEC;

		dev.late = goes;
		wrais_late_spend(&dev, goes ? WRAIS_OTHERS : WRAIS_PRIVILEGED, spent_ns);
		all += spent_ns;
		late += goes ? spent_ns : 0;
	}
	KUNIT_EXPECT_LE(test, late * 50, all + 50 * 18 * NSEC_PER_MSEC);
	KUNIT_EXPECT_GE(test, late * 60, all);

	wrais_late_spend(&dev, WRAIS_PRIVILEGED, NSEC_PER_SEC);
	KUNIT_EXPECT_TRUE(test, wrais_late_may_go(&dev));
	dev.late = true;
	KUNIT_EXPECT_FALSE(test, wrais_late_may_go(&dev));
	/* A long one keeps the next one off for a second; what the others have besides does not. */
	wrais_late_spend(&dev, WRAIS_OTHERS, NSEC_PER_SEC);
	wrais_late_spend(&dev, WRAIS_OTHERS, NSEC_PER_SEC);
	wrais_late_spend(&dev, WRAIS_PRIVILEGED, NSEC_PER_SEC);
	KUNIT_EXPECT_FALSE(test, wrais_late_may_go(&dev));
	wrais_late_spend(&dev, WRAIS_PRIVILEGED, 1);
	KUNIT_EXPECT_TRUE(test, wrais_late_may_go(&dev));
}

/* A reader of small pieces gets as much as one of large pieces, but nothing for idle times. */
static void bounds_fair(struct kunit *test)
{
	struct wrais_queue small = { }, large = { };
	struct wrais_device dev = { };
	u64 share[2] = { };
	int i;

	/* As in BFQ, the last level has an eighth of the first. */
	KUNIT_EXPECT_EQ(test, wrais_fair_share(1000, 0), 1000);
	KUNIT_EXPECT_EQ(test, wrais_fair_share(1000, 4), 2000);
	KUNIT_EXPECT_EQ(test, wrais_fair_share(1000, 7), 8000);

	for (i = 0; i < 1000; i++) {
		bool is_small = small.served <= large.served;
		u64 cost = is_small ? 272 : 1040;

		wrais_fair_charge(&dev, is_small ? &small : &large, cost);
		share[is_small] += cost;
	}
	KUNIT_EXPECT_LE(test, share[0] - min(share[0], share[1]), 1040);
	KUNIT_EXPECT_LE(test, share[1] - min(share[0], share[1]), 1040);

	/* Only a little of what it did not use is left. */
	wrais_fair_charge(&dev, &large, 1000000);
	wrais_fair_charge(&dev, &small, 272);
	KUNIT_EXPECT_GT(test, small.served + 10000, large.served);
	KUNIT_EXPECT_LT(test, small.served, large.served);
}

/* A CPU policy is no privilege, though a task without an I/O class has the real-time one then. */
static void bounds_policy(struct kunit *test)
{
	sched_set_fifo(current);
	KUNIT_EXPECT_EQ(test, IOPRIO_PRIO_CLASS(get_current_ioprio()), IOPRIO_CLASS_RT);
	KUNIT_EXPECT_FALSE(test, wrais_current_privileged());
	sched_set_normal(current, 0);
}

static struct kunit_case wrais_bounds_cases[] = {
	KUNIT_CASE(bounds_policy),
	KUNIT_CASE(bounds_headroom),
	KUNIT_CASE(bounds_room),
	KUNIT_CASE(bounds_spare),
	KUNIT_CASE(bounds_active),
	KUNIT_CASE(bounds_nap),
	KUNIT_CASE(bounds_waits),
	KUNIT_CASE(bounds_start_is_free),
	KUNIT_CASE(bounds_floor),
	KUNIT_CASE(bounds_credit),
	KUNIT_CASE(bounds_random),
	KUNIT_CASE(bounds_random_start),
	KUNIT_CASE(bounds_debt),
	KUNIT_CASE(bounds_lead),
	KUNIT_CASE(bounds_overdue),
	KUNIT_CASE(bounds_late),
	KUNIT_CASE(bounds_fair),
	{}
};

static struct kunit_suite wrais_bounds_suite = {
	.name		= "wrais_bounds",
	.test_cases	= wrais_bounds_cases,
};

kunit_test_suite(wrais_bounds_suite);

// SPDX-License-Identifier: GPL-2.0-only
/* The cost of receiving, and the next round. */

#include <kunit/test.h>
#include <linux/bottom_half.h>
#include <linux/prandom.h>
#include <linux/sched/clock.h>

#include <linux/rxgov/governor.h>

#include "cost.h"
#include "decide.h"

#define US	NSEC_PER_USEC
#define MS	NSEC_PER_MSEC

/* The default but for the limit. */
static const struct rxgov_params params = {
	.limit = 50,
	.round_us = 200,
	.hold_us = 20000,
};

/* The last decision after @frames a second have come one by one for @ns. */
static u64 governor_stream(struct rxgov_napi *g, u64 *now, u64 ns, unsigned int frames,
			   bool wanted)
{
	u64 end = *now + ns, gap = NSEC_PER_SEC / frames, delay = 0, due = *now;

	while (*now < end) {
		struct rxgov_seen seen = { .wanted = wanted };

		/* A round takes what has come since; an interrupt takes one. */
		*now += max(delay, gap);
		seen.now = *now;
		g->work = 0;
		while (due + gap <= *now) {
			due += gap;
			g->work++;
		}
		delay = rxgov_decide(g, &params, &seen);
	}
	return delay;
}

static void governor_idle_cpu(struct kunit *test)
{
	struct rxgov_napi g = { };
	u64 now = MS;

	KUNIT_EXPECT_EQ(test, governor_stream(&g, &now, 100 * MS, 50000, false), 0);
	KUNIT_EXPECT_EQ(test, g.switches, 0);
}

static void governor_rounds_gather(struct kunit *test)
{
	struct rxgov_napi g = { };
	u64 now = MS;

	KUNIT_EXPECT_EQ(test, governor_stream(&g, &now, 100 * MS, 2000, true), 0);
	KUNIT_EXPECT_EQ(test, governor_stream(&g, &now, 100 * MS, 6000, true), 0);
	KUNIT_EXPECT_EQ(test, governor_stream(&g, &now, 100 * MS, 10000, true), 200 * US);
	KUNIT_EXPECT_EQ(test, g.switches, 1);
	/* The CPU becomes free: later, the decision follows. */
	KUNIT_EXPECT_EQ(test, governor_stream(&g, &now, 10 * MS, 10000, false), 200 * US);
	KUNIT_EXPECT_EQ(test, governor_stream(&g, &now, 40 * MS, 10000, false), 0);
	KUNIT_EXPECT_EQ(test, g.switches, 2);
}

static void governor_limit(struct kunit *test)
{
	struct rxgov_napi g = { .work = 1 };
	struct rxgov_seen seen = { .now = MS, .deficit = 3 * MS, .wanted = true };

	KUNIT_EXPECT_EQ(test, rxgov_decide(&g, &params, &seen), 2 * MS);
	KUNIT_EXPECT_EQ(test, g.why, RXGOV_WHY_LIMIT);
	KUNIT_EXPECT_EQ(test, g.not_before, 4 * MS);
	KUNIT_EXPECT_EQ(test, g.until, 4 * MS);
	g.work = 1;
	seen.now += 30 * MS;
	seen.wanted = false;
	KUNIT_EXPECT_EQ(test, rxgov_decide(&g, &params, &seen), 0);
}

/* In rounds only, and they have a limit too. */
static void governor_poll_is_limited(struct kunit *test)
{
	struct rxgov_napi g = { .work = 64, .hot_run = RXGOV_HOT_RUN };
	struct rxgov_seen seen = { .now = NSEC_PER_SEC };

	g.governing = RXGOV_POLL;
	KUNIT_EXPECT_EQ(test, rxgov_decide(&g, &params, &seen), 200 * US);
	KUNIT_EXPECT_EQ(test, g.why, RXGOV_WHY_ASKED);
	seen.deficit = MS;
	KUNIT_EXPECT_EQ(test, rxgov_decide(&g, &params, &seen), 200 * US);
	KUNIT_EXPECT_EQ(test, g.why, RXGOV_WHY_ASKED);
	seen.wanted = true;
	KUNIT_EXPECT_EQ(test, rxgov_decide(&g, &params, &seen), MS);
	KUNIT_EXPECT_EQ(test, g.why, RXGOV_WHY_LIMIT);
	KUNIT_EXPECT_EQ(test, g.not_before, NSEC_PER_SEC + MS);
}

/* A poll of @work frames, of which @hot were for hot sockets. */
static u64 governor_poll(struct rxgov_napi *g, u64 now, unsigned int work, unsigned int hot,
			 bool wanted)
{
	struct rxgov_seen seen = { .now = now, .wanted = wanted };

	g->hot = hot;
	g->other = hot && hot < work ? work - hot : 0;
	rxgov_count(g, work, now);
	return rxgov_decide(g, &params, &seen);
}

static void governor_hot(struct kunit *test)
{
	struct rxgov_napi g = { .gap = 20 * US, .wanted = 256 };
	u64 now = NSEC_PER_SEC, away;

	g.ended = now - MS;
	/* Not before as many as a ring came. */
	governor_poll(&g, now, RXGOV_HOT_RUN - 1, RXGOV_HOT_RUN - 1, true);
	KUNIT_EXPECT_EQ(test, g.why, RXGOV_WHY_WANTED);
	for (away = 2 * MS; away <= 32 * MS; away *= 2) {
		now += MS;
		KUNIT_EXPECT_LE(test, governor_poll(&g, now, 60, 60, true), 2 * MS);
		KUNIT_EXPECT_EQ(test, g.why, RXGOV_WHY_HOT);
		KUNIT_EXPECT_EQ(test, g.until, now + min(away, 16 * MS));
		KUNIT_EXPECT_EQ(test, g.weight, RXGOV_HOT_PROBE);
	}
	/* One frame for another socket opens the card, for a while. */
	now += MS;
	governor_poll(&g, now, 60, 59, true);
	KUNIT_EXPECT_EQ(test, g.why, RXGOV_WHY_WANTED);
	KUNIT_EXPECT_EQ(test, g.weight, 0);
	now += MS;
	governor_poll(&g, now, 100, 100, true);
	KUNIT_EXPECT_EQ(test, g.why, RXGOV_WHY_WANTED);
	now += 50 * MS;
	g.gap = 20 * US;
	governor_poll(&g, now, 1000, 1000, true);
	KUNIT_EXPECT_EQ(test, g.why, RXGOV_WHY_HOT);
	KUNIT_EXPECT_EQ(test, g.until, now + 2 * MS);
	/* The card stays open while no other task wants the CPU. */
	for (away = 0; away < 100; away++) {
		now += MS;
		governor_poll(&g, now, 64, 64, false);
	}
	KUNIT_EXPECT_EQ(test, g.why, RXGOV_WHY_NONE);
}

/* Receiving waits until its deficit is gone, also while sockets are hot. */
static void governor_hot_owes(struct kunit *test)
{
	struct rxgov_napi g = { .hot_run = RXGOV_HOT_RUN, .wanted = 256, .ended = MS };
	struct rxgov_seen seen = { .now = NSEC_PER_SEC, .deficit = 7 * MS, .wanted = true };

	KUNIT_EXPECT_EQ(test, rxgov_decide(&g, &params, &seen), 2 * MS);
	KUNIT_EXPECT_EQ(test, g.why, RXGOV_WHY_HOT);
	KUNIT_EXPECT_EQ(test, g.not_before, NSEC_PER_SEC + 7 * MS);
	KUNIT_EXPECT_EQ(test, g.until, NSEC_PER_SEC + 7 * MS);
	/* A test every other millisecond, and no round before its time. */
	KUNIT_EXPECT_EQ(test, rxgov_wait_ns(&g, &params, NSEC_PER_SEC + MS), 2 * MS);
	KUNIT_EXPECT_EQ(test, rxgov_wait_ns(&g, &params, g.not_before - 500 * US), 500 * US);
	KUNIT_EXPECT_EQ(test, rxgov_wait_ns(&g, &params, g.not_before - 1), 200 * US);
	KUNIT_EXPECT_EQ(test, rxgov_wait_ns(&g, &params, g.not_before), 0);
}

/* A pause is tested as often as a poll takes, between the time of a round and a millisecond. */
static void governor_looks(struct kunit *test)
{
	struct rxgov_napi g = { .until = NSEC_PER_SEC + 16 * MS };

	rxgov_note_poll(&g, 3 * MS);
	KUNIT_EXPECT_EQ(test, rxgov_wait_ns(&g, &params, NSEC_PER_SEC), MS);
	/* One that drops early takes less, and alone says little. */
	rxgov_note_poll(&g, 100 * US);
	KUNIT_EXPECT_EQ(test, rxgov_wait_ns(&g, &params, NSEC_PER_SEC), 875 * US);
	rxgov_note_poll(&g, 900 * US);
	KUNIT_EXPECT_EQ(test, rxgov_wait_ns(&g, &params, NSEC_PER_SEC), 900 * US);
	for (unsigned int i = 0; i < 20; i++)
		rxgov_note_poll(&g, 100 * US);
	KUNIT_EXPECT_EQ(test, rxgov_wait_ns(&g, &params, NSEC_PER_SEC), 200 * US);
	KUNIT_EXPECT_EQ(test, rxgov_wait_ns(&g, &params, g.until), 0);
}

/* The last frame for another socket is of a CPU whose clock is ahead. */
static void governor_clock_ahead(struct kunit *test)
{
	const struct rxgov_napi g = { .hot_run = RXGOV_HOT_RUN, .other_at = NSEC_PER_SEC + 1 };

	KUNIT_EXPECT_FALSE(test, rxgov_is_hot(&g, NSEC_PER_SEC));
	KUNIT_EXPECT_TRUE(test, rxgov_is_hot(&g, NSEC_PER_SEC + 2 + RXGOV_HOT_ALONE_NS));
}

static void governor_long_rounds(struct kunit *test)
{
	struct rxgov_napi g = { };
	u64 now = MS;

	KUNIT_EXPECT_EQ(test, governor_stream(&g, &now, 100 * MS, 12000, true), 200 * US);
	KUNIT_EXPECT_EQ(test, governor_stream(&g, &now, 100 * MS, 18000, true), 300 * US);
}

/* A flood that begins after a pause is recognised within a few frames. */
static void governor_sees_a_flood(struct kunit *test)
{
	struct rxgov_napi g = { };
	u64 now = NSEC_PER_SEC;
	unsigned int frames;

	for (frames = 0; frames < 100 && !g.why; frames++) {
		now += 20 * US;
		governor_poll(&g, now, 1, 0, true);
	}
	KUNIT_EXPECT_LT(test, frames, 12);
}

/* At rest nothing is decided, and old means do not count afterwards. */
static void governor_rest(struct kunit *test)
{
	struct rxgov_napi g = { .wanted = 7, .gap = 1, .ended = 1, .hot_run = 64 };

	KUNIT_EXPECT_TRUE(test, rxgov_is_at_rest(&g));
	rxgov_rest(&g);
	governor_poll(&g, NSEC_PER_SEC, 1, 0, true);
	KUNIT_EXPECT_EQ(test, g.gap, 10 * MS);
	g.wanted = 8;
	KUNIT_EXPECT_FALSE(test, rxgov_is_at_rest(&g));
	g.wanted = 0;
	g.why = RXGOV_WHY_WANTED;
	KUNIT_EXPECT_FALSE(test, rxgov_is_at_rest(&g));
}

/* Another mode begins with interrupts, and that is a switch. */
static void governor_mode_changes(struct kunit *test)
{
	struct rxgov_napi g = { .governing = RXGOV_POLL, .work = 64 };
	struct rxgov_seen seen = { .now = NSEC_PER_SEC };

	KUNIT_EXPECT_EQ(test, rxgov_decide(&g, &params, &seen), 200 * US);
	KUNIT_EXPECT_EQ(test, g.switches, 1);
	g.weight = RXGOV_HOT_PROBE;
	rxgov_set_mode(&g, RXGOV_OFF);
	KUNIT_EXPECT_EQ(test, g.why, RXGOV_WHY_NONE);
	KUNIT_EXPECT_EQ(test, g.weight, 0);
	KUNIT_EXPECT_EQ(test, g.switches, 2);
	rxgov_set_mode(&g, RXGOV_AUTO);
	KUNIT_EXPECT_EQ(test, g.switches, 2);
	seen.now += MS;
	KUNIT_EXPECT_EQ(test, rxgov_decide(&g, &params, &seen), 0);
}

/* Under any frames. */
static void governor_switches_are_few(struct kunit *test)
{
	struct rxgov_napi g = { };
	struct rnd_state rnd;
	u64 now = MS, began = now;

	prandom_seed_state(&rnd, 1);
	while (now - began < NSEC_PER_SEC) {
		struct rxgov_seen seen = {
			.now = now,
			.deficit = prandom_u32_state(&rnd) % 4 ? 0 : MS,
			.wanted = prandom_u32_state(&rnd) % 2,
		};
		u64 delay;

		g.work = prandom_u32_state(&rnd) % 5;
		g.hot_run = prandom_u32_state(&rnd) % 2 ? RXGOV_HOT_RUN : 0;
		delay = rxgov_decide(&g, &params, &seen);
		KUNIT_ASSERT_LE(test, delay, RXGOV_COST_DEBT_NS);
		KUNIT_ASSERT_EQ(test, !delay, g.why == RXGOV_WHY_NONE);
		now += max_t(u64, delay, prandom_u32_state(&rnd) % (500 * US));
	}
	KUNIT_EXPECT_LE(test, g.switches, 100);
}

static void governor_cost_limits(struct kunit *test)
{
	struct rxgov_cost cost = { };
	u64 now = 0, used = 0;

	/* It receives all it can, in polls of 100 us. */
	while (now < NSEC_PER_SEC) {
		now += rxgov_cost_deficit(&cost, now) + 100 * US;
		used += 100 * US;
		rxgov_cost_charge(&cost, now, 100 * US, 25);
	}
	KUNIT_EXPECT_GE(test, used, 249 * MS);
	KUNIT_EXPECT_LE(test, used, 252 * MS);
}

static void governor_cost_burst(struct kunit *test)
{
	struct rxgov_cost cost = { };
	u64 now = NSEC_PER_SEC;

	/* Unused time of a second is not saved, except for a burst. */
	rxgov_cost_charge(&cost, now, RXGOV_COST_BURST_NS / 4, 50);
	KUNIT_EXPECT_EQ(test, rxgov_cost_deficit(&cost, now), 0);
	now += 2 * RXGOV_COST_BURST_NS;
	rxgov_cost_charge(&cost, now, 2 * RXGOV_COST_BURST_NS, 50);
	KUNIT_EXPECT_EQ(test, rxgov_cost_deficit(&cost, now), 5 * RXGOV_COST_BURST_NS / 4);
	rxgov_cost_clear(&cost, now);
	KUNIT_EXPECT_EQ(test, rxgov_cost_deficit(&cost, now), 0);
	/* Nor is the deficit larger than can be worked off soon. */
	rxgov_cost_charge(&cost, 2 * NSEC_PER_SEC, 500 * MS, 1);
	KUNIT_EXPECT_EQ(test, rxgov_cost_deficit(&cost, 2 * NSEC_PER_SEC), RXGOV_COST_DEBT_NS);
}

/* A frame of another device is queued after the limit was read: @governed.limit is 0. */
static void governor_backlog_limit(struct kunit *test)
{
	struct napi_struct *n = kunit_kzalloc(test, sizeof(*n), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, n);
	local_bh_disable();
	n->governed.began = local_clock();
	KUNIT_EXPECT_FALSE(test, __rxgov_backlog_waits(n, 50));
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, n->governed.began, 0);
}

/* A frame of another device lifts no limit while others are queued, whose limit it is. */
static void governor_backlog_mixed(struct kunit *test)
{
	struct net_device *dev = kunit_kzalloc(test, sizeof(*dev), GFP_KERNEL);
	struct softnet_data *sd = kunit_kzalloc(test, sizeof(*sd), GFP_KERNEL);
	struct sk_buff *skb = kunit_kzalloc(test, sizeof(*skb), GFP_KERNEL);

	KUNIT_ASSERT_TRUE(test, dev && sd && skb);
	__skb_queue_head_init(&sd->input_pkt_queue);
	dev->governor = (struct rxgov_params){ .on = true, .limit = 40 };
	skb->dev = dev;
	static_branch_inc(&rxgov_key);
	rxgov_backlog_queued(&sd->backlog, skb);
	__skb_queue_tail(&sd->input_pkt_queue, skb);
	dev->governor.on = false;
	rxgov_backlog_queued(&sd->backlog, skb);
	KUNIT_EXPECT_EQ(test, sd->backlog.governed.limit, 40);
	__skb_unlink(skb, &sd->input_pkt_queue);
	rxgov_backlog_queued(&sd->backlog, skb);
	KUNIT_EXPECT_EQ(test, sd->backlog.governed.limit, 0);
	static_branch_dec(&rxgov_key);
}

/* A burst that its buffer holds makes no socket hot, unless one has lost frames before. */
static void governor_marks(struct kunit *test)
{
	const struct rxgov_params marks = { .high = 30 };
	struct rxgov_napi g = { };

	KUNIT_EXPECT_EQ(test, rxgov_high_mark(&g, &marks), 100);
	rxgov_note_full(&g);
	KUNIT_EXPECT_EQ(test, rxgov_high_mark(&g, &marks), 30);
	g.full_at -= 2 * RXGOV_FULL_FOR;
	KUNIT_EXPECT_EQ(test, rxgov_high_mark(&g, &marks), 100);
}

/* A quota of frames ends no round of a fast CPU, and time none of few frames. */
static void governor_round_is_full(struct kunit *test)
{
	const struct rxgov_params quota = { .quota = 64 };
	struct rxgov_napi g = { .round_began = MS };

	g.work = 64;
	KUNIT_EXPECT_FALSE(test, rxgov_round_is_full(&g, &quota, MS + 499 * US));
	KUNIT_EXPECT_TRUE(test, rxgov_round_is_full(&g, &quota, MS + 500 * US));
	g.work = 63;
	KUNIT_EXPECT_FALSE(test, rxgov_round_is_full(&g, &quota, 2 * MS));
}

static struct kunit_case rxgov_cases[] = {
	KUNIT_CASE(governor_idle_cpu),
	KUNIT_CASE(governor_rounds_gather),
	KUNIT_CASE(governor_limit),
	KUNIT_CASE(governor_poll_is_limited),
	KUNIT_CASE(governor_hot),
	KUNIT_CASE(governor_hot_owes),
	KUNIT_CASE(governor_looks),
	KUNIT_CASE(governor_clock_ahead),
	KUNIT_CASE(governor_long_rounds),
	KUNIT_CASE(governor_sees_a_flood),
	KUNIT_CASE(governor_rest),
	KUNIT_CASE(governor_mode_changes),
	KUNIT_CASE(governor_switches_are_few),
	KUNIT_CASE(governor_cost_limits),
	KUNIT_CASE(governor_cost_burst),
	KUNIT_CASE(governor_backlog_limit),
	KUNIT_CASE(governor_backlog_mixed),
	KUNIT_CASE(governor_marks),
	KUNIT_CASE(governor_round_is_full),
	{ }
};

static struct kunit_suite rxgov_suite = {
	.name = "rxgov",
	.test_cases = rxgov_cases,
};

kunit_test_suite(rxgov_suite);

MODULE_INFO(import_ns, "EXPORTED_FOR_KUNIT_TESTING");
MODULE_DESCRIPTION("KUnit tests of the receive governor");
MODULE_LICENSE("GPL");

// SPDX-License-Identifier: GPL-2.0-only
/* When a port switches: every transition, and the race that kills a port. */

#include <linux/time64.h>

#include "strategy.h"
#include "tests.h"

#define MS	NSEC_PER_MSEC
#define HOLD	(20 * MS)

/* A hybrid port and what it sees. */
struct strategy_port {
	struct nll_strategy strategy;
	struct nll_sample sample;
};

static int strategy_init(struct kunit *test)
{
	struct strategy_port *port = kunit_kzalloc(test, sizeof(*port), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, port);
	nll_strategy_set(&port->strategy, NLL_HYBRID, 0);
	port->sample.calm = true;
	test->priv = port;
	return 0;
}

static enum nll_reason strategy_at(struct strategy_port *port, u64 now)
{
	port->sample.now = now;
	return nll_strategy_step(&port->strategy, &port->sample, HOLD);
}

static void strategy_busy(struct strategy_port *port, bool busy)
{
	port->sample.held_high = busy;
	port->sample.calm = !busy;
}

static void strategy_reasons(struct kunit *test)
{
	static const struct {
		struct nll_sample sample;
		enum nll_reason reason;
	} cases[] = {
		{ { .calm = true }, NLL_STAY },
		/* Neither calm nor overrun: between the watermarks. */
		{ { }, NLL_STAY },
		{ { .drops = NLL_DROPS_MANY - 1 }, NLL_STAY },
		{ { .drops = NLL_DROPS_MANY }, NLL_DROPS },
		{ { .held_high = true }, NLL_HELD },
		{ { .ring_high = true }, NLL_RING },
		{ { .over_limit = true }, NLL_LIMIT },
		{ { .over_limit = true, .ring_high = true, .held_high = true }, NLL_HELD },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct nll_strategy strategy;

		nll_strategy_set(&strategy, NLL_HYBRID, 0);
		KUNIT_EXPECT_EQ(test, nll_strategy_step(&strategy, &cases[i].sample, HOLD),
				cases[i].reason);
		KUNIT_EXPECT_EQ(test, strategy.polling, cases[i].reason != NLL_STAY);
		KUNIT_EXPECT_EQ(test, strategy.switches, strategy.polling);
	}
}

/* Each of them, too, keeps a port that polls from returning. */
static void strategy_not_calm(struct kunit *test)
{
	static const struct nll_sample samples[] = {
		{ .calm = false },
		{ .calm = true, .drops = NLL_DROPS_MANY },
		{ .calm = true, .held_high = true },
		{ .calm = true, .ring_high = true },
		{ .calm = true, .over_limit = true },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(samples); i++) {
		struct strategy_port *port = test->priv;
		u64 now;

		strategy_init(test);
		port = test->priv;
		strategy_busy(port, true);
		KUNIT_ASSERT_EQ(test, strategy_at(port, 0), NLL_HELD);
		port->sample = samples[i];
		for (now = 0; now < 5 * HOLD; now += MS)
			KUNIT_EXPECT_EQ(test, strategy_at(port, now), NLL_STAY);
		KUNIT_EXPECT_TRUE(test, port->strategy.polling);
	}
}

static void strategy_other_modes(struct kunit *test)
{
	static const enum nll_mode modes[] = { NLL_INTERRUPT, NLL_POLL, NLL_NAPI };
	struct strategy_port *port = test->priv;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(modes); i++) {
		nll_strategy_set(&port->strategy, modes[i], 0);
		strategy_busy(port, true);
		KUNIT_EXPECT_EQ(test, strategy_at(port, MS), NLL_STAY);
		strategy_busy(port, false);
		KUNIT_EXPECT_EQ(test, strategy_at(port, 10 * HOLD), NLL_STAY);
		KUNIT_EXPECT_EQ(test, port->strategy.polling, modes[i] == NLL_POLL);
	}
	/* Back to hybrid, whatever it was: begins with interrupts. */
	nll_strategy_set(&port->strategy, NLL_HYBRID, 0);
	KUNIT_EXPECT_FALSE(test, port->strategy.polling);
}

static void strategy_returns(struct kunit *test)
{
	struct strategy_port *port = test->priv;

	strategy_busy(port, true);
	KUNIT_EXPECT_EQ(test, strategy_at(port, 0), NLL_HELD);
	strategy_busy(port, false);
	KUNIT_EXPECT_EQ(test, strategy_at(port, MS), NLL_STAY);
	KUNIT_EXPECT_EQ(test, strategy_at(port, HOLD), NLL_STAY);
	/* One moment of load, and the time starts again. */
	strategy_busy(port, true);
	KUNIT_EXPECT_EQ(test, strategy_at(port, HOLD + MS), NLL_STAY);
	strategy_busy(port, false);
	KUNIT_EXPECT_EQ(test, strategy_at(port, HOLD + 2 * MS), NLL_STAY);
	KUNIT_EXPECT_EQ(test, strategy_at(port, 2 * HOLD + 2 * MS - 1), NLL_STAY);
	KUNIT_EXPECT_TRUE(test, port->strategy.polling);
	KUNIT_EXPECT_EQ(test, strategy_at(port, 2 * HOLD + 2 * MS), NLL_CALM);
	KUNIT_EXPECT_FALSE(test, port->strategy.polling);
	KUNIT_EXPECT_EQ(test, port->strategy.switches, 2);
}

/* Load just above what interrupts can do: polling lasts longer each time. */
static void strategy_backs_off(struct kunit *test)
{
	struct strategy_port *port = test->priv;
	u64 now = 0, hold = HOLD;
	unsigned int i;

	for (i = 0; i < 8; i++) {
		strategy_busy(port, true);
		KUNIT_EXPECT_EQ(test, strategy_at(port, now), NLL_HELD);
		KUNIT_EXPECT_EQ(test, port->strategy.hold, hold);
		strategy_busy(port, false);
		strategy_at(port, now);
		now += hold;
		KUNIT_EXPECT_EQ(test, strategy_at(port, now), NLL_CALM);
		now += MS;
		hold = min(2 * hold, NLL_HOLD_GROWTH * HOLD);
	}
	/* Interrupts were the answer for long enough: forgiven. */
	strategy_busy(port, true);
	KUNIT_EXPECT_EQ(test, strategy_at(port, now + hold), NLL_HELD);
	KUNIT_EXPECT_EQ(test, port->strategy.hold, HOLD);
}

/* No load that comes and goes makes it switch more than 100 times a second. */
static void strategy_bounded(struct kunit *test)
{
	u64 period;

	for (period = MS / 4; period <= 128 * MS; period *= 2) {
		struct strategy_port *port;
		u64 now;

		strategy_init(test);
		port = test->priv;
		for (now = 0; now < 1000 * MS; now += MS / 4) {
			strategy_busy(port, now / period % 2);
			nll_strategy_step(&port->strategy, &port->sample,
					  NLL_HOLD_MIN_US * NSEC_PER_USEC);
			port->sample.now = now;
		}
		KUNIT_EXPECT_LE(test, port->strategy.switches, 100);
		KUNIT_EXPECT_GT(test, port->strategy.switches, 0);
	}
}

/*
 * The race: the last port leaves, and at the end of the same round an interrupt
 * makes it poll again. In whatever order, exactly one of the two keeps the
 * timer running for a port that is there.
 */
static void strategy_reenter(struct kunit *test)
{
	/* Each step under the lock: Leave, Join, and the round's end, Again. */
	static const char * const orders[] = { "LJA", "LAJ", "JLA", "LJAA", "LAJA", "JALA" };
	unsigned int i;
	const char *step;

	for (i = 0; i < ARRAY_SIZE(orders); i++) {
		struct nll_rounds rounds = { };
		/* Whether a round runs, and how many timers are pending. */
		unsigned int running = 0, pending = 0, ports = 1;

		KUNIT_EXPECT_TRUE(test, nll_rounds_join(&rounds));
		running = 1;
		for (step = orders[i]; *step; step++) {
			switch (*step) {
			case 'L':
				nll_rounds_leave(&rounds);
				ports--;
				break;
			case 'J':
				pending += nll_rounds_join(&rounds);
				ports++;
				break;
			case 'A':
				/* The next round begins when its timer expires. */
				if (!running && pending) {
					pending--;
					running = 1;
				}
				if (running) {
					pending += nll_rounds_again(&rounds);
					running = 0;
				}
				break;
			}
			KUNIT_EXPECT_EQ_MSG(test, rounds.armed, running || pending,
					    "order %s", orders[i]);
			KUNIT_EXPECT_LE_MSG(test, pending + running, 1, "order %s", orders[i]);
			if (ports)
				KUNIT_EXPECT_EQ_MSG(test, pending + running, 1, "order %s",
						    orders[i]);
		}
	}
}

static struct kunit_case nll_strategy_cases[] = {
	KUNIT_CASE(strategy_reasons),
	KUNIT_CASE(strategy_not_calm),
	KUNIT_CASE(strategy_other_modes),
	KUNIT_CASE(strategy_returns),
	KUNIT_CASE(strategy_backs_off),
	KUNIT_CASE(strategy_bounded),
	KUNIT_CASE(strategy_reenter),
	{}
};

struct kunit_suite nll_strategy_suite = {
	.name		= "nll_strategy",
	.init		= strategy_init,
	.test_cases	= nll_strategy_cases,
};

// SPDX-License-Identifier: GPL-2.0-only
/*
 * The pools alone, and against each other: both keep the order of insertion,
 * so a winning number must pick the same entry from either.
 */

#include <kunit/test.h>
#include <linux/log2.h>
#include <linux/prandom.h>
#include <linux/rbtree.h>
#include <linux/sched.h>

#include "lottery/lottery.h"

/* Entries of the random tests, and operations done on them. */
#define POOL_ENTRIES	256
#define POOL_OPS	1000000
/* Every so many operations all sums are recomputed. */
#define POOL_CHECK	5000

/* One task of the test: an entry in each pool. */
struct pool_pair {
	struct lottery_entry list;
	struct lottery_entry tree;
	bool queued;
};

struct pool_test {
	struct lottery_pool list;
	struct lottery_pool tree;
	struct rnd_state rnd;
	struct pool_pair pair[POOL_ENTRIES];
};

static int pool_test_init(struct kunit *test)
{
	struct pool_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	if (!t)
		return -ENOMEM;

	lottery_pool_list.init(&t->list);
	lottery_pool_rbtree.init(&t->tree);
	prandom_seed_state(&t->rnd, 1994);
	test->priv = t;
	return 0;
}

static void pool_insert(struct pool_test *t, int i, u64 tickets)
{
	struct pool_pair *p = &t->pair[i];

	p->list.tickets = tickets;
	p->tree.tickets = tickets;
	lottery_pool_list.insert(&t->list, &p->list);
	lottery_pool_rbtree.insert(&t->tree, &p->tree);
	p->queued = true;
}

static void pool_remove(struct pool_test *t, int i)
{
	struct pool_pair *p = &t->pair[i];

	lottery_pool_list.remove(&t->list, &p->list);
	lottery_pool_rbtree.remove(&t->tree, &p->tree);
	p->queued = false;
}

static void pool_reweight(struct pool_test *t, int i, u64 tickets)
{
	struct pool_pair *p = &t->pair[i];

	lottery_pool_list.reweight(&t->list, &p->list, tickets);
	lottery_pool_rbtree.reweight(&t->tree, &p->tree, tickets);
}

/* Which of the pairs owns @winning, by either pool; they must agree. */
static int pool_draw(struct kunit *test, u64 winning)
{
	struct pool_test *t = test->priv;
	struct lottery_entry *l, *r;

	l = lottery_pool_list.draw(&t->list, winning);
	r = lottery_pool_rbtree.draw(&t->tree, winning);
	KUNIT_ASSERT_NOT_NULL(test, l);
	KUNIT_ASSERT_NOT_NULL(test, r);
	KUNIT_ASSERT_PTR_EQ(test, container_of(l, struct pool_pair, list),
			    container_of(r, struct pool_pair, tree));
	return container_of(l, struct pool_pair, list) - t->pair;
}

/* All tickets of a subtree, counted; each node's sum must agree. */
static u64 pool_count(struct kunit *test, const struct rb_node *rb)
{
	const struct lottery_entry *e;
	u64 left;

	if (!rb)
		return 0;

	e = rb_entry(rb, struct lottery_entry, node);
	left = pool_count(test, rb->rb_left);
	KUNIT_EXPECT_EQ(test, left, e->left);
	return left + e->tickets + pool_count(test, rb->rb_right);
}

/* The invariants of pool.h and of the tree's sums, the slow way. */
static void pool_check(struct kunit *test)
{
	struct pool_test *t = test->priv;
	unsigned int nr = 0;
	u64 tickets = 0;
	int i;

	for (i = 0; i < POOL_ENTRIES; i++) {
		if (t->pair[i].queued) {
			tickets += t->pair[i].tree.tickets;
			nr++;
		}
	}
	KUNIT_ASSERT_EQ(test, tickets, t->list.tickets);
	KUNIT_ASSERT_EQ(test, tickets, t->tree.tickets);
	KUNIT_ASSERT_EQ(test, nr, t->list.nr);
	KUNIT_ASSERT_EQ(test, nr, t->tree.nr);

	KUNIT_ASSERT_EQ(test, tickets, pool_count(test, t->tree.tree.rb_node));
	KUNIT_ASSERT_PTR_EQ(test, t->tree.last, rb_last(&t->tree.tree));
}

/* Each number has one owner, in the order of insertion. */
static void pool_owns_its_tickets(struct kunit *test)
{
	static const u64 tickets[] = { 5, 1, 7, 1, 1, 20, 3, 15, 10, 14 };
	struct pool_test *t = test->priv;
	u64 n, winning = 0;
	int i;

	for (i = 0; i < ARRAY_SIZE(tickets); i++)
		pool_insert(t, i, tickets[i]);
	pool_check(test);

	for (i = 0; i < ARRAY_SIZE(tickets); i++)
		for (n = 0; n < tickets[i]; n++)
			KUNIT_ASSERT_EQ(test, pool_draw(test, winning++), i);
	KUNIT_EXPECT_EQ(test, winning, t->tree.tickets);
	KUNIT_EXPECT_NULL(test, lottery_pool_list.draw(&t->list, winning));
	KUNIT_EXPECT_NULL(test, lottery_pool_rbtree.draw(&t->tree, winning));
}

static void pool_empty_draws_nobody(struct kunit *test)
{
	struct pool_test *t = test->priv;

	KUNIT_EXPECT_NULL(test, lottery_pool_list.draw(&t->list, 0));
	KUNIT_EXPECT_NULL(test, lottery_pool_rbtree.draw(&t->tree, 0));

	pool_insert(t, 0, 1);
	KUNIT_EXPECT_EQ(test, pool_draw(test, 0), 0);
	pool_remove(t, 0);
	pool_check(test);
	KUNIT_EXPECT_NULL(test, lottery_pool_list.draw(&t->list, 0));
	KUNIT_EXPECT_NULL(test, lottery_pool_rbtree.draw(&t->tree, 0));
}

/* Sums beyond 32 bits, drawn at every border. */
static void pool_counts_beyond_32_bits(struct kunit *test)
{
	struct pool_test *t = test->priv;
	u64 each = 1ULL << 34;
	int i;

	for (i = 0; i < POOL_ENTRIES; i++)
		pool_insert(t, i, each + i);
	pool_check(test);

	for (i = 0; i < POOL_ENTRIES; i++) {
		u64 first = each * i + (u64)i * (i - 1) / 2;

		KUNIT_ASSERT_EQ(test, pool_draw(test, first), i);
		KUNIT_ASSERT_EQ(test, pool_draw(test, first + each + i - 1), i);
	}
}

static int pool_depth(const struct rb_node *rb)
{
	int depth = 0;

	for (; rb; rb = rb_parent(rb))
		depth++;
	return depth;
}

/* Insertion at one end only must not make the tree a list. */
static void pool_tree_stays_balanced(struct kunit *test)
{
	struct pool_test *t = test->priv;
	int i, deepest = 0;

	for (i = 0; i < POOL_ENTRIES; i++)
		pool_insert(t, i, 1);
	for (i = 0; i < POOL_ENTRIES; i++)
		deepest = max(deepest, pool_depth(&t->pair[i].tree.node));
	KUNIT_EXPECT_LE(test, deepest, 2 * ilog2(POOL_ENTRIES + 1) + 1);
}

static void pool_reweight_moves_borders(struct kunit *test)
{
	struct pool_test *t = test->priv;
	int i;

	for (i = 0; i < 10; i++)
		pool_insert(t, i, 10);
	pool_reweight(t, 4, 1);
	pool_reweight(t, 5, 1000);
	pool_check(test);
	KUNIT_EXPECT_EQ(test, t->tree.tickets, 10 * 8 + 1 + 1000);
	KUNIT_EXPECT_EQ(test, pool_draw(test, 39), 3);
	KUNIT_EXPECT_EQ(test, pool_draw(test, 40), 4);
	KUNIT_EXPECT_EQ(test, pool_draw(test, 41), 5);
	KUNIT_EXPECT_EQ(test, pool_draw(test, 1040), 5);
	KUNIT_EXPECT_EQ(test, pool_draw(test, 1041), 6);
}

/* The same million random operations on both. */
static void pool_lockstep(struct kunit *test)
{
	struct pool_test *t = test->priv;
	int op, i;
	u64 n;

	for (op = 0; op < POOL_OPS; op++) {
		i = prandom_u32_state(&t->rnd) % POOL_ENTRIES;
		n = 1 + prandom_u32_state(&t->rnd) % LOTTERY_TICKETS_MAX;
		if (!t->pair[i].queued)
			pool_insert(t, i, n);
		else if (n & 1)
			pool_remove(t, i);
		else
			pool_reweight(t, i, n);

		if (op % 16 == 0 && t->tree.tickets)
			pool_draw(test, lottery_random_below(&t->rnd, t->tree.tickets));
		if (op % POOL_CHECK == 0) {
			pool_check(test);
			cond_resched();
		}
	}
	pool_check(test);
}

static struct kunit_case lottery_pool_cases[] = {
	KUNIT_CASE(pool_owns_its_tickets),
	KUNIT_CASE(pool_empty_draws_nobody),
	KUNIT_CASE(pool_counts_beyond_32_bits),
	KUNIT_CASE(pool_tree_stays_balanced),
	KUNIT_CASE(pool_reweight_moves_borders),
	KUNIT_CASE_SLOW(pool_lockstep),
	{}
};

static struct kunit_suite lottery_pool_suite = {
	.name		= "lottery_pool",
	.init		= pool_test_init,
	.test_cases	= lottery_pool_cases,
};

kunit_test_suite(lottery_pool_suite);

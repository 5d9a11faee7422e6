// SPDX-License-Identifier: GPL-2.0-only
/*
 * The pools alone, and against each other: the same is done to one of each
 * kind, and each entry must own as many winning numbers as it has tickets.
 */

#include <kunit/resource.h>
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/log2.h>
#include <linux/poison.h>
#include <linux/prandom.h>
#include <linux/rbtree.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "lottery/loan.h"

/* The number of entries, those of the random tests, and operations on them. */
#define POOL_ENTRIES	4100
#define POOL_RANDOM	256
#define POOL_OPS	1000000
/* How many operations pass between two sums of everything, or counts of the owners. */
#define POOL_CHECK	5000
#define POOL_COUNT	50000

enum pool_kind { POOL_LIST, POOL_RBTREE, POOL_SUMS, POOL_KINDS };

static const struct lottery_pool_ops *const kinds[POOL_KINDS] = {
	[POOL_LIST]	= &lottery_pool_list,
	[POOL_RBTREE]	= &lottery_pool_rbtree,
	[POOL_SUMS]	= &lottery_pool_sums,
};

/* One task of the test: an entry in each pool, and what it has won there. */
struct pool_task {
	struct lottery_entry entry[POOL_KINDS];
	u64 wins;
	bool queued;
};

/* @room: what the sums pool has been given, in entries. */
struct pool_test {
	struct lottery_pool pool[POOL_KINDS];
	unsigned int room;
	struct rnd_state rnd;
	struct pool_task task[POOL_ENTRIES];
};

KUNIT_DEFINE_ACTION_WRAPPER(pool_vfree, vfree, const void *);
KUNIT_DEFINE_ACTION_WRAPPER(pool_kfree, kfree, const void *);

static int pool_test_init(struct kunit *test)
{
	struct pool_test *t = vzalloc(sizeof(*t));
	enum pool_kind kind;
	int err;

	if (!t)
		return -ENOMEM;
	err = kunit_add_action_or_reset(test, pool_vfree, t);
	if (err)
		return err;

	for (kind = 0; kind < POOL_KINDS; kind++)
		kinds[kind]->init(&t->pool[kind]);
	t->room = lottery_pool_sums.room;
	prandom_seed_state(&t->rnd, 1994);
	test->priv = t;
	return 0;
}

/* Room for exactly @to entries in the sums pool, if it is not there. */
static void pool_grow(struct kunit *test, unsigned int to)
{
	struct pool_test *t = test->priv;
	struct lottery_room room;
	struct lottery_node *node;
	int err;

	if (to <= t->room)
		return;

	err = lottery_pool_sums.prepare(&room, t->room, to, NUMA_NO_NODE);
	KUNIT_ASSERT_EQ(test, err, 0);
	for (node = room.first; node; node = node->prev) {
		err = kunit_add_action(test, pool_kfree, node);
		KUNIT_ASSERT_EQ(test, err, 0);
	}
	lottery_pool_sums.publish(&t->pool[POOL_SUMS], &room);
	KUNIT_EXPECT_NULL(test, room.first);
	KUNIT_EXPECT_NULL(test, room.last);
	t->room = to;
}

/* Take off the sums pool what the present entries do not need. */
static void pool_withdraw(struct kunit *test)
{
	struct pool_test *t = test->priv;
	struct lottery_pool *pool = &t->pool[POOL_SUMS];
	unsigned int to = max(pool->nr, lottery_pool_sums.room);
	struct lottery_room room = { };
	struct lottery_node *node, *next;

	if (to < t->room)
		lottery_pool_sums.withdraw(pool, &room, t->room, to);
	for (node = room.first; node; node = next) {
		next = node->prev;
		memset(node, POISON_FREE, sizeof(*node));
	}
	t->room = to;
}

static void pool_insert(struct kunit *test, int i, u64 tickets)
{
	struct pool_test *t = test->priv;
	enum pool_kind kind;

	pool_grow(test, t->pool[POOL_SUMS].nr + 1);
	for (kind = 0; kind < POOL_KINDS; kind++) {
		t->task[i].entry[kind].tickets = tickets;
		kinds[kind]->insert(&t->pool[kind], &t->task[i].entry[kind]);
	}
	t->task[i].queued = true;
}

static void pool_remove(struct kunit *test, int i)
{
	struct pool_test *t = test->priv;
	enum pool_kind kind;

	for (kind = 0; kind < POOL_KINDS; kind++)
		kinds[kind]->remove(&t->pool[kind], &t->task[i].entry[kind]);
	t->task[i].queued = false;
}

static void pool_reweight(struct kunit *test, int i, u64 tickets)
{
	struct pool_test *t = test->priv;
	enum pool_kind kind;

	for (kind = 0; kind < POOL_KINDS; kind++)
		kinds[kind]->reweight(&t->pool[kind], &t->task[i].entry[kind],
				      tickets);
}

/* The task that owns @winning in the pool of a kind. */
static struct pool_task *
pool_draw(struct kunit *test, enum pool_kind kind, u64 winning)
{
	struct pool_test *t = test->priv;
	struct lottery_entry *e = kinds[kind]->draw(&t->pool[kind], winning);
	struct pool_task *task;

	KUNIT_ASSERT_NOT_NULL(test, e);
	task = container_of(e, struct pool_task, entry[kind]);
	KUNIT_ASSERT_TRUE(test, task >= t->task && task < t->task + POOL_ENTRIES);
	KUNIT_ASSERT_PTR_EQ(test, e, &t->task[task - t->task].entry[kind]);
	KUNIT_ASSERT_TRUE(test, task->queued);
	return task;
}

/* The owner of each number, by trying all of them. */
static void pool_count_wins(struct kunit *test, enum pool_kind kind)
{
	struct pool_test *t = test->priv;
	u64 winning;
	int i;

	for (i = 0; i < POOL_ENTRIES; i++)
		t->task[i].wins = 0;
	for (winning = 0; winning < t->pool[kind].tickets; winning++)
		pool_draw(test, kind, winning)->wins++;
	for (i = 0; i < POOL_ENTRIES; i++)
		KUNIT_ASSERT_EQ(test, t->task[i].wins, t->task[i].queued ?
				t->task[i].entry[kind].tickets : 0);
}

/*
 * The same for sums that are too large to try each number. All our kinds give an entry one
 * range: its borders are drawn, and ranges must not overlap.
 */
static void pool_count_ranges(struct kunit *test, enum pool_kind kind)
{
	struct pool_test *t = test->priv;
	unsigned int nr = 0;
	u64 winning = 0, n;
	int i;

	for (i = 0; i < POOL_ENTRIES; i++)
		t->task[i].wins = 0;
	while (winning < t->pool[kind].tickets) {
		struct pool_task *task = pool_draw(test, kind, winning);

		n = task->entry[kind].tickets;
		KUNIT_ASSERT_EQ(test, task->wins, 0);
		KUNIT_ASSERT_PTR_EQ(test, task,
				    pool_draw(test, kind, winning + n - 1));
		KUNIT_ASSERT_PTR_EQ(test, task,
				    pool_draw(test, kind, winning + n / 2));
		task->wins = n;
		winning += n;
		nr++;
	}
	KUNIT_ASSERT_EQ(test, winning, t->pool[kind].tickets);
	KUNIT_ASSERT_EQ(test, nr, t->pool[kind].nr);
}

/* All tickets of a subtree, counted; each node's sum must agree. */
static u64 pool_check_rbtree(struct kunit *test, const struct rb_node *rb)
{
	const struct lottery_entry *e;
	u64 left;

	if (!rb)
		return 0;

	e = rb_entry(rb, struct lottery_entry, node);
	left = pool_check_rbtree(test, rb->rb_left);
	KUNIT_EXPECT_EQ(test, left, e->left);
	return left + e->tickets + pool_check_rbtree(test, rb->rb_right);
}

/* The same for the entries of a leaf of a sums pool. */
static u64 pool_check_leaf(struct kunit *test, struct lottery_node *leaf)
{
	struct pool_test *t = test->priv;
	const struct lottery_pool *pool = &t->pool[POOL_SUMS];
	int i, nr = LOTTERY_FANOUT;
	u64 tickets = 0;

	if (pool->begin == leaf->sum)
		nr = pool->next - pool->begin;
	for (i = 0; i < nr; i++) {
		KUNIT_ASSERT_EQ(test, leaf->sum[i], leaf->place[i].entry->tickets);
		KUNIT_ASSERT_PTR_EQ(test, leaf->place[i].entry->slot, &leaf->sum[i]);
		tickets += leaf->sum[i];
	}
	return tickets;
}

/* And for a subtree, whose nodes are counted as well. */
static u64 pool_check_node(struct kunit *test, struct lottery_node *node,
			   unsigned int level, unsigned int *nodes)
{
	u64 tickets = 0;
	int i;

	++*nodes;
	if (!level)
		return pool_check_leaf(test, node);

	for (i = 0; i < LOTTERY_FANOUT; i++) {
		if (&node->sum[i] >= node->end) {
			KUNIT_ASSERT_EQ(test, node->sum[i], U64_MAX);
			continue;
		}
		KUNIT_ASSERT_EQ(test, node->sum[i], tickets);
		KUNIT_ASSERT_PTR_EQ(test, node->place[i].child->up, &node->sum[i]);
		tickets += pool_check_node(test, node->place[i].child, level - 1,
					   nodes);
	}
	return tickets;
}

/* No node is lost: those of the tree and the spare ones are all there are. */
static void pool_check_sums(struct kunit *test, u64 tickets)
{
	struct pool_test *t = test->priv;
	struct lottery_pool *pool = &t->pool[POOL_SUMS];
	unsigned int nodes = 0, all = 0, nr = t->room;
	const struct lottery_node *node;

	KUNIT_ASSERT_NULL(test, pool->root->up);
	KUNIT_ASSERT_EQ(test, tickets,
			pool_check_node(test, pool->root, pool->levels, &nodes));
	for (node = pool->spare; node; node = node->prev)
		nodes++;
	do {
		nr = DIV_ROUND_UP(nr, LOTTERY_FANOUT);
		all += nr;
	} while (nr > 1);
	KUNIT_ASSERT_EQ(test, nodes, all);
}

/* The invariants of pool.h, and those of the trees, the slow way. */
static void pool_check(struct kunit *test)
{
	struct pool_test *t = test->priv;
	enum pool_kind kind;
	unsigned int nr = 0;
	u64 tickets = 0;
	int i;

	for (i = 0; i < POOL_ENTRIES; i++) {
		if (t->task[i].queued) {
			tickets += t->task[i].entry[POOL_LIST].tickets;
			nr++;
		}
	}
	for (kind = 0; kind < POOL_KINDS; kind++) {
		KUNIT_ASSERT_EQ(test, tickets, t->pool[kind].tickets);
		KUNIT_ASSERT_EQ(test, nr, t->pool[kind].nr);
	}

	KUNIT_ASSERT_EQ(test, tickets,
			pool_check_rbtree(test, t->pool[POOL_RBTREE].tree.rb_node));
	KUNIT_ASSERT_PTR_EQ(test, t->pool[POOL_RBTREE].last,
			    rb_last(&t->pool[POOL_RBTREE].tree));
	pool_check_sums(test, tickets);
}

static void pool_owns_its_tickets(struct kunit *test)
{
	static const u64 tickets[] = { 5, 1, 7, 1, 1, 20, 3, 15, 10, 14 };
	enum pool_kind kind;
	int i;

	for (i = 0; i < ARRAY_SIZE(tickets); i++)
		pool_insert(test, i, tickets[i]);
	pool_check(test);
	for (kind = 0; kind < POOL_KINDS; kind++)
		pool_count_wins(test, kind);

	/* A hole in the middle, and the first and the last one gone. */
	pool_remove(test, 5);
	pool_remove(test, 0);
	pool_remove(test, 9);
	pool_check(test);
	for (kind = 0; kind < POOL_KINDS; kind++)
		pool_count_wins(test, kind);
}

static void pool_last_one_leaves(struct kunit *test)
{
	struct pool_test *t = test->priv;
	enum pool_kind kind;
	int i;

	for (i = 0; i < 3; i++) {
		pool_insert(test, i, i + 1);
		pool_check(test);
		for (kind = 0; kind < POOL_KINDS; kind++)
			KUNIT_EXPECT_PTR_EQ(test, pool_draw(test, kind, i),
					    &t->task[i]);
		pool_remove(test, i);
		pool_check(test);
	}
}

/* Sums beyond 32 bits. */
static void pool_counts_beyond_32_bits(struct kunit *test)
{
	enum pool_kind kind;
	int i;

	for (i = 0; i < POOL_RANDOM; i++)
		pool_insert(test, i, (1ULL << 34) + i);
	pool_check(test);
	for (kind = 0; kind < POOL_KINDS; kind++)
		pool_count_ranges(test, kind);
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

	for (i = 0; i < POOL_RANDOM; i++)
		pool_insert(test, i, 1);
	for (i = 0; i < POOL_RANDOM; i++)
		deepest = max(deepest, pool_depth(&t->task[i].entry[POOL_RBTREE].node));
	KUNIT_EXPECT_LE(test, deepest, 2 * ilog2(POOL_RANDOM + 1) + 1);
}

static void pool_reweight_moves_borders(struct kunit *test)
{
	struct pool_test *t = test->priv;
	enum pool_kind kind;
	int i;

	for (i = 0; i < 100; i++)
		pool_insert(test, i, 10);
	pool_reweight(test, 4, 1);
	pool_reweight(test, 5, 1000);
	pool_reweight(test, 0, 2);
	pool_reweight(test, 99, 3);
	pool_check(test);
	KUNIT_EXPECT_EQ(test, t->pool[POOL_SUMS].tickets, 10 * 96 + 1 + 1000 + 2 + 3);
	for (kind = 0; kind < POOL_KINDS; kind++)
		pool_count_wins(test, kind);
}

/* Others in the places of some that have gone, across the border at @nr. */
static void pool_edge(struct kunit *test, int nr)
{
	enum pool_kind kind;
	int i;

	for (i = 0; i < 3; i++) {
		pool_remove(test, i * (nr - 1) / 2);
		pool_check(test);
	}
	for (i = 0; i < 3; i++) {
		pool_insert(test, i * (nr - 1) / 2, 1 + i);
		pool_check(test);
	}
	/* The list takes quadratic time. */
	for (kind = nr < 600 ? POOL_LIST : POOL_RBTREE; kind < POOL_KINDS; kind++)
		pool_count_wins(test, kind);
}

/*
 * Full nodes, full levels, and one more. There is never room for more than one entry
 * beyond the present ones, so that the pool grows while it is full; on the way back there
 * is no more room than at the edge before.
 */
static void pool_edges(struct kunit *test)
{
	static const int edges[] = {
		7, 8, 9, 15, 16, 17, 63, 64, 65, 255, 256, 257,
		511, 512, 513, 4095, 4096, 4097,
	};
	struct pool_test *t = test->priv;
	int e, i = 0;

	for (e = 0; e < ARRAY_SIZE(edges); e++) {
		for (; i < edges[e]; i++)
			pool_insert(test, i, 1 + i % 3);
		pool_edge(test, i);
		cond_resched();
	}
	for (e = ARRAY_SIZE(edges) - 1; e >= 0; e--) {
		while (i > edges[e])
			pool_remove(test, --i);
		pool_withdraw(test);
		pool_edge(test, i);
		cond_resched();
	}
	while (i)
		pool_remove(test, --i);
	pool_withdraw(test);
	pool_check(test);
	KUNIT_EXPECT_EQ(test, t->pool[POOL_SUMS].nr, 0);
	KUNIT_EXPECT_EQ(test, t->pool[POOL_SUMS].levels, 0);
}

/* What has been prepared and is not wanted is freed (for kmemleak and KASAN). */
static void pool_discards_room(struct kunit *test)
{
	struct lottery_room room;

	KUNIT_ASSERT_EQ(test, 0, lottery_pool_sums.prepare(&room, 8, 8, NUMA_NO_NODE));
	KUNIT_EXPECT_NULL(test, room.first);
	KUNIT_ASSERT_EQ(test, 0, lottery_pool_sums.prepare(&room, 8, 1000, NUMA_NO_NODE));
	KUNIT_EXPECT_NOT_NULL(test, room.first);
	lottery_pool_sums.discard(&room);
	KUNIT_EXPECT_NULL(test, room.first);
	KUNIT_EXPECT_NULL(test, room.last);
}

/* The same million random operations on all. */
static void pool_lockstep(struct kunit *test)
{
	struct pool_test *t = test->priv;
	enum pool_kind kind;
	int op, i;
	u64 n;

	for (op = 0; op < POOL_OPS; op++) {
		i = prandom_u32_state(&t->rnd) % POOL_RANDOM;
		n = 1 + prandom_u32_state(&t->rnd) % LOTTERY_TICKETS_MAX;
		if (!t->task[i].queued)
			pool_insert(test, i, n);
		else if (n & 1)
			pool_remove(test, i);
		else
			pool_reweight(test, i, n);

		n = t->pool[POOL_LIST].tickets;
		if (op % 16 == 0 && n) {
			n = lottery_random_below(&t->rnd, n);
			for (kind = 0; kind < POOL_KINDS; kind++)
				pool_draw(test, kind, n);
		}
		if (op % POOL_CHECK == 0) {
			pool_check(test);
			cond_resched();
		}
		if (op % POOL_COUNT == 0)
			for (kind = 0; kind < POOL_KINDS; kind++)
				pool_count_ranges(test, kind);
	}
	pool_check(test);
}

/* Would one more loan fit a CPU's pool that has @nr? */
static bool pool_has_room(unsigned int nr)
{
	struct lottery_rq lrq = { .pool.nr = nr };

	return lottery_has_room_to_lend(&lrq);
}

/* There is room for what tasks lend, and not for more; when they have gone it is given back. */
static void pool_room_follows_tasks(struct kunit *test)
{
	const unsigned int nr = 2000;
	unsigned int i, reserved = 0;

	while (reserved < nr && !lottery_reserve())
		reserved++;
	KUNIT_EXPECT_EQ(test, reserved, nr);
	KUNIT_EXPECT_TRUE(test, pool_has_room(0));
	KUNIT_EXPECT_TRUE(test, pool_has_room(nr - 1));
	KUNIT_EXPECT_FALSE(test, pool_has_room(U32_MAX - 1));
	while (reserved--)
		lottery_unreserve();
	if (lottery_pool_ops->room == U32_MAX)
		return;
	for (i = 0; i < 100 && pool_has_room(nr / 2); i++)
		msleep(100);
	KUNIT_EXPECT_FALSE(test, pool_has_room(nr / 2));
}

static struct kunit_case lottery_pool_cases[] = {
	KUNIT_CASE(pool_owns_its_tickets),
	KUNIT_CASE(pool_last_one_leaves),
	KUNIT_CASE(pool_counts_beyond_32_bits),
	KUNIT_CASE(pool_tree_stays_balanced),
	KUNIT_CASE(pool_reweight_moves_borders),
	KUNIT_CASE(pool_edges),
	KUNIT_CASE(pool_discards_room),
	KUNIT_CASE(pool_room_follows_tasks),
	KUNIT_CASE_SLOW(pool_lockstep),
	{}
};

static struct kunit_suite lottery_pool_suite = {
	.name		= "lottery_pool",
	.init		= pool_test_init,
	.test_cases	= lottery_pool_cases,
};

kunit_test_suite(lottery_pool_suite);

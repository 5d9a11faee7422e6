// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rbtree pool: every node knows the tickets of its subtree, and a draw
 * descends by comparing the winning number with the left one.
 *
 * The tree has no key. A new entry becomes the rightmost node, so that the
 * in-order walk is the order of insertion, and nothing is compared on the
 * way down. The sums are kept along one path, from the node to the root:
 * O(log n) for everything. (The reference recomputed all of them, O(n).)
 */

#include <linux/rbtree_augmented.h>
#include <linux/sched.h>

#include "pool.h"

#define lottery_entry_of(rb) rb_entry((rb), struct lottery_entry, node)

static inline u64 lottery_subtree(const struct rb_node *rb)
{
	return rb ? lottery_entry_of(rb)->sum : 0;
}

/* Has the form that RB_DECLARE_CALLBACKS asks for: true if @e was right. */
static inline bool lottery_resum(struct lottery_entry *e, bool exit)
{
	u64 sum = e->tickets + lottery_subtree(e->node.rb_left) +
		  lottery_subtree(e->node.rb_right);

	if (exit && e->sum == sum)
		return true;
	e->sum = sum;
	return false;
}

RB_DECLARE_CALLBACKS(static, lottery_sums, struct lottery_entry, node, sum,
		     lottery_resum)

static void lottery_rbtree_init(struct lottery_pool *pool)
{
	pool->tree = RB_ROOT;
}

static void
lottery_rbtree_insert(struct lottery_pool *pool, struct lottery_entry *e)
{
	struct rb_node **link = &pool->tree.rb_node, *parent = NULL;
	u64 tickets = e->tickets;

	while (*link) {
		parent = *link;
		lottery_entry_of(parent)->sum += tickets;
		link = &parent->rb_right;
	}

	e->sum = tickets;
	rb_link_node(&e->node, parent, link);
	rb_insert_augmented(&e->node, &pool->tree, &lottery_sums);
	pool->tickets += tickets;
	pool->nr++;
}

/* Add @delta, which may be negative, to @e and to all that contain it. */
static void lottery_rbtree_add(struct lottery_entry *e, s64 delta)
{
	struct rb_node *rb = &e->node;

	e->tickets += delta;
	do {
		lottery_entry_of(rb)->sum += delta;
		rb = rb_parent(rb);
	} while (rb);
}

static void
lottery_rbtree_remove(struct lottery_pool *pool, struct lottery_entry *e)
{
	u64 tickets = e->tickets;

	/*
	 * A node without tickets can go without a change of any sum above
	 * it: rb_erase_augmented() finds them right and stops at once.
	 */
	lottery_rbtree_add(e, -tickets);
	rb_erase_augmented(&e->node, &pool->tree, &lottery_sums);
	e->tickets = tickets;
	pool->tickets -= tickets;
	pool->nr--;
}

static void lottery_rbtree_reweight(struct lottery_pool *pool,
				    struct lottery_entry *e, u64 tickets)
{
	s64 delta = tickets - e->tickets;

	lottery_rbtree_add(e, delta);
	pool->tickets += delta;
}

static struct lottery_entry *
lottery_rbtree_draw(const struct lottery_pool *pool, u64 winning)
{
	struct rb_node *rb = pool->tree.rb_node;

	while (rb) {
		struct lottery_entry *e = lottery_entry_of(rb);
		u64 left = lottery_subtree(rb->rb_left);

		if (winning < left) {
			rb = rb->rb_left;
			continue;
		}
		winning -= left;
		if (winning < e->tickets)
			return e;
		winning -= e->tickets;
		rb = rb->rb_right;
	}

	return NULL;
}

const struct lottery_pool_ops lottery_pool_rbtree = {
	.name		= "rbtree",
	.init		= lottery_rbtree_init,
	.insert		= lottery_rbtree_insert,
	.remove		= lottery_rbtree_remove,
	.reweight	= lottery_rbtree_reweight,
	.draw		= lottery_rbtree_draw,
};

// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rbtree pool: every node knows the tickets of the subtree to its left, and a draw
 * descends by comparing the winning number with them.
 *
 * The tree has no key. A new entry becomes the rightmost node, so that the in-order walk
 * is the order of insertion. Nothing is compared on the way, and no sum changes: the new
 * node is to the left of no other. A removal changes the sums on the path to the root, a
 * rotation one sum: O(log n) for everything. (The reference kept a sum in every node and
 * recomputed all of them.)
 */

#include <linux/limits.h>
#include <linux/rbtree_augmented.h>
#include <linux/sched.h>

#include <linux/lottery/pool.h>

#define lottery_entry_of(rb) rb_entry((rb), struct lottery_entry, node)

/* @new was a child of @old and is its parent now. */
static void lottery_rbtree_rotate(struct rb_node *old, struct rb_node *new)
{
	struct lottery_entry *o = lottery_entry_of(old);
	struct lottery_entry *n = lottery_entry_of(new);

	if (new->rb_left == old)
		n->left += o->left + o->tickets;
	else
		o->left -= n->left + n->tickets;
}

/* @new takes the place of @old, which is erased. */
static void lottery_rbtree_copy(struct rb_node *old, struct rb_node *new)
{
	lottery_entry_of(new)->left = lottery_entry_of(old)->left;
}

/*
 * @stop has left the leftmost place below @rb for that of the erased node. The nodes above
 * the erased one have been updated before, see remove.
 */
static void lottery_rbtree_propagate(struct rb_node *rb, struct rb_node *stop)
{
	for (; stop && rb != stop; rb = rb_parent(rb))
		lottery_entry_of(rb)->left -= lottery_entry_of(stop)->tickets;
}

static const struct rb_augment_callbacks lottery_rbtree_sums = {
	.propagate	= lottery_rbtree_propagate,
	.copy		= lottery_rbtree_copy,
	.rotate		= lottery_rbtree_rotate,
};

static void lottery_rbtree_init(struct lottery_pool *pool)
{
	pool->tree = RB_ROOT;
	pool->last = NULL;
}

void lottery_rbtree_insert(struct lottery_pool *pool, struct lottery_entry *e)
{
	struct rb_node *last = pool->last;

	e->left = 0;
	rb_link_node(&e->node, last,
		     last ? &last->rb_right : &pool->tree.rb_node);
	rb_insert_augmented(&e->node, &pool->tree, &lottery_rbtree_sums);
	pool->last = &e->node;
	pool->tickets += e->tickets;
	pool->nr++;
}

/* Add @delta, which may be negative, to all that have @e to their left. */
static void lottery_rbtree_add(const struct lottery_entry *e, s64 delta)
{
	const struct rb_node *rb = &e->node;
	struct rb_node *parent;

	for (; (parent = rb_parent(rb)); rb = parent)
		if (parent->rb_left == rb)
			lottery_entry_of(parent)->left += delta;
}

void lottery_rbtree_remove(struct lottery_pool *pool, struct lottery_entry *e)
{
	lottery_rbtree_add(e, -e->tickets);
	if (pool->last == &e->node)
		pool->last = rb_prev(&e->node);
	rb_erase_augmented(&e->node, &pool->tree, &lottery_rbtree_sums);
	pool->tickets -= e->tickets;
	pool->nr--;
}

void lottery_rbtree_reweight(struct lottery_pool *pool,
			     struct lottery_entry *e, u64 tickets)
{
	s64 delta = tickets - e->tickets;

	lottery_rbtree_add(e, delta);
	e->tickets = tickets;
	pool->tickets += delta;
}

struct lottery_entry *
lottery_rbtree_draw(const struct lottery_pool *pool, u64 winning)
{
	const struct rb_node *rb = pool->tree.rb_node;

	while (rb) {
		struct lottery_entry *e = lottery_entry_of(rb);

		if (winning < e->left) {
			rb = rb->rb_left;
			continue;
		}
		winning -= e->left;
		if (winning < e->tickets)
			return e;
		winning -= e->tickets;
		rb = rb->rb_right;
	}

	return NULL;
}

const struct lottery_pool_ops lottery_pool_rbtree = {
	.name		= "rbtree",
	.room		= U32_MAX,
	.init		= lottery_rbtree_init,
	.insert		= lottery_rbtree_insert,
	.remove		= lottery_rbtree_remove,
	.reweight	= lottery_rbtree_reweight,
	.draw		= lottery_rbtree_draw,
};

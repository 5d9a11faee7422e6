// SPDX-License-Identifier: GPL-2.0-only
/*
 * The sums pool: a tree of nodes with eight places each. The places of a leaf hold
 * entries, and the tickets of each; those of an inner node hold children, and the tickets
 * to the left of each within the node.
 *
 * Entries fill the leaves from left to right without a gap. A new one goes behind the
 * last; one that leaves is replaced by the last. So the depth, and with it the cost, is
 * that of the present entries, whatever was in before.
 *
 * The tickets to the left of a place do not change when something happens at the end. So
 * an insertion changes no sum in an inner node. Neither does a removal, if the last entry
 * has as many tickets as the one that it replaces; otherwise the difference goes into the
 * sums to the right, at most seven a level.
 *
 * A draw compares three sums in each inner node, without a branch, and walks half of a
 * leaf on average. Eight sums are one cache line.
 *
 * Nodes are allocated beforehand, see lottery_sums_prepare(), and are taken from a list of
 * spare ones when the last leaf is full.
 */

#include <linux/align.h>
#include <linux/build_bug.h>
#include <linux/limits.h>
#include <linux/math.h>
#include <linux/overflow.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include <linux/lottery/pool.h>

/* The node that has @slot among its sums; its sums begin it, and align it. */
static struct lottery_node *lottery_sums_node(u64 *slot)
{
	BUILD_BUG_ON(offsetof(struct lottery_node, sum));
	BUILD_BUG_ON(sizeof_field(struct lottery_node, sum) !=
		     __alignof__(struct lottery_node));

	return (struct lottery_node *)PTR_ALIGN_DOWN(slot, __alignof__(struct lottery_node));
}

/* The entry or child whose sum @slot is: the pointer is as far from it in every place. */
static union lottery_place *lottery_sums_place(const u64 *slot)
{
	BUILD_BUG_ON(sizeof(union lottery_place) != sizeof(*slot));
	BUILD_BUG_ON(offsetof(struct lottery_node, place) !=
		     LOTTERY_FANOUT * sizeof(*slot));

	return (union lottery_place *)slot + LOTTERY_FANOUT;
}

static struct lottery_node *lottery_sums_take(struct lottery_pool *pool)
{
	struct lottery_node *node = pool->spare;

	pool->spare = node->prev;
	return node;
}

static void
lottery_sums_give(struct lottery_pool *pool, struct lottery_node *node)
{
	node->prev = pool->spare;
	pool->spare = node;
}

static void lottery_sums_set_tail(struct lottery_pool *pool,
				  struct lottery_node *leaf, u64 *next)
{
	pool->begin = leaf->sum;
	pool->end = leaf->sum + LOTTERY_FANOUT;
	pool->next = next;
}

static void lottery_sums_init(struct lottery_pool *pool)
{
	struct lottery_node *leaf = &pool->leaf;

	leaf->up = NULL;
	pool->root = leaf;
	pool->levels = 0;
	pool->spare = NULL;
	lottery_sums_set_tail(pool, leaf, leaf->sum);
}

/* Append @child to @parent, which has a place left, with @left tickets before. */
static void lottery_sums_append(struct lottery_node *parent,
				struct lottery_node *child, u64 left)
{
	u64 *slot = parent->end++;

	*slot = left;
	lottery_sums_place(slot)->child = child;
	child->up = slot;
}

/* An inner node with @child alone. No number wins in a place without a child. */
static struct lottery_node *
lottery_sums_parent(struct lottery_pool *pool, struct lottery_node *child)
{
	struct lottery_node *node = lottery_sums_take(pool);
	int i;

	for (i = 0; i < LOTTERY_FANOUT; i++)
		node->sum[i] = U64_MAX;
	node->up = NULL;
	node->end = node->sum;
	lottery_sums_append(node, child, 0);
	return node;
}

/*
 * The last leaf is full: start another one. It hangs below the lowest inner node with a
 * free place, on a branch of its own, or else below a new root.
 */
static void lottery_sums_grow(struct lottery_pool *pool)
{
	struct lottery_node *last = lottery_sums_node(pool->begin);
	struct lottery_node *leaf = lottery_sums_take(pool);
	struct lottery_node *branch = leaf, *parent;
	u64 left = 0;
	int i;

	leaf->prev = last;
	for (i = 0; i < LOTTERY_FANOUT; i++)
		left += last->sum[i];

	while (last->up) {
		parent = lottery_sums_node(last->up);
		left += *last->up;
		if (parent->end < parent->sum + LOTTERY_FANOUT)
			break;
		branch = lottery_sums_parent(pool, branch);
		last = parent;
	}
	if (!last->up) {
		parent = lottery_sums_parent(pool, last);
		pool->root = parent;
		pool->levels++;
	}
	lottery_sums_append(parent, branch, left);

	lottery_sums_set_tail(pool, leaf, leaf->sum);
}

/*
 * The last leaf is empty, and an entry of the leaf before it is to go. An empty leaf stays
 * until then, so that a task that comes and goes does not make and unmake one each time.
 */
static void lottery_sums_shrink(struct lottery_pool *pool)
{
	struct lottery_node *node = lottery_sums_node(pool->begin);
	struct lottery_node *prev = node->prev, *root = pool->root;
	u64 *slot;

	/* The inner nodes that have nothing else go with it. */
	do {
		slot = node->up;
		lottery_sums_give(pool, node);
		node = lottery_sums_node(slot);
	} while (slot == node->sum);
	*slot = U64_MAX;
	node->end = slot;

	if (root->end == root->sum + 1) {
		pool->root = root->place[0].child;
		pool->root->up = NULL;
		pool->levels--;
		lottery_sums_give(pool, root);
	}

	lottery_sums_set_tail(pool, prev, prev->sum + LOTTERY_FANOUT);
}

/* Not part of lottery_sums_insert(), which needs no stack without it. */
static noinline void
lottery_sums_insert_slow(struct lottery_pool *pool, struct lottery_entry *e)
{
	lottery_sums_grow(pool);
	lottery_sums_insert(pool, e);
}

void lottery_sums_insert(struct lottery_pool *pool, struct lottery_entry *e)
{
	u64 *slot = pool->next, tickets = e->tickets;

	if (unlikely(slot == pool->end))
		return lottery_sums_insert_slow(pool, e);

	*slot = tickets;
	lottery_sums_place(slot)->entry = e;
	e->slot = slot;
	pool->next++;
	pool->tickets += tickets;
	pool->nr++;
}

/* Add @delta, which may be negative, to all that have @slot to their left. */
static noinline void lottery_sums_add(u64 *slot, u64 delta)
{
	struct lottery_node *node = lottery_sums_node(slot);
	const u64 *end;

	while ((slot = node->up)) {
		node = lottery_sums_node(slot);
		end = node->end;
		while (++slot < end)
			*slot += delta;
	}
}

/* @slot, which had @old tickets, gets the last entry; it is not the last one. */
static __always_inline void
lottery_sums_refill(struct lottery_pool *pool, u64 *slot, u64 old)
{
	struct lottery_entry *last = lottery_sums_place(pool->next)->entry;
	u64 tickets = last->tickets;

	last->slot = slot;
	lottery_sums_place(slot)->entry = last;
	*slot = tickets;
	if (tickets != old && pool->levels)
		lottery_sums_add(slot, tickets - old);
}

static noinline void
lottery_sums_remove_slow(struct lottery_pool *pool, struct lottery_entry *e)
{
	lottery_sums_shrink(pool);
	lottery_sums_remove(pool, e);
}

void lottery_sums_remove(struct lottery_pool *pool, struct lottery_entry *e)
{
	u64 *last = pool->next - 1, *slot = e->slot, tickets = e->tickets;

	/* A task that comes and goes, among others that stay, is the last one. */
	if (slot != last && unlikely(pool->next == pool->begin))
		return lottery_sums_remove_slow(pool, e);

	pool->next = last;
	pool->tickets -= tickets;
	pool->nr--;
	if (slot != last)
		lottery_sums_refill(pool, slot, tickets);
}

void lottery_sums_reweight(struct lottery_pool *pool, struct lottery_entry *e,
			   u64 tickets)
{
	u64 delta = tickets - e->tickets;

	*e->slot = tickets;
	lottery_sums_add(e->slot, delta);
	e->tickets = tickets;
	pool->tickets += delta;
}

/*
 * Descend @level levels from @node to a leaf; @winning counts from the first entry of the
 * node that has been reached. The last step has no branch: gcc makes one of every if, and
 * a wrong guess costs more than a comparison.
 */
static __always_inline const struct lottery_node *
lottery_sums_descend(const struct lottery_node *node, unsigned int level,
		     u64 *winning)
{
	const u64 *slot;

	do {
		slot = node->sum;
		if (*winning >= slot[4])
			slot += 4;
		if (*winning >= slot[2])
			slot += 2;
		slot += *winning >= slot[1];
		*winning -= *slot;
		node = lottery_sums_place(slot)->child;
	} while (--level);

	return node;
}

struct lottery_entry *
lottery_sums_draw(const struct lottery_pool *pool, u64 winning)
{
	const struct lottery_node *leaf = pool->root;
	const u64 *slot;

	BUILD_BUG_ON(LOTTERY_FANOUT != 8);

	/* Not unlikely, but few tasks are compared with the list. */
	if (unlikely(pool->levels))
		leaf = lottery_sums_descend(leaf, pool->levels, &winning);

	slot = leaf->sum;
	while (!check_sub_overflow(winning, *slot, &winning))
		slot++;
	return lottery_sums_place(slot)->entry;
}

/* The nodes below and at the root of a tree with @nr entries. */
static unsigned int lottery_sums_nodes(unsigned int nr)
{
	unsigned int nodes = 0;

	do {
		nr = DIV_ROUND_UP(nr, LOTTERY_FANOUT);
		nodes += nr;
	} while (nr > 1);
	return nodes;
}

static void lottery_sums_discard(struct lottery_room *room)
{
	struct lottery_node *node;

	while ((node = room->first)) {
		room->first = node->prev;
		kfree(node);
	}
	room->last = NULL;
}

static int lottery_sums_prepare(struct lottery_room *room, unsigned int from,
				unsigned int to, int nid)
{
	unsigned int nodes = lottery_sums_nodes(to) - lottery_sums_nodes(from);
	struct lottery_node *node;

	room->first = NULL;
	room->last = NULL;
	while (nodes--) {
		node = kmalloc_node(sizeof(*node), GFP_KERNEL, nid);
		if (!node) {
			lottery_sums_discard(room);
			return -ENOMEM;
		}
		node->prev = room->first;
		room->first = node;
		if (!room->last)
			room->last = node;
	}
	return 0;
}

static void
lottery_sums_publish(struct lottery_pool *pool, struct lottery_room *room)
{
	if (!room->last)
		return;

	room->last->prev = pool->spare;
	pool->spare = room->first;
	room->first = NULL;
	room->last = NULL;
}

static void lottery_sums_withdraw(struct lottery_pool *pool, struct lottery_room *room,
				  unsigned int from, unsigned int to)
{
	unsigned int nodes = lottery_sums_nodes(from) - lottery_sums_nodes(to);
	struct lottery_node *node;

	/* A leaf that stays although it is empty. */
	if (pool->levels && pool->next == pool->begin)
		lottery_sums_shrink(pool);
	while (nodes--) {
		node = lottery_sums_take(pool);
		node->prev = room->first;
		room->first = node;
	}
}

const struct lottery_pool_ops lottery_pool_sums = {
	.name		= "sums",
	.room		= LOTTERY_FANOUT,
	.init		= lottery_sums_init,
	.insert		= lottery_sums_insert,
	.remove		= lottery_sums_remove,
	.reweight	= lottery_sums_reweight,
	.draw		= lottery_sums_draw,
	.prepare	= lottery_sums_prepare,
	.publish	= lottery_sums_publish,
	.withdraw	= lottery_sums_withdraw,
	.discard	= lottery_sums_discard,
};

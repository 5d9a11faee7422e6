/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A pool of tickets, for a lottery to draw from.
 *
 * A pool knows entries and their tickets and nothing of scheduling. It takes no lock and
 * reads no clock; its owner serialises every call. Only prepare and discard allocate and
 * free, and they do not touch a pool. A new pool is one file with one struct
 * lottery_pool_ops.
 *
 * Invariants, checked by tests/pool_kunit.c:
 * - tickets is the sum of the tickets of the nr entries that are in;
 * - each winning number in [0, tickets) belongs to exactly one entry, and each entry owns as
 *   many numbers as it has tickets. Which ones is up to the pool, and may change whenever
 *   something changes in the pool;
 * - an entry that is in a pool has at least one ticket.
 */
#ifndef _SCHED_LOTTERY_POOL_H
#define _SCHED_LOTTERY_POOL_H

#include <linux/list.h>
#include <linux/rbtree_types.h>
#include <linux/types.h>

struct lottery_entry;
struct lottery_node;

/* Places of a node of the sums pool; so many sums are one cache line. */
#define LOTTERY_FANOUT	8

/* What a place of a node holds: a leaf's an entry, another one's a child. */
union lottery_place {
	struct lottery_entry *entry;
	struct lottery_node *child;
	u64 size;
};

/**
 * struct lottery_node - a node of the sums pool
 * @sum: leaf: the tickets of each entry. Inner node: the tickets to the left
 *	of each child within this node; U64_MAX if there is no child.
 * @place: the entries or children
 * @up: the node's own sum in its parent, NULL for the root
 * @end: inner node: behind the last sum that is in use
 * @prev: leaf: the leaf to the left; spare node: the next spare one
 */
struct lottery_node {
	u64 sum[LOTTERY_FANOUT];
	union lottery_place place[LOTTERY_FANOUT];
	u64 *up;
	u64 *end;
	struct lottery_node *prev;
} __aligned(LOTTERY_FANOUT * sizeof(u64));

/**
 * struct lottery_pool - the entries that take part in a draw
 * @tickets: sum over the entries; at most 2^55 (1000000 each, 64 parts
 *	of each, 100 times that with compensation, 2^22 tasks)
 * @nr: number of entries
 * @levels: sums pool: levels of inner nodes, 0 if there is only a leaf
 * @list: the list pool's entries
 * @tree: the rbtree pool's entries
 * @last: the rbtree pool's rightmost node, NULL if the tree is empty
 * @next: sums pool: where the next entry goes, behind the last one, in the
 *	last leaf
 * @begin: the first sum of the last leaf
 * @end: behind the last sum of the last leaf
 * @root: the only leaf, or the node above all others
 * @spare: nodes that are not in use
 * @leaf: the leftmost leaf, which is there from the beginning
 *
 * What every operation needs is in the first cache line.
 */
struct lottery_pool {
	u64 tickets;
	unsigned int nr;
	unsigned int levels;
	union {
		struct list_head list;
		struct {
			struct rb_root tree;
			struct rb_node *last;
		};
		struct {
			u64 *next;
			u64 *begin;
			u64 *end;
			struct lottery_node *root;
			struct lottery_node *spare;
		};
	};
	struct lottery_node leaf;
};

/**
 * struct lottery_room - memory for more entries of a pool
 * @first: the nodes, linked by their prev
 * @last: the last of them, NULL if there are none
 */
struct lottery_room {
	struct lottery_node *first;
	struct lottery_node *last;
};

/**
 * struct lottery_pool_ops - one kind of pool
 * @name: its name for the boot parameter and /proc/sched_lottery
 * @room: how many entries a pool can take after @init; U32_MAX if any number. The
 *	owner never has more in a pool than there is room for.
 * @init: make @pool empty; tickets and nr are the caller's
 * @insert: put @e in, which is in no pool and whose tickets are set. It cannot fail,
 *	and allocates nothing.
 * @remove: take @e out; it may be inserted again at once
 * @reweight: change the tickets of @e to @tickets, at least one
 * @draw: the entry that owns number @winning, which is below pool->tickets
 * @prepare: allocate what a pool with room for @from entries needs in order to take
 *	@to, on NUMA node @nid. Return 0 or -ENOMEM; then @room is empty. It sleeps, and
 *	is to be called without the owner's lock. NULL if @room is unlimited.
 * @publish: add what has been prepared to @pool; @room is empty then. Constant.
 * @withdraw: take off @pool what it needs for @to to @from entries; it has @to at most.
 *	Linear in the difference. NULL if @room is unlimited.
 * @discard: free what is in @room, prepared and not published, or withdrawn
 */
struct lottery_pool_ops {
	const char *name;
	unsigned int room;
	void (*init)(struct lottery_pool *pool);
	void (*insert)(struct lottery_pool *pool, struct lottery_entry *e);
	void (*remove)(struct lottery_pool *pool, struct lottery_entry *e);
	void (*reweight)(struct lottery_pool *pool, struct lottery_entry *e,
			 u64 tickets);
	struct lottery_entry *(*draw)(const struct lottery_pool *pool,
				      u64 winning);
	int (*prepare)(struct lottery_room *room, unsigned int from,
		       unsigned int to, int nid);
	void (*publish)(struct lottery_pool *pool, struct lottery_room *room);
	void (*withdraw)(struct lottery_pool *pool, struct lottery_room *room,
			 unsigned int from, unsigned int to);
	void (*discard)(struct lottery_room *room);
};

/*
 * The operations of every turn or wakeup are called directly, not through struct
 * lottery_pool_ops; see lottery_pool_insert() and its neighbours.
 */
#define LOTTERY_DECLARE_POOL(_name)					\
	extern const struct lottery_pool_ops lottery_pool_##_name;	\
	void lottery_##_name##_insert(struct lottery_pool *pool,	\
				      struct lottery_entry *e);		\
	void lottery_##_name##_remove(struct lottery_pool *pool,	\
				      struct lottery_entry *e);		\
	void lottery_##_name##_reweight(struct lottery_pool *pool,	\
					struct lottery_entry *e,	\
					u64 tickets);			\
	struct lottery_entry *						\
	lottery_##_name##_draw(const struct lottery_pool *pool, u64 winning)

LOTTERY_DECLARE_POOL(list);
LOTTERY_DECLARE_POOL(rbtree);
LOTTERY_DECLARE_POOL(sums);

#endif /* _SCHED_LOTTERY_POOL_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A pool of tickets: what a lottery is drawn from.
 *
 * A pool knows entries and their tickets and nothing of scheduling. It takes
 * no lock, allocates nothing and reads no clock; its owner serialises every
 * call. A new pool is one file with one struct lottery_pool_ops.
 *
 * Invariants, checked by tests/pool_kunit.c:
 *  - tickets is the sum of the tickets of the nr entries that are in;
 *  - entries are in the order in which they were inserted, so that the same
 *    winning number picks the same entry from every kind of pool;
 *  - each winning number in [0, tickets) belongs to exactly one entry, and
 *    each entry owns as many numbers as it has tickets;
 *  - an entry that is in a pool has at least one ticket.
 */
#ifndef _SCHED_LOTTERY_POOL_H
#define _SCHED_LOTTERY_POOL_H

#include <linux/list.h>
#include <linux/rbtree_types.h>
#include <linux/types.h>

struct lottery_entry;

/**
 * struct lottery_pool - the entries that take part in a draw
 * @tickets: sum over the entries; at most 2^42 (1000000 each, 2^22 tasks)
 * @nr: number of entries
 * @list: the list pool's entries
 * @tree: the rbtree pool's entries
 * @last: the rbtree pool's rightmost node, NULL if the tree is empty
 */
struct lottery_pool {
	u64 tickets;
	unsigned int nr;
	union {
		struct list_head list;
		struct {
			struct rb_root tree;
			struct rb_node *last;
		};
	};
};

/**
 * struct lottery_pool_ops - one kind of pool
 * @name: what the boot parameter and /proc/sched_lottery call it
 * @init: make @pool empty; tickets and nr are the caller's
 * @insert: append @e, which is in no pool and whose tickets are set
 * @remove: take @e out; it may be inserted again at once
 * @reweight: change the tickets of @e to @tickets, at least one
 * @draw: the entry that owns number @winning, which is below pool->tickets
 */
struct lottery_pool_ops {
	const char *name;
	void (*init)(struct lottery_pool *pool);
	void (*insert)(struct lottery_pool *pool, struct lottery_entry *e);
	void (*remove)(struct lottery_pool *pool, struct lottery_entry *e);
	void (*reweight)(struct lottery_pool *pool, struct lottery_entry *e,
			 u64 tickets);
	struct lottery_entry *(*draw)(const struct lottery_pool *pool,
				      u64 winning);
};

/*
 * What is called for every turn or wakeup is called directly, not through
 * struct lottery_pool_ops; see lottery_pool_insert() and its neighbours.
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

#endif /* _SCHED_LOTTERY_POOL_H */

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Check after each operation on a pool, in a kernel for tests, that no ticket is lost or
 * made. The work is bounded by LOTTERY_CHECK for each pool: of one with more entries only
 * their number is checked.
 */

#include <linux/bug.h>
#include <linux/list.h>
#include <linux/mmu_context.h>

#include "class.h"

/* Entries of a pool whose tickets are added up. */
#define LOTTERY_CHECK	64

typedef struct lottery_entry *lottery_draw_fn(const struct lottery_pool *pool, u64 winning);

/* In all pools the numbers that an entry owns follow each other. */
static bool lottery_adds_up(const struct lottery_pool *pool, lottery_draw_fn *draw)
{
	const struct lottery_entry *e;
	u64 sum = 0;
	int nr;

	if (!pool->nr)
		return !pool->tickets;
	if (pool->nr > LOTTERY_CHECK)
		return pool->tickets >= pool->nr;

	for (nr = pool->nr; nr && sum < pool->tickets; nr--) {
		e = draw(pool, sum);
		if (!e->tickets)
			return false;
		sum += e->tickets;
	}
	return !nr && sum == pool->tickets;
}

/* Warn if the pools of a CPU are inconsistent; its rq is locked, between two operations. */
void __lottery_check(struct rq *rq)
{
	const struct lottery_rq *lrq = &rq->lottery;
	unsigned int inner = 0;
	const struct lottery_crq *crq;

	lockdep_assert_rq_held(rq);

	WARN_ON_ONCE(!lottery_adds_up(&lrq->pool, lottery_pool_ops->draw));
	list_for_each_entry(crq, &lrq->currencies, on_cpu) {
		WARN_ON_ONCE(!crq->pool.nr || !crq->owned || !crq->worth);
		WARN_ON_ONCE(!lottery_adds_up(&crq->pool, lottery_rbtree_draw));
		inner += crq->pool.nr - 1;
	}
	WARN_ON_ONCE(inner != lrq->inner);
}

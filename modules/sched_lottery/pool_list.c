// SPDX-License-Identifier: GPL-2.0-only
/*
 * The list pool: a draw walks from the oldest entry on until the winning
 * number falls into an entry's tickets.
 *
 * Chuang, Jelesnianski and Shin: "Process Scheduling" (2017), who_is_winner.
 */

#include <linux/limits.h>
#include <linux/sched.h>

#include <linux/lottery/pool.h>

static void lottery_list_init(struct lottery_pool *pool)
{
	INIT_LIST_HEAD(&pool->list);
}

void lottery_list_insert(struct lottery_pool *pool, struct lottery_entry *e)
{
	list_add_tail(&e->link, &pool->list);
	pool->tickets += e->tickets;
	pool->nr++;
}

void lottery_list_remove(struct lottery_pool *pool, struct lottery_entry *e)
{
	list_del(&e->link);
	pool->tickets -= e->tickets;
	pool->nr--;
}

void lottery_list_reweight(struct lottery_pool *pool, struct lottery_entry *e,
			   u64 tickets)
{
	pool->tickets += tickets - e->tickets;
	e->tickets = tickets;
}

struct lottery_entry *
lottery_list_draw(const struct lottery_pool *pool, u64 winning)
{
	struct lottery_entry *e;

	list_for_each_entry(e, &pool->list, link) {
		if (winning < e->tickets)
			return e;
		winning -= e->tickets;
	}

	return NULL;
}

const struct lottery_pool_ops lottery_pool_list = {
	.name		= "list",
	.room		= U32_MAX,
	.init		= lottery_list_init,
	.insert		= lottery_list_insert,
	.remove		= lottery_list_remove,
	.reweight	= lottery_list_reweight,
	.draw		= lottery_list_draw,
};

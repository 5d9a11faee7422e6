// SPDX-License-Identifier: GPL-2.0
/* pool.c - a pool with the entries of many tickets in front. Yours. */
#include <linux/sched.h>

#include <linux/lottery/pool.h>

static void mine_init(struct lottery_pool *pool)
{
	INIT_LIST_HEAD(&pool->list);
	pool->tickets = 0;
	pool->nr = 0;
}

void lottery_mine_insert(struct lottery_pool *pool, struct lottery_entry *e)
{
	list_add(&e->link, &pool->list);
	pool->tickets += e->tickets;
	pool->nr++;
}

void lottery_mine_remove(struct lottery_pool *pool, struct lottery_entry *e)
{
	list_del(&e->link);
	pool->tickets -= e->tickets;
	pool->nr--;
}

void lottery_mine_reweight(struct lottery_pool *pool, struct lottery_entry *e, u64 tickets)
{
	e->tickets = tickets;
}

struct lottery_entry *lottery_mine_draw(const struct lottery_pool *pool, u64 winning)
{
	/* yours: the owner of this number */
	(void)winning;
	return list_first_entry_or_null(&pool->list, struct lottery_entry, link);
}

const struct lottery_pool_ops lottery_pool_mine = {
	.name		= "mine",
	.init		= mine_init,
	.insert		= lottery_mine_insert,
	.remove		= lottery_mine_remove,
	.reweight	= lottery_mine_reweight,
	.draw		= lottery_mine_draw,
};

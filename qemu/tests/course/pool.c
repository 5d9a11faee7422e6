// SPDX-License-Identifier: GPL-2.0
/* pool.c - tasks with many tickets are in front: most draws end early. */
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
	struct lottery_entry *before;

	list_for_each_entry(before, &pool->list, link)
		if (before->tickets < e->tickets)
			break;
	list_add_tail(&e->link, &before->link);
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
	lottery_mine_remove(pool, e);
	e->tickets = tickets;
	lottery_mine_insert(pool, e);
}

struct lottery_entry *lottery_mine_draw(const struct lottery_pool *pool, u64 winning)
{
	struct lottery_entry *e;

	list_for_each_entry(e, &pool->list, link) {
		if (winning < e->tickets)
			return e;
		winning -= e->tickets;
	}
	return NULL;
}

const struct lottery_pool_ops lottery_pool_mine = {
	.name		= "mine",
	.init		= mine_init,
	.insert		= lottery_mine_insert,
	.remove		= lottery_mine_remove,
	.reweight	= lottery_mine_reweight,
	.draw		= lottery_mine_draw,
};

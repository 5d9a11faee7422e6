// SPDX-License-Identifier: GPL-2.0-only
/*
 * Chooses the pool that holds the tickets, of those that are built, once for all CPUs,
 * before the first run queue is set up.
 */

#include <linux/cache.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/mmu_context.h>
#include <linux/static_call.h>
#include <linux/string.h>

#include "sched.h"

static const struct lottery_pool_ops *const lottery_pools[] __initconst = {
#ifdef CONFIG_SCHED_LOTTERY_LIST
	&lottery_pool_list,
#endif
#ifdef CONFIG_SCHED_LOTTERY_RBTREE
	&lottery_pool_rbtree,
#endif
#ifdef CONFIG_SCHED_LOTTERY_SUMS
	&lottery_pool_sums,
#endif
};

#if defined(CONFIG_SCHED_LOTTERY_DEFAULT_LIST)
# define LOTTERY_DEFAULT(_op) lottery_list_##_op
# define LOTTERY_DEFAULT_POOL lottery_pool_list
#elif defined(CONFIG_SCHED_LOTTERY_DEFAULT_RBTREE)
# define LOTTERY_DEFAULT(_op) lottery_rbtree_##_op
# define LOTTERY_DEFAULT_POOL lottery_pool_rbtree
#else
# define LOTTERY_DEFAULT(_op) lottery_sums_##_op
# define LOTTERY_DEFAULT_POOL lottery_pool_sums
#endif

const struct lottery_pool_ops *lottery_pool_ops __ro_after_init =
	&LOTTERY_DEFAULT_POOL;

DEFINE_STATIC_CALL(lottery_pool_insert, LOTTERY_DEFAULT(insert));
DEFINE_STATIC_CALL(lottery_pool_remove, LOTTERY_DEFAULT(remove));
DEFINE_STATIC_CALL(lottery_pool_reweight, LOTTERY_DEFAULT(reweight));
DEFINE_STATIC_CALL(lottery_pool_draw, LOTTERY_DEFAULT(draw));

/*
 * Static calls can be changed after static_call_init(), which start_kernel() calls before
 * it parses the command line; no pool has entries yet.
 */
static void __init lottery_pool_choose(const struct lottery_pool_ops *ops)
{
	lottery_pool_ops = ops;
	static_call_update(lottery_pool_insert, ops->insert);
	static_call_update(lottery_pool_remove, ops->remove);
	static_call_update(lottery_pool_reweight, ops->reweight);
	static_call_update(lottery_pool_draw, ops->draw);
}

/* lottery_pool=NAME: parsed by start_kernel() before it calls sched_init(). */
static int __init lottery_pool_setup(char *name)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(lottery_pools); i++) {
		if (!strcmp(name, lottery_pools[i]->name)) {
			lottery_pool_choose(lottery_pools[i]);
			return 1;
		}
	}

	pr_err("lottery_pool=%s: not a pool of this kernel, using %s; there is%s%s%s\n",
	       name, lottery_pool_ops->name,
	       IS_ENABLED(CONFIG_SCHED_LOTTERY_LIST) ? " list" : "",
	       IS_ENABLED(CONFIG_SCHED_LOTTERY_RBTREE) ? " rbtree" : "",
	       IS_ENABLED(CONFIG_SCHED_LOTTERY_SUMS) ? " sums" : "");
	return 1;
}
__setup("lottery_pool=", lottery_pool_setup);

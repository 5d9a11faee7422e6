// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which of the pools that are built holds the tickets. Chosen once, before
 * the first run queue is set up, and the same for all CPUs.
 */

#include <linux/cache.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/mmu_context.h>
#include <linux/string.h>

#include "sched.h"

static const struct lottery_pool_ops *const lottery_pools[] __initconst = {
#ifdef CONFIG_SCHED_LOTTERY_LIST
	&lottery_pool_list,
#endif
#ifdef CONFIG_SCHED_LOTTERY_RBTREE
	&lottery_pool_rbtree,
#endif
};

const struct lottery_pool_ops *lottery_pool_ops __ro_after_init =
	IS_ENABLED(CONFIG_SCHED_LOTTERY_DEFAULT_LIST) ? &lottery_pool_list :
							&lottery_pool_rbtree;

/* lottery_pool=NAME: parsed by start_kernel() before it calls sched_init(). */
static int __init lottery_pool_setup(char *name)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(lottery_pools); i++) {
		if (!strcmp(name, lottery_pools[i]->name)) {
			lottery_pool_ops = lottery_pools[i];
			return 1;
		}
	}

	pr_err("lottery_pool=%s: not a pool of this kernel, using %s; there is%s%s\n",
	       name, lottery_pool_ops->name,
	       IS_ENABLED(CONFIG_SCHED_LOTTERY_LIST) ? " list" : "",
	       IS_ENABLED(CONFIG_SCHED_LOTTERY_RBTREE) ? " rbtree" : "");
	return 1;
}
__setup("lottery_pool=", lottery_pool_setup);

// SPDX-License-Identifier: GPL-2.0-only
/*
 * A cgroup as a currency: cpu.lottery.tickets and cpu.lottery.stat.
 *
 * A cgroup that has never had tickets costs a pointer. One whose tickets are set to 0
 * keeps its currency, without members, for the next time.
 *
 * Locking: lottery_groups_mutex protects @lottery and @lottery_in of the groups, and the
 * backing of their currencies. It is taken below cgroup_mutex, and above the rq locks.
 * Tasks that are queued while @lottery_in changes are queued again; a move between groups
 * queues a task again in any case.
 */

#include <linux/capability.h>
#include <linux/cgroup.h>
#include <linux/cleanup.h>
#include <linux/mmu_context.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/seq_file.h>

#include "class.h"

/* How many cgroups within each other can be currencies. */
#define LOTTERY_DEPTH	8

static DEFINE_MUTEX(lottery_groups_mutex);

static struct task_group *lottery_group(struct cgroup_subsys_state *css)
{
	return container_of(css, struct task_group, css);
}

static bool lottery_is_currency(const struct task_group *tg)
{
	return tg->lottery && tg->lottery->tickets;
}

/* A new cgroup, in no currency of its own yet. */
void lottery_online_group(struct task_group *tg)
{
	guard(mutex)(&lottery_groups_mutex);
	tg->lottery_in = tg->parent->lottery_in;
}

/* A cgroup without tasks, which no task can find any longer. */
void lottery_free_group(struct task_group *tg)
{
	lottery_put_currency(tg->lottery);
}

/* Would more than LOTTERY_DEPTH be within each other, with @top among them? */
static bool lottery_is_too_deep(struct task_group *top)
{
	struct cgroup_subsys_state *css;

	guard(rcu)();
	css_for_each_descendant_pre(css, &top->css) {
		struct task_group *tg = lottery_group(css);
		int depth = 0;

		for (; tg; tg = tg->parent)
			depth += tg == top || lottery_is_currency(tg);
		if (depth > LOTTERY_DEPTH)
			return true;
	}
	return false;
}

static void lottery_requeue_group(struct cgroup_subsys_state *css)
{
	struct css_task_iter it;
	struct task_struct *p;

	css_task_iter_start(css, 0, &it);
	while ((p = css_task_iter_next(&it)))
		lottery_requeue(p);
	css_task_iter_end(&it);
}

/*
 * The pools of the previous currency are emptied before the caller leaves its RCU section:
 * it need not be kept for longer.
 */
static void lottery_set_around(struct lottery_currency *c, struct lottery_currency *around)
{
	struct lottery_currency *was = c->around;

	WRITE_ONCE(c->around, lottery_get_currency(around));
	lottery_put_currency(was);
}

/* @top has become a currency, or ceases to be one. */
static void lottery_update_groups(struct task_group *top)
{
	struct cgroup_subsys_state *css;

	lockdep_assert_held(&lottery_groups_mutex);

	guard(rcu)();
	/* Those above come first. */
	css_for_each_descendant_pre(css, &top->css) {
		struct task_group *tg = lottery_group(css);
		struct lottery_currency *around = tg->parent->lottery_in;

		if (tg->lottery)
			lottery_set_around(tg->lottery, around);
		WRITE_ONCE(tg->lottery_in, lottery_is_currency(tg) ? tg->lottery : around);
	}
	css_for_each_descendant_pre(css, &top->css) {
		lottery_requeue_group(css);
		if (lottery_group(css)->lottery)
			lottery_weigh_everywhere(lottery_group(css)->lottery);
	}
}

static int lottery_begin_currency(struct task_group *tg, unsigned int tickets)
{
	struct lottery_currency *c = tg->lottery;

	if (lottery_is_too_deep(tg))
		return -ENOSPC;
	if (!c) {
		c = lottery_make_currency(tg->parent->lottery_in, 0);
		if (IS_ERR(c))
			return PTR_ERR(c);
		tg->lottery = c;
	}
	WRITE_ONCE(c->inner, c->around);
	WRITE_ONCE(c->tickets, tickets);
	lottery_update_groups(tg);
	return 0;
}

/**
 * lottery_group_write_tickets() - cpu.lottery.tickets is written
 * @css: of the group
 * @cft: unused
 * @tickets: its backing from now on, 0 if it is no currency
 *
 * Return: 0, or -ERANGE for more than LOTTERY_TICKETS_MAX, -EPERM if base tickets are
 * needed and not allowed, -ENOSPC if too many are within each other, -ENOMEM.
 */
int lottery_group_write_tickets(struct cgroup_subsys_state *css, struct cftype *cft,
				u64 tickets)
{
	struct task_group *tg = lottery_group(css);

	if (tickets > LOTTERY_TICKETS_MAX)
		return -ERANGE;

	guard(mutex)(&lottery_groups_mutex);
	if (!tg->parent->lottery_in && !capable(CAP_SYS_NICE))
		return -EPERM;

	if (lottery_is_currency(tg) && tickets) {
		lottery_change_backing(tg->lottery, tickets);
		return 0;
	}
	if (tickets)
		return lottery_begin_currency(tg, tickets);
	if (lottery_is_currency(tg)) {
		WRITE_ONCE(tg->lottery->tickets, 0);
		lottery_update_groups(tg);
	}
	return 0;
}

/* cpu.lottery.tickets is read. */
u64 lottery_group_read_tickets(struct cgroup_subsys_state *css, struct cftype *cft)
{
	struct task_group *tg = lottery_group(css);

	guard(mutex)(&lottery_groups_mutex);
	return tg->lottery ? tg->lottery->tickets : 0;
}

/* cpu.lottery.stat is read. */
int lottery_group_show_stat(struct seq_file *m, void *v)
{
	struct task_group *tg = lottery_group(seq_css(m));
	u64 active = 0, entries = 0, wins = 0;
	int cpu;

	guard(mutex)(&lottery_groups_mutex);
	if (lottery_is_currency(tg)) {
		active = atomic64_read(&tg->lottery->active);
		for_each_possible_cpu(cpu) {
			struct lottery_crq *crq = per_cpu_ptr(tg->lottery->crq, cpu);

			entries += READ_ONCE(crq->pool.nr);
			wins += READ_ONCE(crq->wins);
		}
	}
	seq_printf(m, "active %llu\nentries %llu\nwins %llu\n", active, entries, wins);
	return 0;
}

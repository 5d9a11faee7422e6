// SPDX-License-Identifier: GPL-2.0-only
/*
 * Currencies: tickets that are backed by tickets of another currency.
 *
 * Waldspurger and Weihl 1994, sections 3.3 and 4.4. Tickets within a currency say only how
 * its members share its backing. The outermost currency is the base currency. A cgroup can
 * be a currency, see currency_group.c, and a process, see currency_life.c.
 *
 * On each CPU a currency has a pool of its own, with the tickets of its tasks there, of
 * what they lend to tasks there, and of currencies within it. While that pool is not empty
 * it has one entry in the pool of the currency around it. That entry has the backing of
 * the currency, times the part of its active tickets, on all CPUs, that are on this one.
 * So the value of a currency goes to the members that can use it, wherever they are, and
 * is the same for few and for many. A draw goes from pool to pool until it finds a task or
 * a loan.
 *
 * The tickets that are active elsewhere change without this CPU's lock, so that the parts
 * of the CPUs can be of different moments. Each CPU weighs a currency again when something
 * changes in it here, and LOTTERY_WEIGH of them at each tick.
 *
 * Compensation: a pool that has more tickets than are owned takes part with as many times
 * more.
 *
 * Invariants, checked by tests/currency_kunit.c:
 * - a crq has an entry in the pool around it, and is on the list of the CPU, if and only if
 *   its pool is not empty;
 * - its @owned is the sum of what its entries own, and the @active of a currency is the sum
 *   of that over all CPUs.
 *
 * Locking: a crq is protected by its rq lock, @active is atomic. The work is bounded by
 * the depth of currencies, and logarithmic in their members.
 *
 * A currency stays in memory while @refs is above 0. The currency of a task is looked up
 * without a reference, under RCU or with interrupts off, which is as good. When no task
 * can find the currency any longer, only loans of tasks that have left it are in its
 * pools; they are moved then.
 */

#include <linux/math64.h>
#include <linux/mmu_context.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>

#include "class.h"

/* How many are weighed again at each tick. */
#define LOTTERY_WEIGH	4

DEFINE_STATIC_KEY_FALSE(lottery_currencies);

/*
 * See lottery_currency_of(). A task that has left the cgroup's currency has left this one,
 * and so has one that exits: no walk of the threads of a process may find that.
 */
struct lottery_currency *__lottery_currency_of(const struct task_struct *p)
{
	struct lottery_currency *own = READ_ONCE(p->signal->lottery);
	struct lottery_currency *group = NULL;

#ifdef CONFIG_CGROUP_SCHED
	group = READ_ONCE(READ_ONCE(p->sched_task_group)->lottery_in);
#endif
	return own && own->home == group && !p->lottery.exits ? own : group;
}

static u64 lottery_part(u64 whole, u64 part, u64 of)
{
	return mul_u64_u64_div_u64(whole, part, max(of, part)) ?: 1;
}

/* The backing of @c now. */
static unsigned int lottery_backing(const struct lottery_currency *c)
{
	unsigned int tickets = READ_ONCE(c->tickets);

	if (READ_ONCE(c->inner) && !READ_ONCE(c->around))
		return min(tickets, LOTTERY_TICKETS_OUTSIDE);
	return tickets;
}

static bool lottery_is_attached(const struct lottery_crq *crq)
{
	return !list_empty(&crq->on_cpu);
}

/* @crq owns @more tickets; NULL is the CPU itself, which counts on its own. */
static void lottery_own(struct lottery_crq *crq, s64 more)
{
	if (crq) {
		crq->owned += more;
		atomic64_add(more, &crq->currency->active);
	}
}

static void lottery_insert_within(struct rq *rq, struct lottery_crq *crq,
				  struct lottery_entry *e)
{
	lottery_rbtree_insert(&crq->pool, e);
	if (crq->pool.nr > 1)
		rq->lottery.inner++;
}

static void lottery_remove_within(struct rq *rq, struct lottery_crq *crq,
				  struct lottery_entry *e)
{
	lottery_rbtree_remove(&crq->pool, e);
	if (crq->pool.nr)
		rq->lottery.inner--;
}

static void lottery_attach(struct rq *rq, struct lottery_crq *crq)
{
	struct lottery_currency *around = READ_ONCE(crq->currency->around);

	crq->around = around ? per_cpu_ptr(around->crq, cpu_of(rq)) : NULL;
	crq->worth = 0;
	crq->entry.tickets = 1;
	if (crq->around)
		lottery_insert_within(rq, crq->around, &crq->entry);
	else
		lottery_pool_insert(&rq->lottery.pool, &crq->entry);
	list_add_tail(&crq->on_cpu, &rq->lottery.currencies);
}

static void lottery_detach(struct rq *rq, struct lottery_crq *crq)
{
	if (crq->around)
		lottery_remove_within(rq, crq->around, &crq->entry);
	else
		lottery_pool_remove(&rq->lottery.pool, &crq->entry);
	lottery_own(crq->around, -(s64)crq->worth);
	list_del_init(&crq->on_cpu);
}

/* Compute what @crq takes part with. Returns whether that has changed. */
static bool lottery_reckon(struct rq *rq, struct lottery_crq *crq)
{
	u64 active = atomic64_read(&crq->currency->active);
	u64 backing = lottery_backing(crq->currency);
	u64 worth, parts;

	/* Others may have counted out what is not counted in here yet. */
	active = max(active, crq->owned);
	worth = lottery_part(backing, crq->owned, active);
	parts = mul_u64_u64_div_u64(backing, crq->pool.tickets, active) ?: 1;
	if (worth == crq->worth && parts == crq->entry.tickets)
		return false;

	lottery_own(crq->around, worth - crq->worth);
	crq->worth = worth;
	if (crq->around)
		lottery_rbtree_reweight(&crq->around->pool, &crq->entry, parts);
	else
		lottery_pool_reweight(&rq->lottery.pool, &crq->entry, parts);
	return true;
}

/* Something has changed in @crq, and maybe in all that are around it. */
static void lottery_weigh(struct rq *rq, struct lottery_crq *crq)
{
	struct lottery_crq *around;

	lockdep_assert_rq_held(rq);

	for (; crq; crq = around) {
		around = crq->around;
		if (!crq->pool.nr) {
			lottery_detach(rq, crq);
			continue;
		}
		if (!lottery_is_attached(crq)) {
			lottery_attach(rq, crq);
			around = crq->around;
			lottery_reckon(rq, crq);
		} else if (!lottery_reckon(rq, crq)) {
			break;
		}
	}
}

/* See lottery_put_in(). */
void __lottery_put_in(struct rq *rq, struct lottery_crq *crq, struct lottery_entry *e,
		      unsigned int owned)
{
	lottery_insert_within(rq, crq, e);
	lottery_own(crq, owned);
	lottery_weigh(rq, crq);
}

/* See lottery_take_out(). */
void __lottery_take_out(struct rq *rq, struct lottery_crq *crq,
			struct lottery_entry *e, unsigned int owned)
{
	lottery_remove_within(rq, crq, e);
	lottery_own(crq, -(s64)owned);
	lottery_weigh(rq, crq);
}

/* See lottery_set_parts(). */
void __lottery_set_parts(struct rq *rq, struct lottery_crq *crq,
			 struct lottery_entry *e, u64 parts)
{
	lottery_rbtree_reweight(&crq->pool, e, parts);
	lottery_weigh(rq, crq);
}

/* See lottery_worth(). */
unsigned int __lottery_worth(const struct lottery_crq *crq, unsigned int owned)
{
	u64 worth = owned;

	for (; crq; crq = crq->around)
		worth = lottery_part(crq->worth, worth, crq->owned);
	return worth;
}

/* See lottery_weigh_some(). */
void __lottery_weigh_some(struct rq *rq)
{
	struct list_head *list = &rq->lottery.currencies;
	struct lottery_crq *crq;
	int left = LOTTERY_WEIGH;

	while (left--) {
		crq = list_first_entry(list, struct lottery_crq, on_cpu);
		list_move_tail(&crq->on_cpu, list);
		if (lottery_reckon(rq, crq))
			lottery_weigh(rq, crq->around);
	}
}

/* Its backing, or the place of that, has changed. @rq is locked. */
static void lottery_weigh_again(struct rq *rq, struct lottery_crq *crq)
{
	struct lottery_currency *around = READ_ONCE(crq->currency->around);
	struct lottery_crq *was = crq->around;

	lockdep_assert_rq_held(rq);

	if (!lottery_is_attached(crq))
		return;
	if ((was ? was->currency : NULL) != around) {
		lottery_detach(rq, crq);
		lottery_weigh(rq, was);
		lottery_attach(rq, crq);
	}
	if (lottery_reckon(rq, crq))
		lottery_weigh(rq, crq->around);
}

/* The backing of a currency, or the place of that, has changed. */
void lottery_weigh_everywhere(struct lottery_currency *c)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct rq *rq = cpu_rq(cpu);

		guard(rq_lock_irqsave)(rq);
		lottery_weigh_again(rq, per_cpu_ptr(c->crq, cpu));
	}
}

/* Back a currency with another number of tickets, at least 1; callers are serialised. */
void lottery_change_backing(struct lottery_currency *c, unsigned int tickets)
{
	WRITE_ONCE(c->inner, c->around);
	WRITE_ONCE(c->tickets, tickets);
	lottery_weigh_everywhere(c);
}

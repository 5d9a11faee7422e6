// SPDX-License-Identifier: GPL-2.0-only
/*
 * Check in a kernel for tests that no ticket is lost or made.
 *
 * After each operation on a pool its tickets are added up. The work is bounded by
 * LOTTERY_CHECK for each pool: of one with more entries only their number is checked.
 *
 * When /proc/sched_lottery is read, all run queues are locked, and the tasks of the machine
 * are compared with the pools: each queued task and each loan in a pool is counted there
 * once, and each other loan has a reason to be elsewhere that is still true.
 */

#include <linux/bug.h>
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/mmu_context.h>
#include <linux/percpu.h>
#include <linux/sched/signal.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include "loan.h"

/* Entries of a pool whose tickets are added up. */
#define LOTTERY_CHECK	64
/* Time between two checks of the machine [jiffies], at least: some readers poll. */
#define LOTTERY_CHECK_EVERY	HZ

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

/* What tasks and loans have in the pools of a CPU. */
struct lottery_found {
	u64 owned;
	unsigned int tasks;
	unsigned int loans;
};

static DEFINE_PER_CPU(struct lottery_found, lottery_found);

/* Can a task use @loan? Unknown while a task of its chain is locked. */
static bool lottery_is_of_use(struct lottery_loan *loan)
{
	struct task_struct *borrower;
	enum lottery_whereabouts place;

	if (lottery_has_expired(loan))
		return false;
	place = lottery_find_borrower(loan, &borrower);
	return (place == LOTTERY_HERE || place == LOTTERY_ASLEEP) &&
	       READ_ONCE(borrower->__state) != TASK_DEAD;
}

static void lottery_check_loan(struct lottery_loan *loan)
{
	switch (loan->state) {
	case LOTTERY_LOAN_AT_REST:
		WARN_ON_ONCE(loan->active && lottery_is_of_use(loan));
		break;
	case LOTTERY_LOAN_RECALL:
		break;
	default:
		WARN_ON_ONCE(!loan->active || list_empty(&loan->link));
		break;
	}
	WARN_ON_ONCE(loan->active && task_on_rq_queued(loan->lender));
}

static void lottery_check_task(struct task_struct *p)
{
	struct lottery_found *found = per_cpu_ptr(&lottery_found, task_cpu(p));
	struct lottery_loan *loan;

	if (task_on_lottery(p) && task_on_rq_queued(p)) {
		found->tasks++;
		found->owned += p->lottery.counted;
	}
	lottery_check_loan(&p->lottery.loan);
	list_for_each_entry(loan, &p->lottery.loans, own)
		lottery_check_loan(loan);
	/* Waking up takes them off its list. */
	WARN_ON_ONCE(!list_empty(&p->lottery.parked) && task_on_rq_queued(p) &&
		     !lottery_is_asleep(p));
}

static void lottery_count_loans(const struct list_head *list, struct lottery_found *found)
{
	const struct lottery_loan *loan;

	list_for_each_entry(loan, list, link) {
		if (loan->state == LOTTERY_LOAN_POOL || loan->state == LOTTERY_LOAN_RECALL) {
			found->loans++;
			found->owned += loan->counted;
		}
	}
}

/* A thread that has left the list of its process while it exits may still be queued. */
static void lottery_check_cpu(struct rq *rq, struct lottery_found *found)
{
	struct lottery_rq *lrq = &rq->lottery;

	lottery_count_loans(&lrq->lent, found);
	lottery_count_loans(&lrq->mail, found);
	WARN_ON_ONCE(lottery_entries(lrq) != lrq->nr + found->loans);
	WARN_ON_ONCE(found->tasks > lrq->nr);
	WARN_ON_ONCE(found->tasks == lrq->nr && found->owned != lrq->owned);
	WARN_ON_ONCE((!list_empty(&lrq->later) || lrq->paced) &&
		     !hrtimer_active(&lrq->retry));
}

static void lottery_check_locked(void)
{
	struct task_struct *g, *p;
	int cpu;

	guard(rcu)();
	for_each_possible_cpu(cpu)
		memset(per_cpu_ptr(&lottery_found, cpu), 0, sizeof(struct lottery_found));
	for_each_process_thread(g, p)
		lottery_check_task(p);
	for_each_possible_cpu(cpu)
		lottery_check_cpu(cpu_rq(cpu), per_cpu_ptr(&lottery_found, cpu));
}

/*
 * Warn if the tickets of the tasks of this machine are not those in its pools. Siblings of
 * a core may share the lock of one of them; all locks of their own are taken.
 */
void lottery_check_machine(void)
{
	static unsigned long last = INITIAL_JIFFIES;
	unsigned long flags;
	int cpu;

	if (time_before(jiffies, READ_ONCE(last) + LOTTERY_CHECK_EVERY) ||
	    nr_cpu_ids > MAX_LOCKDEP_SUBCLASSES)
		return;
	WRITE_ONCE(last, jiffies);

	local_irq_save(flags);
	for_each_possible_cpu(cpu) {
		raw_spin_lock_nested(&cpu_rq(cpu)->__lock, cpu);
		/* For sparse, which counts no locks of a loop. */
		__release(&cpu_rq(cpu)->__lock);
	}
	raw_spin_lock(&lottery_loans_lock);
	lottery_check_locked();
	raw_spin_unlock(&lottery_loans_lock);
	for_each_possible_cpu(cpu) {
		__acquire(&cpu_rq(cpu)->__lock);
		raw_spin_unlock(&cpu_rq(cpu)->__lock);
	}
	local_irq_restore(flags);
}

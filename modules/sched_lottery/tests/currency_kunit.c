// SPDX-License-Identifier: GPL-2.0-only
/* Currencies on a run queue that no CPU has. */

#include <kunit/test.h>
#include <linux/mmu_context.h>
#include <linux/prandom.h>
#include <linux/sched/signal.h>

#include "lottery/loan.h"

#define CURRENCIES	3
#define TASKS		12
#define STEPS		4000
#define DRAWS		20000
#define SIGMAS		5
#define SEED		0x10773

struct currency_fixture {
	struct rq *rq;
	struct lottery_currency *c[CURRENCIES];
	struct signal_struct *signal[CURRENCIES + 1];
	struct task_struct *task[TASKS];
};

/* The currency of each task: C is within B, A and B in the base currency, as some tasks are. */
static const int where[TASKS] = { 0, 0, 0, 1, 1, 2, 2, 2, 2, 3, 3, 3 };
static const unsigned int backing[CURRENCIES] = { 100, 50, 30 };

static struct lottery_crq *crq_of(struct currency_fixture *f, int i)
{
	return per_cpu_ptr(f->c[i]->crq, 0);
}

static void currency_enqueue(struct rq *rq, struct task_struct *p)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&rq->__lock, flags);
	p->on_rq = TASK_ON_RQ_QUEUED;
	lottery_sched_class.enqueue_task(rq, p, 0);
	raw_spin_unlock_irqrestore(&rq->__lock, flags);
}

static void currency_dequeue(struct rq *rq, struct task_struct *p)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&rq->__lock, flags);
	p->on_rq = 0;
	lottery_sched_class.dequeue_task(rq, p, 0);
	raw_spin_unlock_irqrestore(&rq->__lock, flags);
}

static void currency_weigh(struct rq *rq)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&rq->__lock, flags);
	lottery_weigh_some(rq);
	raw_spin_unlock_irqrestore(&rq->__lock, flags);
}

static struct task_struct *currency_task(struct kunit *test, struct signal_struct *signal)
{
	struct task_struct *p = kunit_kzalloc(test, sizeof(*p), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, p);
	p->sched_class = &lottery_sched_class;
	p->static_prio = NICE_TO_PRIO(0);
	p->nr_cpus_allowed = 1;
	p->signal = signal;
#ifdef CONFIG_CGROUP_SCHED
	p->sched_task_group = &root_task_group;
#endif
	p->lottery.tickets = 100;
	raw_spin_lock_init(&p->pi_lock);
	init_lottery_task(p);
	return p;
}

static void currency_exit(struct kunit *test)
{
	struct currency_fixture *f = test->priv;
	int i;

	for (i = 0; f && i < TASKS; i++)
		if (f->task[i] && f->task[i]->on_rq)
			currency_dequeue(f->rq, f->task[i]);
	for (i = CURRENCIES; f && i--;)
		lottery_put_currency(f->c[i]);
	if (f && f->rq)
		hrtimer_cancel(&f->rq->lottery.retry);
	lottery_unreserve();
}

static int currency_init(struct kunit *test)
{
	struct currency_fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);
	struct task_struct *other;
	int i;

	KUNIT_ASSERT_EQ(test, lottery_reserve(), 0);
	KUNIT_ASSERT_NOT_NULL(test, f);
	test->priv = f;
	for (i = 0; i <= CURRENCIES; i++) {
		f->signal[i] = kunit_kzalloc(test, sizeof(*f->signal[i]), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, f->signal[i]);
		if (i == CURRENCIES)
			break;
		f->c[i] = lottery_make_currency(i == 2 ? f->c[1] : NULL, backing[i]);
		KUNIT_ASSERT_FALSE(test, IS_ERR(f->c[i]));
		f->signal[i]->lottery = f->c[i];
	}

	f->rq = kunit_kzalloc(test, sizeof(*f->rq), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, f->rq);
	raw_spin_lock_init(&f->rq->__lock);
	f->rq->clock_update_flags = RQCF_UPDATED | RQCF_ACT_SKIP;
	init_lottery_rq(&f->rq->lottery);
	for (i = 0; i < TASKS; i++)
		f->task[i] = currency_task(test, f->signal[where[i]]);
	/* The running task is of another class: nothing is accounted. */
	other = currency_task(test, f->signal[CURRENCIES]);
	other->sched_class = &fair_sched_class;
	rcu_assign_pointer(f->rq->curr, other);
#ifdef CONFIG_SMP
	f->rq->rd = kunit_kzalloc(test, sizeof(*f->rq->rd), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, f->rq->rd);
#endif
	return 0;
}

/* The expected tickets, and parts of them, in the pool of currency @i, or of the CPU. */
static void currency_sum(struct currency_fixture *f, int i, u64 *owned, u64 *parts)
{
	int k;

	*owned = 0;
	*parts = 0;
	for (k = 0; k < TASKS; k++) {
		if (where[k] != i || !f->task[k]->on_rq)
			continue;
		*owned += f->task[k]->lottery.owned;
		*parts += f->task[k]->lottery.entry.tickets;
	}
	for (k = 0; k < CURRENCIES; k++) {
		if ((k == 2 ? 1 : CURRENCIES) != i || !crq_of(f, k)->pool.nr)
			continue;
		*owned += crq_of(f, k)->worth;
		*parts += crq_of(f, k)->entry.tickets;
	}
}

static void currency_adds_up(struct kunit *test, struct currency_fixture *f)
{
	struct lottery_rq *lrq = &f->rq->lottery;
	u64 owned, parts;
	int i;

	for (i = 0; i < CURRENCIES; i++) {
		struct lottery_crq *crq = crq_of(f, i);

		currency_sum(f, i, &owned, &parts);
		KUNIT_ASSERT_EQ(test, crq->owned, owned);
		KUNIT_ASSERT_EQ(test, crq->pool.tickets, parts);
		KUNIT_ASSERT_EQ(test, atomic64_read(&f->c[i]->active), owned);
		KUNIT_ASSERT_EQ(test, list_empty(&crq->on_cpu), !crq->pool.nr);
		if (!crq->pool.nr)
			continue;
		/* All that is active is here, so all of the value is. */
		KUNIT_ASSERT_EQ(test, crq->worth, f->c[i]->tickets);
		KUNIT_ASSERT_EQ(test, crq->entry.tickets,
				div64_u64(f->c[i]->tickets * parts, owned));
	}
	currency_sum(f, CURRENCIES, &owned, &parts);
	KUNIT_ASSERT_EQ(test, lrq->pool.tickets, parts);
}

static void currency_conserves(struct kunit *test)
{
	struct currency_fixture *f = test->priv;
	struct rnd_state rnd;
	int step, nr;

	prandom_seed_state(&rnd, SEED);
	for (step = 0; step < STEPS; step++) {
		struct task_struct *p = f->task[prandom_u32_state(&rnd) % TASKS];

		if (p->on_rq) {
			currency_dequeue(f->rq, p);
		} else {
			p->lottery.tickets = 1 + prandom_u32_state(&rnd) % 1000;
			/* Some are to be compensated. */
			p->lottery.used = step % 3 ? 0 : LOTTERY_QUANTUM_DEFAULT / 4;
			currency_enqueue(f->rq, p);
		}
		currency_adds_up(test, f);
	}
	for (nr = 0; nr < TASKS; nr++)
		if (f->task[nr]->on_rq)
			currency_dequeue(f->rq, f->task[nr]);
	currency_adds_up(test, f);
	KUNIT_EXPECT_EQ(test, f->rq->lottery.pool.tickets, 0);
	KUNIT_EXPECT_EQ(test, f->rq->lottery.owned, 0);
}

/* A has 100 for 3, B 50 for 2 of 100 and C, that is 30 of them, and 3 have 100 each. */
static void currency_is_drawn(struct kunit *test)
{
	static const int due[TASKS] = {
		[0] = 100 * 1000 / 3 / 450,
		[3] = 50 * 1000 * 100 / 230 / 450,
		[5] = 50 * 1000 * 30 / 230 / 4 / 450,
		[9] = 100 * 1000 / 450,
	};
	struct currency_fixture *f = test->priv;
	unsigned long flags;
	int won[TASKS] = { }, i, draw;

	for (i = 0; i < TASKS; i++)
		currency_enqueue(f->rq, f->task[i]);
	for (draw = 0; draw < DRAWS; draw++) {
		struct task_struct *p;

		raw_spin_lock_irqsave(&f->rq->__lock, flags);
		f->rq->lottery.holder = NULL;
		p = lottery_pick(f->rq);
		raw_spin_unlock_irqrestore(&f->rq->__lock, flags);
		for (i = 0; i < TASKS; i++)
			won[i] += f->task[i] == p;
	}
	for (i = 0; i < TASKS; i++) {
		s64 wanted = (s64)DRAWS * due[i] / 1000, off = won[i] - wanted;

		if (!due[i])
			continue;
		/* The variance of a binomial is no more than its mean; and due is rounded. */
		KUNIT_EXPECT_LE_MSG(test, off * off, SIGMAS * SIGMAS * (wanted + 2 * DRAWS / 1000),
				    "task %d won %d, wanted %lld", i, won[i], wanted);
	}
	KUNIT_EXPECT_GT(test, crq_of(f, 2)->wins, 0);
	KUNIT_EXPECT_GT(test, crq_of(f, 1)->wins, crq_of(f, 2)->wins);
}

static void currency_is_backed_anew(struct kunit *test)
{
	struct currency_fixture *f = test->priv;

	currency_enqueue(f->rq, f->task[5]);
	KUNIT_EXPECT_EQ(test, f->task[5]->lottery.counted, 50);
	/* As another CPU would: here it is seen at a tick. */
	f->c[1]->tickets = 500;
	currency_weigh(f->rq);
	KUNIT_EXPECT_EQ(test, crq_of(f, 1)->worth, 500);
	KUNIT_EXPECT_EQ(test, lottery_worth(crq_of(f, 2), 100), 500);
	/* Half of C is active on another CPU, and as much of B by that. */
	atomic64_add(100, &f->c[2]->active);
	currency_weigh(f->rq);
	KUNIT_EXPECT_EQ(test, crq_of(f, 2)->worth, 15);
	KUNIT_EXPECT_EQ(test, crq_of(f, 2)->entry.tickets, 15 << LOTTERY_PART_SHIFT);
	atomic64_sub(100, &f->c[2]->active);
	currency_dequeue(f->rq, f->task[5]);
	currency_adds_up(test, f);
}

/* No number of tickets is worth nothing, however small or large the others are. */
static void currency_of_little_value(struct kunit *test)
{
	struct currency_fixture *f = test->priv;
	int i;

	f->c[2]->tickets = 1;
	f->task[5]->lottery.tickets = 1;
	for (i = 6; i < 9; i++)
		f->task[i]->lottery.tickets = LOTTERY_TICKETS_MAX;
	f->task[3]->lottery.tickets = LOTTERY_TICKETS_MAX;
	f->task[6]->lottery.used = 1;
	for (i = 3; i < 9; i++)
		currency_enqueue(f->rq, f->task[i]);
	KUNIT_EXPECT_GE(test, f->task[5]->lottery.counted, 1);
	KUNIT_EXPECT_GE(test, crq_of(f, 2)->entry.tickets, 1);
	KUNIT_EXPECT_LE(test, crq_of(f, 2)->entry.tickets,
			(LOTTERY_COMPENSATION_MAX + 1) << LOTTERY_PART_SHIFT);
	KUNIT_EXPECT_EQ(test, crq_of(f, 1)->worth, 50);
}

static void currency_inside_and_outside(struct kunit *test)
{
	struct currency_fixture *f = test->priv;
	struct task_struct *p = f->task[0];

	p->lottery.inner = true;
	p->lottery.tickets = LOTTERY_TICKETS_MAX;
	KUNIT_EXPECT_EQ(test, lottery_task_tickets(p), LOTTERY_TICKETS_MAX);
	p->signal = f->signal[CURRENCIES];
	KUNIT_EXPECT_EQ(test, lottery_task_tickets(p), 1024);
	p->lottery.tickets = 7;
	KUNIT_EXPECT_EQ(test, lottery_task_tickets(p), 7);
	p->lottery.inner = false;
	p->lottery.tickets = LOTTERY_TICKETS_MAX;
	KUNIT_EXPECT_EQ(test, lottery_task_tickets(p), LOTTERY_TICKETS_MAX);
}

/* A loan is left behind in a currency that has no member: it leaves that. */
static void currency_evicts_loans(struct kunit *test)
{
	struct currency_fixture *f = test->priv;
	struct task_struct *lender = f->task[0], *borrower = f->task[TASKS - 1];
	struct lottery_loan *loan = kunit_kzalloc(test, sizeof(*loan), GFP_KERNEL);
	struct pid *pid = kunit_kzalloc(test, sizeof(*pid), GFP_KERNEL);
	struct lottery_pool *pool = &crq_of(f, where[0])->pool;
	unsigned long flags;

	KUNIT_ASSERT_NOT_NULL(test, loan);
	KUNIT_ASSERT_NOT_NULL(test, pid);
	hlist_add_head_rcu(&borrower->pid_links[PIDTYPE_PID], &pid->tasks[PIDTYPE_PID]);
	currency_enqueue(f->rq, borrower);
	init_lottery_loan(loan, lender);
	loan->to = borrower;
	loan->pid = pid;
	list_add_tail(&loan->own, &lender->lottery.loans);
	raw_spin_lock_irqsave(&f->rq->__lock, flags);
	lottery_lend(f->rq, lender);
	KUNIT_EXPECT_EQ(test, pool->nr, 1);
	lottery_evict_loans(f->rq, pool);
	KUNIT_EXPECT_EQ(test, pool->nr, 0);
	KUNIT_EXPECT_EQ(test, loan->state, LOTTERY_LOAN_LATER);
	lottery_take_back(f->rq, lender);
	raw_spin_unlock_irqrestore(&f->rq->__lock, flags);
}

/* A thread that exits is not found by a walk: it is in the currency of its process no more. */
static void currency_is_left_at_exit(struct kunit *test)
{
	struct currency_fixture *f = test->priv;
	struct task_struct *p = f->task[0];

	rcu_read_lock();
	KUNIT_EXPECT_PTR_EQ(test, lottery_currency_of(p), f->c[where[0]]);
	p->lottery.exits = true;
	KUNIT_EXPECT_NULL(test, lottery_currency_of(p));
	rcu_read_unlock();
}

static struct kunit_case currency_cases[] = {
	KUNIT_CASE(currency_conserves),
	KUNIT_CASE(currency_is_drawn),
	KUNIT_CASE(currency_is_backed_anew),
	KUNIT_CASE(currency_of_little_value),
	KUNIT_CASE(currency_inside_and_outside),
	KUNIT_CASE(currency_evicts_loans),
	KUNIT_CASE(currency_is_left_at_exit),
	{}
};

static struct kunit_suite lottery_currency_suite = {
	.name		= "lottery_currency",
	.init		= currency_init,
	.exit		= currency_exit,
	.test_cases	= currency_cases,
};

kunit_test_suite(lottery_currency_suite);

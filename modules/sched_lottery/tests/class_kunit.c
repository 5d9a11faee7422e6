// SPDX-License-Identifier: GPL-2.0-only
/* The holder of the turn and its time, on a run queue that no CPU has. */

#include <kunit/test.h>
#include <linux/mmu_context.h>

#include <linux/lottery/mutex.h>

#include "../locking/rtmutex_common.h"
#include "lottery/loan.h"

/* Two tasks: one is queued, the other has blocked but is still on its CPU. */
struct class_fixture {
	struct rq *rq;
	struct task_struct *queued;
	struct task_struct *blocked;
};

static void class_enqueue(struct rq *rq, struct task_struct *p, int flags)
{
	unsigned long irqs;

	raw_spin_lock_irqsave(&rq->__lock, irqs);
	p->on_rq = TASK_ON_RQ_QUEUED;
	lottery_sched_class.enqueue_task(rq, p, flags);
	raw_spin_unlock_irqrestore(&rq->__lock, irqs);
}

static void class_dequeue(struct rq *rq, struct task_struct *p, int flags)
{
	unsigned long irqs;

	raw_spin_lock_irqsave(&rq->__lock, irqs);
	lottery_sched_class.dequeue_task(rq, p, flags);
	raw_spin_unlock_irqrestore(&rq->__lock, irqs);
}

static struct task_struct *class_task(struct kunit *test, unsigned int tickets)
{
	struct task_struct *p = kunit_kzalloc(test, sizeof(*p), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, p);
	p->sched_class = &lottery_sched_class;
	p->nr_cpus_allowed = 1;
	p->signal = current->signal;
#ifdef CONFIG_CGROUP_SCHED
	p->sched_task_group = &root_task_group;
#endif
	p->lottery.tickets = tickets;
	raw_spin_lock_init(&p->pi_lock);
	init_lottery_task(p);
	p->thread_pid = kunit_kzalloc(test, sizeof(*p->thread_pid), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, p->thread_pid);
	hlist_add_head_rcu(&p->pid_links[PIDTYPE_PID], &p->thread_pid->tasks[PIDTYPE_PID]);
	return p;
}

static void class_exit(struct kunit *test)
{
	struct class_fixture *f = test->priv;

	if (f)
		hrtimer_cancel(&f->rq->lottery.retry);
	lottery_unreserve();
}

static int class_init(struct kunit *test)
{
	struct class_fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);
	struct task_struct *other;

	KUNIT_ASSERT_NOT_NULL(test, f);
	/* There is room to lend as soon as a task has a place. */
	KUNIT_ASSERT_EQ(test, lottery_reserve(), 0);
	f->rq = kunit_kzalloc(test, sizeof(*f->rq), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, f->rq);
	f->queued = class_task(test, 1);
	f->blocked = class_task(test, 1);
	/* The running task is of another class: nothing is accounted. */
	other = class_task(test, 1);
	other->sched_class = &fair_sched_class;
	rcu_assign_pointer(f->rq->curr, other);
#ifdef CONFIG_SMP
	f->rq->rd = kunit_kzalloc(test, sizeof(*f->rq->rd), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, f->rq->rd);
#endif

	raw_spin_lock_init(&f->rq->__lock);
	/* The clock stands still. */
	f->rq->clock_update_flags = RQCF_UPDATED | RQCF_ACT_SKIP;
	init_lottery_rq(&f->rq->lottery);
	class_enqueue(f->rq, f->queued, 0);
	test->priv = f;
	return 0;
}

static void class_set_next(struct rq *rq, struct task_struct *p, bool first)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&rq->__lock, flags);
	lottery_sched_class.set_next_task(rq, p, first);
	raw_spin_unlock_irqrestore(&rq->__lock, flags);
}

static struct task_struct *class_pick(struct rq *rq)
{
	struct task_struct *p;
	unsigned long flags;

	raw_spin_lock_irqsave(&rq->__lock, flags);
	p = lottery_pick(rq);
	raw_spin_unlock_irqrestore(&rq->__lock, flags);
	return p;
}

static void class_running_holds(struct kunit *test)
{
	struct class_fixture *f = test->priv;

	class_set_next(f->rq, f->queued, true);
	KUNIT_EXPECT_PTR_EQ(test, f->rq->lottery.holder, f->queued);
	KUNIT_EXPECT_EQ(test, f->queued->lottery.turn_left, LOTTERY_QUANTUM_DEFAULT);
	KUNIT_EXPECT_PTR_EQ(test, class_pick(f->rq), f->queued);
}

/*
 * What __sched_setscheduler() does to a task that blocked, if it comes while
 * lottery_balance() has dropped the lock before the next pick.
 */
static void class_blocked_holds_not(struct kunit *test)
{
	struct class_fixture *f = test->priv;

	class_set_next(f->rq, f->blocked, false);
	KUNIT_EXPECT_NULL(test, f->rq->lottery.holder);
	KUNIT_EXPECT_PTR_EQ(test, class_pick(f->rq), f->queued);
}

/* What sched_tick_remote() does, if it comes at that moment. */
static void class_blocked_is_not_ticked(struct kunit *test)
{
	struct class_fixture *f = test->priv;
	unsigned long flags;

	class_dequeue(f->rq, f->queued, DEQUEUE_SLEEP);
	f->queued->on_rq = 0;
	f->queued->lottery.turn_left = 0;
	raw_spin_lock_irqsave(&f->rq->__lock, flags);
	lottery_sched_class.task_tick(f->rq, f->queued, 1);
	raw_spin_unlock_irqrestore(&f->rq->__lock, flags);
	KUNIT_EXPECT_NULL(test, f->rq->lottery.holder);
}

static void class_yielder_holds_not(struct kunit *test)
{
	struct class_fixture *f = test->priv;
	unsigned long flags;

	class_set_next(f->rq, f->queued, true);
	rcu_assign_pointer(f->rq->curr, f->queued);
	raw_spin_lock_irqsave(&f->rq->__lock, flags);
	lottery_sched_class.yield_task(f->rq);
	raw_spin_unlock_irqrestore(&f->rq->__lock, flags);
	KUNIT_EXPECT_NULL(test, f->rq->lottery.holder);
}

/* A task that changes its own mask or tickets has no more time than before. */
static void class_own_change_keeps_turn(struct kunit *test)
{
	struct class_fixture *f = test->priv;

	class_pick(f->rq);
	f->queued->lottery.turn_left = LOTTERY_QUANTUM_DEFAULT - 1;
	class_dequeue(f->rq, f->queued, DEQUEUE_SAVE);
	KUNIT_EXPECT_NULL(test, f->rq->lottery.holder);
	class_enqueue(f->rq, f->queued, ENQUEUE_RESTORE);
	class_set_next(f->rq, f->queued, false);
	KUNIT_EXPECT_PTR_EQ(test, f->rq->lottery.holder, f->queued);
	KUNIT_EXPECT_EQ(test, f->queued->lottery.turn_left, LOTTERY_QUANTUM_DEFAULT - 1);
}

/* One that leaves the class and comes back later has no turn. */
static void class_left_has_no_turn(struct kunit *test)
{
	struct class_fixture *f = test->priv;

	class_pick(f->rq);
	class_dequeue(f->rq, f->queued, DEQUEUE_SAVE);
	lottery_sched_class.switched_from(f->rq, f->queued);
	class_enqueue(f->rq, f->queued, ENQUEUE_RESTORE);
	KUNIT_EXPECT_NULL(test, f->rq->lottery.holder);
}

/* A task that runs already as it joins the class is given no turn for that. */
static void class_newcomer_has_no_turn(struct kunit *test)
{
	struct class_fixture *f = test->priv;

	class_set_next(f->rq, f->queued, false);
	KUNIT_EXPECT_EQ(test, f->queued->lottery.turn_left, 0);
	KUNIT_EXPECT_TRUE(test, lottery_turn_over(f->queued));
}

/* No task runs between two picks: they pick the same, however short the quantum. */
static void class_picks_twice(struct kunit *test)
{
	struct class_fixture *f = test->priv;
	struct task_struct *first;
	int i;

	f->queued->lottery.quantum = LOTTERY_QUANTUM_MIN;
	f->blocked->lottery.quantum = LOTTERY_QUANTUM_MIN;
	class_enqueue(f->rq, f->blocked, 0);
	first = class_pick(f->rq);
	for (i = 0; i < 100; i++)
		KUNIT_ASSERT_PTR_EQ(test, class_pick(f->rq), first);
	KUNIT_EXPECT_EQ(test, f->rq->lottery.lotteries, 1);

	/* Ticks that a real-time task hides end no turn: the next pick does. */
	first->lottery.turn_left = 0;
	class_pick(f->rq);
	KUNIT_EXPECT_EQ(test, f->rq->lottery.lotteries, 2);
}

/* Fair tasks that wait have a tick after LOTTERY_FAIR_PART ticks of the class. */
static void class_fair_tasks_have_turns(struct kunit *test)
{
	struct class_fixture *f = test->priv;
	struct lottery_rq *lrq = &f->rq->lottery;

	f->rq->cfs.h_nr_runnable = 1;
	KUNIT_EXPECT_NULL(test, class_pick(f->rq));
	KUNIT_EXPECT_NULL(test, class_pick(f->rq));
	f->rq->clock_task += TICK_NSEC;
	f->rq->cfs.h_nr_runnable = 0;
	KUNIT_EXPECT_PTR_EQ(test, class_pick(f->rq), f->queued);
	KUNIT_EXPECT_EQ(test, lrq->fair_wait, LOTTERY_FAIR_PART * TICK_NSEC);

	f->rq->cfs.h_nr_runnable = 1;
	lrq->holder = NULL;
	lottery_fair_waits(lrq, LOTTERY_FAIR_PART * TICK_NSEC - 1);
	KUNIT_EXPECT_PTR_EQ(test, class_pick(f->rq), f->queued);
	lottery_fair_waits(lrq, 2);
	KUNIT_EXPECT_PTR_EQ(test, class_pick(f->rq), f->queued);
	lrq->holder = NULL;
	KUNIT_EXPECT_NULL(test, class_pick(f->rq));
}

static void class_turns_end_at_the_nearest_tick(struct kunit *test)
{
	static const struct {
		s64 quantum;
		s64 left;
		bool over;
	} cases[] = {
		{ TICK_NSEC, TICK_NSEC, false },
		{ TICK_NSEC, TICK_NSEC / 2 + 1, false },
		{ TICK_NSEC, TICK_NSEC / 2, true },
		{ TICK_NSEC, 0, true },
		{ TICK_NSEC, -TICK_NSEC, true },
		{ 5 * TICK_NSEC, TICK_NSEC, false },
		{ 5 * TICK_NSEC, TICK_NSEC / 3, true },
		{ LOTTERY_QUANTUM_MIN, LOTTERY_QUANTUM_MIN, false },
		{ LOTTERY_QUANTUM_MIN, LOTTERY_QUANTUM_MIN - 1, true },
	};
	struct class_fixture *f = test->priv;
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		f->queued->lottery.quantum = cases[i].quantum;
		f->queued->lottery.turn_left = cases[i].left;
		f->queued->se.sum_exec_runtime = cases[i].quantum - cases[i].left;
		KUNIT_EXPECT_EQ_MSG(test, lottery_turn_over(f->queued),
				    cases[i].over, "case %d", i);
	}
}

/* What the last turn was too long or short, this one is too short or long. */
static void class_rest_is_carried(struct kunit *test)
{
	static const struct {
		u64 quantum;
		s64 rest;
		s64 turn;
	} cases[] = {
		{ TICK_NSEC, 0, TICK_NSEC },
		{ TICK_NSEC, -TICK_NSEC / 2, TICK_NSEC - TICK_NSEC / 2 },
		{ TICK_NSEC, TICK_NSEC / 2, TICK_NSEC + TICK_NSEC / 2 },
		/* Ticks that came late, and a turn that ended otherwise. */
		{ TICK_NSEC, -3 * TICK_NSEC, TICK_NSEC - TICK_NSEC / 2 },
		{ TICK_NSEC, TICK_NSEC / 2 + 1, TICK_NSEC },
		{ LOTTERY_QUANTUM_MIN, -TICK_NSEC / 2, 1 },
	};
	struct class_fixture *f = test->priv;
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		f->queued->lottery.quantum = cases[i].quantum;
		f->queued->lottery.turn_left = cases[i].rest;
		lottery_new_turn(f->queued);
		KUNIT_EXPECT_EQ_MSG(test, f->queued->lottery.turn_left,
				    cases[i].turn, "case %d", i);
		KUNIT_EXPECT_FALSE(test, lottery_turn_over(f->queued));
	}
}

/* A task that sleeps after a part of such a turn is compensated for no more than its due. */
static void class_rest_is_charged(struct kunit *test)
{
	const s64 ran = TICK_NSEC / 5, half = TICK_NSEC / 2;
	struct class_fixture *f = test->priv;
	struct task_struct *p = f->queued;
	int i;

	for (i = -1; i <= 1; i++) {
		p->lottery.turn_left = i * half;
		KUNIT_ASSERT_PTR_EQ(test, class_pick(f->rq), p);
		p->lottery.turn_left -= ran;
		p->se.sum_exec_runtime += ran;
		class_dequeue(f->rq, p, DEQUEUE_SLEEP);
		KUNIT_EXPECT_EQ(test, p->lottery.used, i < 0 ? ran + half : ran);
		KUNIT_EXPECT_EQ(test, p->lottery.turn_left, 0);
		class_enqueue(f->rq, p, ENQUEUE_WAKEUP);
	}
}

static u64 class_parts(u64 tickets)
{
	return tickets << LOTTERY_PART_SHIFT;
}

/* Section 3.4 of the paper: 400 tickets and a fifth of a turn make 2000. */
static void class_compensates(struct kunit *test)
{
	const u64 q = 100 * NSEC_PER_MSEC;

	KUNIT_EXPECT_EQ(test, lottery_compensated(400, q, q / 5), class_parts(2000));
	KUNIT_EXPECT_EQ(test, lottery_compensated(400, q, 0), class_parts(400));
	KUNIT_EXPECT_EQ(test, lottery_compensated(400, q, q), class_parts(400));
	KUNIT_EXPECT_EQ(test, lottery_compensated(400, q, 2 * q), class_parts(400));
	/* Nearly a fifth of one ticket is nearly five. */
	KUNIT_EXPECT_EQ(test, lottery_compensated(1, 500, 103),
			(class_parts(500) + 51) / 103);
	/* However little was used, there is a limit, and no overflow. */
	KUNIT_EXPECT_LE(test, lottery_compensated(400, q, 1),
			class_parts(400 * LOTTERY_COMPENSATION_MAX));
	KUNIT_EXPECT_GT(test, lottery_compensated(400, q, 1),
			class_parts(400 * (LOTTERY_COMPENSATION_MAX - 1)));
	KUNIT_EXPECT_LE(test, lottery_compensated(LOTTERY_TICKETS_MAX,
						  LOTTERY_QUANTUM_MAX, 1),
			class_parts((u64)LOTTERY_TICKETS_MAX * LOTTERY_COMPENSATION_MAX));
}

/* They last from when the turn is given back to the next win, in every sum. */
static void class_compensation_is_spent(struct kunit *test)
{
	struct class_fixture *f = test->priv;
	struct lottery_rq *lrq = &f->rq->lottery;

	class_pick(f->rq);
	f->queued->lottery.turn_left = lottery_quantum(f->queued) / 2;
	class_dequeue(f->rq, f->queued, DEQUEUE_SLEEP);
	KUNIT_EXPECT_EQ(test, lrq->pool.tickets, 0);
	class_enqueue(f->rq, f->queued, ENQUEUE_WAKEUP);
	KUNIT_EXPECT_EQ(test, lrq->pool.tickets, class_parts(2));
	KUNIT_EXPECT_EQ(test, lrq->owned, 1);
	KUNIT_EXPECT_PTR_EQ(test, class_pick(f->rq), f->queued);
	KUNIT_EXPECT_EQ(test, lrq->pool.tickets, class_parts(1));
	KUNIT_EXPECT_EQ(test, f->queued->lottery.used, 0);
	class_dequeue(f->rq, f->queued, 0);
	KUNIT_EXPECT_EQ(test, lrq->owned, 0);
}

static struct lottery_loan *class_loan(struct kunit *test, struct task_struct *lender,
				       struct task_struct *to, unsigned int tickets)
{
	struct lottery_loan *loan = kunit_kzalloc(test, sizeof(*loan), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, loan);
	init_lottery_loan(loan, lender);
	loan->to = to;
	loan->pid = to->thread_pid;
	loan->tickets = tickets;
	loan->over = true;	/* until the test begins it */
	list_add_tail(&loan->own, &lender->lottery.loans);
	return loan;
}

/* Tickets of a blocked task are in the pool of its borrower. */
static void class_blocked_lends(struct kunit *test)
{
	struct class_fixture *f = test->priv;
	struct lottery_rq *lrq = &f->rq->lottery;
	struct lottery_loan *part, *all;
	unsigned long flags;

	f->queued->on_rq = TASK_ON_RQ_QUEUED;
	f->blocked->lottery.tickets = 300;
	part = class_loan(test, f->blocked, f->queued, 100);
	all = class_loan(test, f->blocked, f->queued, 0);
	raw_spin_lock_irqsave(&f->rq->__lock, flags);
	part->over = false;
	lottery_lend(f->rq, f->blocked);
	KUNIT_EXPECT_EQ(test, lrq->owned, 101);
	KUNIT_EXPECT_EQ(test, lrq->pool.tickets, class_parts(101));
	KUNIT_EXPECT_EQ(test, lrq->pool.nr, 2);
	KUNIT_EXPECT_EQ(test, lrq->nr, 1);
	KUNIT_EXPECT_PTR_EQ(test, lottery_borrower(f->rq, &part->entry), f->queued);

	lottery_take_back(f->rq, f->blocked);
	KUNIT_EXPECT_EQ(test, lrq->owned, 1);
	KUNIT_EXPECT_EQ(test, lrq->pool.nr, 1);
	KUNIT_EXPECT_EQ(test, part->state, LOTTERY_LOAN_AT_REST);

	/* It was for one time; and no more is lent than there is. */
	lottery_lend(f->rq, f->blocked);
	KUNIT_EXPECT_EQ(test, lrq->owned, 1);
	part->over = false;
	all->over = false;
	lottery_lend(f->rq, f->blocked);
	KUNIT_EXPECT_EQ(test, part->owned, 75);
	KUNIT_EXPECT_EQ(test, all->owned, 225);
	KUNIT_EXPECT_EQ(test, lrq->owned, 301);
	lottery_take_back(f->rq, f->blocked);
	raw_spin_unlock_irqrestore(&f->rq->__lock, flags);
	KUNIT_EXPECT_EQ(test, lrq->owned, 1);
}

/* A loan whose borrower sleeps is not in the pool, and the draw goes on. */
static void class_sleeper_wins_nothing(struct kunit *test)
{
	struct class_fixture *f = test->priv;
	struct lottery_rq *lrq = &f->rq->lottery;
	struct lottery_loan *loan;
	unsigned long flags;

	f->queued->on_rq = TASK_ON_RQ_QUEUED;
	loan = class_loan(test, f->blocked, f->queued, 0);
	raw_spin_lock_irqsave(&f->rq->__lock, flags);
	loan->over = false;
	lottery_lend(f->rq, f->blocked);
	KUNIT_EXPECT_EQ(test, lrq->pool.nr, 2);
	f->queued->on_rq = 0;
	KUNIT_EXPECT_NULL(test, lottery_borrower(f->rq, &loan->entry));
	KUNIT_EXPECT_EQ(test, lrq->pool.nr, 1);
	KUNIT_EXPECT_EQ(test, loan->state, LOTTERY_LOAN_PARKED);
	lottery_take_back(f->rq, f->blocked);
	raw_spin_unlock_irqrestore(&f->rq->__lock, flags);
	KUNIT_EXPECT_EQ(test, loan->state, LOTTERY_LOAN_AT_REST);
	KUNIT_EXPECT_TRUE(test, list_empty(&f->queued->lottery.parked));
}

/* The state of the blocked task's loan to the owner of what it is blocked on, once it lends. */
static int class_lent(struct class_fixture *f)
{
	unsigned long flags;
	int state;

	raw_spin_lock_irqsave(&f->rq->__lock, flags);
	lottery_lend(f->rq, f->blocked);
	state = f->blocked->lottery.loan.state;
	lottery_take_back(f->rq, f->blocked);
	raw_spin_unlock_irqrestore(&f->rq->__lock, flags);
	return state;
}

/* The winner of a mutex owns it before it is awake, and still waits for it. */
static void class_winner_borrows(struct kunit *test)
{
	struct class_fixture *f = test->priv;
	struct lottery_mutex m = { .owner = f->queued };

	f->queued->lottery.waits_on = &m;
	f->blocked->lottery.waits_on = &m;
	f->queued->on_rq = 0;
	KUNIT_EXPECT_EQ(test, class_lent(f), LOTTERY_LOAN_PARKED);
	f->queued->on_rq = TASK_ON_RQ_QUEUED;
	KUNIT_EXPECT_EQ(test, class_lent(f), LOTTERY_LOAN_POOL);
	f->blocked->lottery.waits_on = NULL;
}

/* Its CPU wakes a task without its pi_lock: a loan that waits for it could be missed. */
static void class_waking_gets_mail(struct kunit *test)
{
	struct class_fixture *f = test->priv;
	struct lottery_mutex m = { .owner = f->queued };
	int state;

	f->blocked->lottery.waits_on = &m;
	f->queued->on_rq = 0;
	WRITE_ONCE(f->queued->__state, TASK_WAKING);
	/* The mail is taken back before this CPU reads it. */
	preempt_disable();
	__set_task_cpu(f->queued, smp_processor_id());
	state = class_lent(f);
	preempt_enable();
	KUNIT_EXPECT_NE(test, state, LOTTERY_LOAN_AT_REST);
	KUNIT_EXPECT_NE(test, state, LOTTERY_LOAN_PARKED);
	f->blocked->lottery.waits_on = NULL;
}

#ifdef CONFIG_RT_MUTEXES
/* A lock is between two owners: the first of its waiters is about to have it. */
static void class_first_waiter_borrows(struct kunit *test)
{
	struct class_fixture *f = test->priv;
	struct rt_mutex_base lock;
	struct rt_mutex_waiter first = { .task = f->queued, .lock = &lock };
	struct rt_mutex_waiter second = { .task = f->blocked, .lock = &lock };

	rt_mutex_base_init(&lock);
	f->queued->on_rq = TASK_ON_RQ_QUEUED;
	f->blocked->pi_blocked_on = &second;
	KUNIT_EXPECT_EQ(test, class_lent(f), LOTTERY_LOAN_LATER);
	rb_link_node(&first.tree.entry, NULL, &lock.waiters.rb_root.rb_node);
	rb_insert_color_cached(&first.tree.entry, &lock.waiters, true);
	KUNIT_EXPECT_EQ(test, class_lent(f), LOTTERY_LOAN_POOL);
	f->blocked->pi_blocked_on = NULL;
}
#else
static void class_first_waiter_borrows(struct kunit *test)
{
	kunit_skip(test, "needs CONFIG_RT_MUTEXES");
}
#endif

static struct kunit_case lottery_class_cases[] = {
	KUNIT_CASE(class_running_holds),
	KUNIT_CASE(class_blocked_holds_not),
	KUNIT_CASE(class_blocked_is_not_ticked),
	KUNIT_CASE(class_yielder_holds_not),
	KUNIT_CASE(class_own_change_keeps_turn),
	KUNIT_CASE(class_left_has_no_turn),
	KUNIT_CASE(class_newcomer_has_no_turn),
	KUNIT_CASE(class_picks_twice),
	KUNIT_CASE(class_fair_tasks_have_turns),
	KUNIT_CASE(class_turns_end_at_the_nearest_tick),
	KUNIT_CASE(class_rest_is_carried),
	KUNIT_CASE(class_rest_is_charged),
	KUNIT_CASE(class_compensates),
	KUNIT_CASE(class_compensation_is_spent),
	KUNIT_CASE(class_blocked_lends),
	KUNIT_CASE(class_sleeper_wins_nothing),
	KUNIT_CASE(class_winner_borrows),
	KUNIT_CASE(class_waking_gets_mail),
	KUNIT_CASE(class_first_waiter_borrows),
	{}
};

static struct kunit_suite lottery_class_suite = {
	.name		= "lottery_class",
	.init		= class_init,
	.exit		= class_exit,
	.test_cases	= lottery_class_cases,
};

kunit_test_suite(lottery_class_suite);

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who holds the turn, on a run queue that no CPU has.
 */

#include <kunit/test.h>
#include <linux/mmu_context.h>

#include "lottery/class.h"

/* Two tasks: one is queued, the other has blocked but is still on its CPU. */
struct class_fixture {
	struct rq *rq;
	struct task_struct *queued;
	struct task_struct *blocked;
};

static int class_init(struct kunit *test)
{
	struct class_fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	f->rq = kunit_kzalloc(test, sizeof(*f->rq), GFP_KERNEL);
	f->queued = kunit_kzalloc(test, sizeof(*f->queued), GFP_KERNEL);
	f->blocked = kunit_kzalloc(test, sizeof(*f->blocked), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, f->rq);
	KUNIT_ASSERT_NOT_NULL(test, f->queued);
	KUNIT_ASSERT_NOT_NULL(test, f->blocked);

	raw_spin_lock_init(&f->rq->__lock);
	f->rq->clock_update_flags = RQCF_UPDATED;
	init_lottery_rq(&f->rq->lottery);
	f->queued->on_rq = TASK_ON_RQ_QUEUED;
	f->queued->lottery.entry.tickets = 1;
	lottery_pool_insert(&f->rq->lottery.pool, &f->queued->lottery.entry);
	test->priv = f;
	return 0;
}

static void class_set_next(struct rq *rq, struct task_struct *p)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&rq->__lock, flags);
	lottery_sched_class.set_next_task(rq, p, false);
	raw_spin_unlock_irqrestore(&rq->__lock, flags);
}

static struct task_struct *class_pick(struct rq *rq)
{
	struct task_struct *p;
	unsigned long flags;

	raw_spin_lock_irqsave(&rq->__lock, flags);
	p = lottery_sched_class.pick_task(rq);
	raw_spin_unlock_irqrestore(&rq->__lock, flags);
	return p;
}

static void class_running_holds(struct kunit *test)
{
	struct class_fixture *f = test->priv;

	class_set_next(f->rq, f->queued);
	KUNIT_EXPECT_PTR_EQ(test, f->rq->lottery.holder, f->queued);
	KUNIT_EXPECT_EQ(test, f->rq->lottery.ticks_left, 1);
	KUNIT_EXPECT_PTR_EQ(test, class_pick(f->rq), f->queued);
}

/*
 * What __sched_setscheduler() does to a task that blocked, if it comes while
 * lottery_balance() has dropped the lock in front of the next pick.
 */
static void class_blocked_holds_not(struct kunit *test)
{
	struct class_fixture *f = test->priv;

	class_set_next(f->rq, f->blocked);
	KUNIT_EXPECT_NULL(test, f->rq->lottery.holder);
	KUNIT_EXPECT_PTR_EQ(test, class_pick(f->rq), f->queued);
}

static void class_yielder_holds_not(struct kunit *test)
{
	struct class_fixture *f = test->priv;

	class_set_next(f->rq, f->queued);
	lottery_sched_class.yield_task(f->rq);
	KUNIT_EXPECT_NULL(test, f->rq->lottery.holder);
}

static struct kunit_case lottery_class_cases[] = {
	KUNIT_CASE(class_running_holds),
	KUNIT_CASE(class_blocked_holds_not),
	KUNIT_CASE(class_yielder_holds_not),
	{}
};

static struct kunit_suite lottery_class_suite = {
	.name		= "lottery_class",
	.init		= class_init,
	.test_cases	= lottery_class_cases,
};

kunit_test_suite(lottery_class_suite);

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loans: the tickets of a blocked task work for the task it waits for.
 *
 * Waldspurger and Weihl 1994, section 3.1: ticket transfers. The tickets of a blocked
 * lender stay tickets of the lender, in an entry of their own. That entry is in the pool
 * of the CPU where the borrower is queued; when it wins, the borrower has a turn. So no
 * ticket is made or lost, a borrower need not have tickets or be of this class, and the
 * borrower is looked up at the draw, along the chain of waiting tasks:
 * - a task that is blocked on an rt_mutex, on a PI futex or on a lottery mutex lends to the
 *   owner;
 * - otherwise it lends to the tasks that it named, see loan_api.c.
 *
 * A chain ends with a task that is not blocked, or whose wait names no task. One that is
 * longer than LOTTERY_CHAIN, as a circle is, lends to no task until it is shorter.
 *
 * A change of the lender's tickets or currency while it is blocked changes its loans.
 *
 * A borrower of the fair class is a guest: it has the CPU for the turn of a winner, ahead
 * of other fair tasks, and stays in its own class.
 *
 * The place of a loan (enum lottery_loan_state):
 *
 * - AT_REST: nowhere: the lender runs, or no task can use the tickets
 * - POOL: in the pool of @cpu
 * - RECALL: the same, and in the mail of @cpu, as the lender has stopped lending, or lends
 *   otherwise
 * - MAIL: in the mail of @cpu, which decides its place
 * - LATER: on the list of @cpu about which a timer decides again, a tick later
 * - HELD: the holder of the rq lock of @cpu decides just now
 * - PARKED: on the list of a borrower that sleeps
 *
 * The lender changes @active, the borrower wakes up and moves, mutexes change hands, all
 * without the lock of @cpu. So only the holder of that lock moves a loan, and all others
 * send mail: an irq_work of @cpu reads it. Draws do not rely on mail: the borrower is
 * looked up again.
 *
 * Locking: lottery_loans_lock, a leaf below the rq locks, protects state, cpu and link of
 * all loans and the lists that they are on. POOL and RECALL are entered and left with the
 * rq lock of @cpu held as well. @active is written under lottery_loans_lock. What a task
 * is blocked on is read under its pi_lock, which is above the rq lock and therefore only
 * tried. Tasks in a chain stay in memory as interrupts are off, which RCU waits for.
 *
 * Work under the rq lock: a draw takes up to LOTTERY_LETTERS loans off the pool before it
 * leaves the CPU to other classes for LOTTERY_PACE. Mail is read in pieces of as many, with
 * that pause between two of them, and no more loans are decided about again at a tick.
 */

#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/mmu_context.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <linux/timekeeping.h>

#include "balance.h"
#include "loan.h"

DEFINE_RAW_SPINLOCK(lottery_loans_lock);

static struct lottery_loan *lottery_loan_of(struct lottery_entry *e)
{
	return container_of(e, struct lottery_loan, entry);
}

/**
 * lottery_can_host() - can a task have a turn of this class?
 * @rq: a run queue, locked
 * @p: a task that is queued there
 *
 * Return: whether it is a lottery task, or a fair one that is not throttled. A task of a
 * higher class needs no turn.
 */
bool lottery_can_host(struct rq *rq, struct task_struct *p)
{
	struct sched_entity *se = &p->se;

	if (task_on_lottery(p))
		return true;
	if (p->sched_class != &fair_sched_class || sched_core_enabled(rq))
		return false;

	/* Not below a group that has used up its bandwidth. */
	for (; se; se = lottery_parent(se))
		if (!se->on_rq || se->sched_delayed)
			return false;
	return true;
}

/* The right place of @loan, seen from @rq, which is locked. */
static enum lottery_whereabouts
lottery_find_place(struct rq *rq, struct lottery_loan *loan,
		   struct task_struct **borrower)
{
	enum lottery_whereabouts place;

	if (!READ_ONCE(loan->active) || lottery_has_expired(loan))
		return LOTTERY_NOWHERE;

	place = lottery_find_borrower(loan, borrower);
	if (place != LOTTERY_HERE)
		return place;
	if (task_cpu(*borrower) != cpu_of(rq))
		return LOTTERY_THERE;
	/* It may have moved on before the rq was locked, or sleep since. */
	if (!task_on_rq_queued(*borrower))
		return LOTTERY_NOT_NOW;
	if (!lottery_can_host(rq, *borrower) &&
	    !rt_or_dl_prio((*borrower)->prio))
		return LOTTERY_NOT_NOW;
	return LOTTERY_HERE;
}

static void lottery_pool_loan(struct rq *rq, struct lottery_loan *loan)
{
	/* Outside of its currency the lender may just have lost some. */
	unsigned int owned = min(READ_ONCE(loan->owned), lottery_task_tickets(loan->lender));

	lockdep_assert_rq_held(rq);

	loan->crq = lottery_crq_of(rq, loan->lender);
	loan->entry.tickets = (u64)owned << LOTTERY_PART_SHIFT;
	lottery_put_in(rq, loan->crq, &loan->entry, owned);
	loan->counted = lottery_worth(loan->crq, owned);
	rq->lottery.owned += loan->counted;
	lottery_join_loan(rq, loan);
}

static void lottery_unpool_loan(struct rq *rq, struct lottery_loan *loan)
{
	lottery_leave_loan(rq, loan);
	lottery_take_out(rq, loan->crq, &loan->entry, lottery_pooled(loan));
	rq->lottery.owned -= loan->counted;
}

/* There is mail for @rq: read it now, unless there is a pause. Under lottery_loans_lock. */
static void lottery_call_reader(struct rq *rq)
{
	lockdep_assert_held(&lottery_loans_lock);

	if (!rq->lottery.paced)
		irq_work_queue_on(&rq->lottery.work, cpu_of(rq));
}

/* Send @loan to @cpu. Under lottery_loans_lock. */
static void lottery_send(struct lottery_loan *loan, int cpu,
			 enum lottery_loan_state state)
{
	loan->cpu = cpu;
	loan->state = state;
	list_add_tail(&loan->link, &cpu_rq(cpu)->lottery.mail);
	lottery_call_reader(cpu_rq(cpu));
}

/**
 * lottery_start_retry() - read mail and decide again about loans later
 * @rq: the run queue, locked
 * @ns: the longest time until then
 */
void lottery_start_retry(struct rq *rq, u64 ns)
{
	struct hrtimer *retry = &rq->lottery.retry;

	lockdep_assert_rq_held(rq);

	if (!hrtimer_is_queued(retry) ||
	    ktime_to_ns(hrtimer_get_remaining(retry)) > (s64)ns)
		hrtimer_start(retry, ns_to_ktime(ns), HRTIMER_MODE_REL_HARD);
}

/* Decide again a tick later. Under lottery_loans_lock; @rq is locked. */
static void lottery_put_off(struct rq *rq, struct lottery_loan *loan)
{
	lockdep_assert_held(&lottery_loans_lock);

	loan->cpu = cpu_of(rq);
	loan->state = LOTTERY_LOAN_LATER;
	list_add_tail(&loan->link, &rq->lottery.later);
	lottery_start_retry(rq, TICK_NSEC);
}

/* To the CPU of a borrower that is awake. Under lottery_loans_lock; @rq is locked. */
static void lottery_follow(struct rq *rq, struct lottery_loan *loan, int cpu)
{
	if (cpu_rq(cpu)->lottery.closed)
		lottery_put_off(rq, loan);
	else
		lottery_send(loan, cpu, LOTTERY_LOAN_MAIL);
}

/*
 * Put @loan on the list of @borrower, which sleeps. It wakes up, and it dies, with its
 * pi_lock held: then lottery_unpark() and lottery_dead() see the loan. Under
 * lottery_loans_lock; @rq is locked.
 */
static void lottery_park(struct rq *rq, struct lottery_loan *loan,
			 struct task_struct *borrower)
{
	lockdep_assert_rq_held(rq);
	lockdep_assert_held(&lottery_loans_lock);

	if (!raw_spin_trylock(&borrower->pi_lock)) {
		lottery_put_off(rq, loan);
		return;
	}
	if (READ_ONCE(borrower->__state) == TASK_DEAD) {
		loan->state = LOTTERY_LOAN_AT_REST;
	} else if (READ_ONCE(borrower->__state) == TASK_WAKING) {
		/* Its CPU queues it without its pi_lock, and mostly before it reads the mail. */
		if (task_cpu(borrower) == cpu_of(rq))
			lottery_put_off(rq, loan);
		else
			lottery_follow(rq, loan, task_cpu(borrower));
	} else if (lottery_is_asleep(borrower)) {
		loan->state = LOTTERY_LOAN_PARKED;
		list_add_tail(&loan->link, &borrower->lottery.parked);
	} else {
		lottery_put_off(rq, loan);
	}
	raw_spin_unlock(&borrower->pi_lock);
}

/* Put @loan, which is held, into its place. Under lottery_loans_lock. */
static void lottery_put(struct rq *rq, struct lottery_loan *loan,
			enum lottery_whereabouts place, struct task_struct *borrower)
{
	lockdep_assert_rq_held(rq);
	lockdep_assert_held(&lottery_loans_lock);

	if (place == LOTTERY_NOWHERE || !loan->active) {
		loan->state = LOTTERY_LOAN_AT_REST;
	} else if (place == LOTTERY_ASLEEP) {
		lottery_park(rq, loan, borrower);
	} else if (place == LOTTERY_THERE) {
		lottery_follow(rq, loan, task_cpu(borrower));
	} else if (place == LOTTERY_NOT_NOW || rq->lottery.closed ||
		   !lottery_has_room_to_lend(&rq->lottery)) {
		lottery_put_off(rq, loan);
	} else {
		loan->state = LOTTERY_LOAN_POOL;
		list_add_tail(&loan->link, &rq->lottery.lent);
		lottery_pool_loan(rq, loan);
	}
}

/* Bring @loan, which is held, to its place. @rq is locked, its clock is up to date. */
static void lottery_settle(struct rq *rq, struct lottery_loan *loan)
{
	struct task_struct *borrower = NULL;
	bool was_active = READ_ONCE(loan->active);
	enum lottery_whereabouts place = lottery_find_place(rq, loan, &borrower);

	raw_spin_lock(&lottery_loans_lock);
	/* A task that has blocked meanwhile has left it to us. */
	if (loan->active && !was_active)
		place = LOTTERY_NOT_NOW;
	lottery_put(rq, loan, place, borrower);
	raw_spin_unlock(&lottery_loans_lock);
}

/* Hold the loan, as the owner of the lock of @rq. Under lottery_loans_lock. */
static void lottery_hold(struct rq *rq, struct lottery_loan *loan)
{
	lockdep_assert_rq_held(rq);
	lockdep_assert_held(&lottery_loans_lock);

	if (!list_empty(&loan->link))
		list_del_init(&loan->link);
	if (loan->state == LOTTERY_LOAN_POOL || loan->state == LOTTERY_LOAN_RECALL)
		lottery_unpool_loan(rq, loan);
	loan->state = LOTTERY_LOAN_HELD;
	loan->cpu = cpu_of(rq);
}

/**
 * lottery_borrower() - the task whose turn a loan has won
 * @rq: a run queue, locked
 * @e: the loan's entry, in the pool of @rq
 *
 * Return: the borrower, queued here; or NULL: then the loan has left the pool.
 */
struct task_struct *lottery_borrower(struct rq *rq, struct lottery_entry *e)
{
	struct lottery_loan *loan = lottery_loan_of(e);
	struct task_struct *borrower;
	bool here;

	here = lottery_find_place(rq, loan, &borrower) == LOTTERY_HERE &&
	       loan->crq == lottery_crq_of(rq, loan->lender);
	if (here && lottery_can_host(rq, borrower))
		return borrower;

	scoped_guard(raw_spinlock, &lottery_loans_lock) {
		lottery_hold(rq, loan);
		/* A real-time task whose class has used up its time. */
		if (here)
			lottery_put_off(rq, loan);
	}
	if (!here)
		lottery_settle(rq, loan);
	return NULL;
}

/**
 * lottery_evict_loans() - the last member has left a currency
 * @rq: a run queue, locked, and the clock up to date
 * @pool: that of the currency there
 *
 * Loans of lenders that have left it before move to their new currency.
 */
void lottery_evict_loans(struct rq *rq, struct lottery_pool *pool)
{
	struct lottery_loan *loan;
	struct lottery_entry *e;

	lockdep_assert_rq_held(rq);

	while (pool->nr) {
		e = lottery_rbtree_draw(pool, 0);
		if (WARN_ON_ONCE(e->kind != LOTTERY_LOAN))
			return;
		loan = lottery_loan_of(e);
		scoped_guard(raw_spinlock, &lottery_loans_lock) {
			lottery_hold(rq, loan);
			lottery_put_off(rq, loan);
		}
	}
}

/* Does its lender, whose rq is locked, lend other tickets than those in the pool? */
static bool lottery_is_stale(const struct lottery_loan *loan)
{
	return lottery_pooled(loan) != loan->owned ||
	       loan->crq != lottery_crq_of(cpu_rq(loan->cpu), loan->lender);
}

/* A lender blocks, changes or wakes up: update the loan. Its rq is locked. */
static void lottery_set_active(struct rq *rq, struct lottery_loan *loan, bool active)
{
	bool held = false;

	scoped_guard(raw_spinlock, &lottery_loans_lock) {
		WRITE_ONCE(loan->active, active);
		switch (loan->state) {
		case LOTTERY_LOAN_AT_REST:
			if (active) {
				lottery_hold(rq, loan);
				held = true;
			}
			break;
		case LOTTERY_LOAN_POOL:
			if (active && !lottery_is_stale(loan))
				break;
			if (loan->cpu == cpu_of(rq)) {
				lottery_hold(rq, loan);
				held = true;
			} else {
				list_del_init(&loan->link);
				lottery_send(loan, loan->cpu, LOTTERY_LOAN_RECALL);
			}
			break;
		case LOTTERY_LOAN_MAIL:
		case LOTTERY_LOAN_LATER:
		case LOTTERY_LOAN_PARKED:
			if (!active) {
				list_del_init(&loan->link);
				loan->state = LOTTERY_LOAN_AT_REST;
			}
			break;
		case LOTTERY_LOAN_RECALL:
		case LOTTERY_LOAN_HELD:
			/* The reader or holder of the mail tests @active. */
			break;
		}
	}
	if (held)
		lottery_settle(rq, loan);
}

static void lottery_lend_to_owner(struct rq *rq, struct task_struct *p)
{
	WRITE_ONCE(p->lottery.loan.owned, lottery_task_tickets(p));
	lottery_set_active(rq, &p->lottery.loan, true);
}

static void lottery_lend_to_named(struct rq *rq, struct task_struct *p)
{
	u64 own = lottery_task_tickets(p), part, sum = 0;
	struct lottery_loan *loan;

	guard(rcu)();
	list_for_each_entry(loan, &p->lottery.loans, own)
		if (!lottery_is_over(loan))
			sum += loan->tickets ?: own;
	list_for_each_entry(loan, &p->lottery.loans, own) {
		if (lottery_is_over(loan))
			continue;
		part = loan->tickets ?: own;
		/* No more than it has, each in proportion. */
		if (sum > own)
			part = div64_u64(part * own, sum) ?: 1;
		WRITE_ONCE(loan->owned, part);
		lottery_set_active(rq, loan, true);
	}
}

/* See lottery_lend(). */
void __lottery_lend(struct rq *rq, struct task_struct *p)
{
	if (p->lottery.exits || lottery_is_halted(p))
		return;
	if (lottery_is_locked_out(p))
		lottery_lend_to_owner(rq, p);
	else
		lottery_lend_to_named(rq, p);
}

/* See lottery_lend_again(). */
void __lottery_lend_again(struct rq *rq, struct task_struct *p)
{
	struct lottery_loan *loan;

	if (p->lottery.loan.active) {
		lottery_lend_to_owner(rq, p);
		return;
	}
	/* All of them are active, or none. */
	list_for_each_entry(loan, &p->lottery.loans, own) {
		if (loan->active) {
			lottery_lend_to_named(rq, p);
			return;
		}
	}
}

/* See lottery_take_back(). */
void __lottery_take_back(struct rq *rq, struct task_struct *p)
{
	struct lottery_loan *loan = &p->lottery.loan;

	if (loan->active)
		lottery_set_active(rq, loan, false);
	list_for_each_entry(loan, &p->lottery.loans, own) {
		if (!loan->active)
			continue;
		lottery_set_active(rq, loan, false);
		loan->over = !loan->keep;
	}
}

/* Decide about up to LOTTERY_LETTERS of the loans on @list. @rq is locked. */
static void lottery_receive(struct rq *rq, struct list_head *list)
{
	struct lottery_loan *loan;
	int left = LOTTERY_LETTERS;

	while (left--) {
		scoped_guard(raw_spinlock, &lottery_loans_lock) {
			loan = list_first_entry_or_null(list, struct lottery_loan, link);
			if (!loan)
				return;
			lottery_hold(rq, loan);
		}
		lottery_settle(rq, loan);
	}
}

/*
 * Read a piece of the mail; the CPU works before the next one. A fair task that has got
 * tickets need not wait for other fair ones. @rq is locked.
 */
static void lottery_read_mail(struct rq *rq)
{
	struct task_struct *curr = lottery_curr(rq);
	struct lottery_rq *lrq = &rq->lottery;

	lottery_receive(rq, &lrq->mail);
	scoped_guard(raw_spinlock, &lottery_loans_lock)
		lrq->paced = !list_empty(&lrq->mail);
	if (lrq->paced)
		lottery_start_retry(rq, LOTTERY_PACE);
	if (lrq->pool.nr && curr != lrq->guest &&
	    sched_class_above(&lottery_sched_class, curr->sched_class))
		resched_curr(rq);
}

static void lottery_mail_work(struct irq_work *work)
{
	struct rq *rq = container_of(work, struct rq, lottery.work);
	struct rq_flags rf;

	rq_lock(rq, &rf);
	update_rq_clock(rq);
	lottery_read_mail(rq);
	rq_unlock(rq, &rf);
}

/* Those that are put off again go to the end of the list. */
static enum hrtimer_restart lottery_retry_later(struct hrtimer *timer)
{
	struct rq *rq = container_of(timer, struct rq, lottery.retry);
	struct list_head *later = &rq->lottery.later;
	struct rq_flags rf;
	LIST_HEAD(now);

	rq_lock(rq, &rf);
	update_rq_clock(rq);
	scoped_guard(raw_spinlock, &lottery_loans_lock)
		list_splice_init(later, &now);
	lottery_receive(rq, &now);
	scoped_guard(raw_spinlock, &lottery_loans_lock)
		list_splice(&now, later);
	if (!list_empty(later))
		lottery_start_retry(rq, TICK_NSEC);
	lottery_read_mail(rq);
	rq_unlock(rq, &rf);
	return HRTIMER_NORESTART;
}

/* Make a loan of @lender's tickets, at rest. */
void init_lottery_loan(struct lottery_loan *loan, struct task_struct *lender)
{
	memset(loan, 0, sizeof(*loan));
	loan->entry.kind = LOTTERY_LOAN;
	INIT_LIST_HEAD(&loan->link);
	INIT_LIST_HEAD(&loan->own);
	loan->lender = lender;
}

/* Initialise the loans of a CPU: there are none. */
void init_lottery_loans(struct lottery_rq *lrq)
{
	INIT_LIST_HEAD(&lrq->lent);
	INIT_LIST_HEAD(&lrq->mail);
	INIT_LIST_HEAD(&lrq->later);
	lrq->work = IRQ_WORK_INIT_HARD(lottery_mail_work);
	hrtimer_setup(&lrq->retry, lottery_retry_later, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
}

/*
 * Make mail of the loans on @list. They keep their state: MAIL, LATER and PARKED are the
 * same for a task that takes them off a list. Under lottery_loans_lock; @rq is locked.
 */
static void lottery_retry(struct rq *rq, struct list_head *list)
{
	list_splice_tail_init(list, &rq->lottery.mail);
	lottery_call_reader(rq);
}

/* A task with loans on its list has woken up or moved, and is queued on @rq, which is locked. */
void __lottery_unpark(struct rq *rq, struct task_struct *p)
{
	raw_spin_lock(&lottery_loans_lock);
	lottery_retry(rq, &p->lottery.parked);
	raw_spin_unlock(&lottery_loans_lock);
}

/* A task with loans on its list will never run again. */
void __lottery_dead(struct task_struct *p)
{
	struct lottery_loan *loan, *next;
	unsigned long flags;

	raw_spin_lock_irqsave(&lottery_loans_lock, flags);
	list_for_each_entry_safe(loan, next, &p->lottery.parked, link) {
		list_del_init(&loan->link);
		loan->state = LOTTERY_LOAN_AT_REST;
	}
	raw_spin_unlock_irqrestore(&lottery_loans_lock, flags);
}

#ifdef CONFIG_SMP
/*
 * A CPU leaves its root domain, and may go down; its rq is locked. Until it is back, or as
 * long as it has ticks, its loans follow their borrowers to other CPUs.
 */
void rq_offline_lottery(struct rq *rq)
{
	struct lottery_rq *lrq = &rq->lottery;
	struct lottery_loan *loan;

	raw_spin_lock(&lottery_loans_lock);
	lrq->closed = true;
	list_splice_tail_init(&lrq->mail, &lrq->lent);
	while ((loan = list_first_entry_or_null(&lrq->lent, struct lottery_loan, link))) {
		lottery_hold(rq, loan);
		lottery_put_off(rq, loan);
	}
	raw_spin_unlock(&lottery_loans_lock);
}

/* A CPU is back in a root domain; its rq is locked. */
void rq_online_lottery(struct rq *rq)
{
	raw_spin_lock(&lottery_loans_lock);
	rq->lottery.closed = false;
	raw_spin_unlock(&lottery_loans_lock);
}
#endif

// SPDX-License-Identifier: GPL-2.0-only
/*
 * The lottery scheduling class, between RT and fair.
 *
 * Waldspurger and Weihl: "Lottery Scheduling: Flexible Proportional-Share Resource
 * Management" (OSDI 1994). Each CPU draws among the tasks that are queued on it. The
 * winner has a turn: its quantum of run time, rounded to ticks; preemption by higher
 * classes does not shorten it. The next draw is held when the turn is over, or when the
 * holder stops before, that is, sleeps, yields, leaves the class or the CPU. A task that
 * is taken off its pool to be put back keeps the rest of its turn, so that a change of its
 * own parameters brings it no time.
 *
 * A task that ends its turn early has compensation tickets from then on until its next
 * turn.
 *
 * The running task stays in the pool.
 */

#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/mmu_context.h>
#include <linux/percpu.h>
#include <linux/prandom.h>
#include <linux/random.h>

#include "balance.h"
#include "pelt.h"

#include "trace.h"
#include "waits.h"

/*
 * Not get_random_u32(), which takes a local lock. One state a CPU, used under the lock of
 * that CPU's rq.
 */
static DEFINE_PER_CPU(struct rnd_state, lottery_rnd);

/*
 * How often a number is thrown away that would favour some tickets. Each try fails with a
 * probability below 1/2, and below 2^-10 for up to four million tickets; the work under
 * the rq lock has to end.
 */
#define LOTTERY_TRIES 32

/* The golden ratio less one, of 2^64: the step of the low-variance draw. */
#define LOTTERY_GOLDEN 0x9e3779b97f4a7c15ULL

/* Make the lottery of a CPU empty; its pool's kind has been chosen. */
void init_lottery_rq(struct lottery_rq *lrq)
{
	lrq->pool.tickets = 0;
	lrq->pool.nr = 0;
	lrq->owned = 0;
	lrq->inner = 0;
	INIT_LIST_HEAD(&lrq->currencies);
	lottery_pool_ops->init(&lrq->pool);
	lrq->nr = 0;
	INIT_LIST_HEAD(&lrq->migratable);
	init_lottery_loans(lrq);
#ifdef CONFIG_SMP
	lrq->next_balance = jiffies;
	lrq->next_pull = jiffies;
#endif
}

/* Initialise what a new task, not visible yet, does not inherit: all but tickets and quantum. */
void init_lottery_task(struct task_struct *p)
{
	INIT_LIST_HEAD(&p->lottery.migratable);
	INIT_LIST_HEAD(&p->lottery.loans);
	INIT_LIST_HEAD(&p->lottery.parked);
	init_lottery_loan(&p->lottery.loan, p);
	p->lottery.crq = NULL;
	p->lottery.waits_on = NULL;
	p->lottery.counted = 0;
	p->lottery.entry.kind = LOTTERY_TASK;
	p->lottery.turn_left = 0;
	p->lottery.used = 0;
	p->lottery.lag = 0;
	p->lottery.core_ran = 0;
	p->lottery.in_turn = false;
	p->lottery.exits = false;
}

/**
 * lottery_random_below() - an unbiased random number
 * @rnd: the generator's state
 * @total: above every number that can be drawn; 1 to 2^63
 *
 * Multiply-shift with rejection (Lemire: "Fast random integer generation in an interval",
 * 2019): no division unless a number is close to rejection. A total that does not fit 32
 * bits is drawn from 64, where the bias of the plain multiply-shift is below 2^-15 of a
 * task's share, all its parts together.
 *
 * Return: a number in [0, @total).
 */
u64 lottery_random_below(struct rnd_state *rnd, u64 total)
{
	u32 below = total, reject;
	int tries = LOTTERY_TRIES;
	u64 m;

	if (total > U32_MAX) {
		u64 r = prandom_u32_state(rnd);

		r = r << 32 | prandom_u32_state(rnd);
		return mul_u64_u64_shr(r, total, 64);
	}

	m = mul_u32_u32(prandom_u32_state(rnd), below);
	if ((u32)m < below) {
		reject = -below % below;
		while ((u32)m < reject && --tries)
			m = mul_u32_u32(prandom_u32_state(rnd), below);
	}
	return m >> 32;
}

/*
 * The winning ticket. The low-variance draw takes numbers that fill the range evenly (a
 * Weyl sequence with the golden ratio): after N draws each task has won its part of them
 * up to a few, not up to the root of N. Each number alone is as likely as any other, since
 * the sequence begins at a random one.
 */
static __always_inline u64
lottery_winning(struct rq *rq, const struct lottery_pool *pool, u64 *point)
{
	if (static_branch_unlikely(&lottery_low_variance)) {
		*point += LOTTERY_GOLDEN;
		return mul_u64_u64_shr(*point, pool->tickets, 64);
	}
	return lottery_random_below(per_cpu_ptr(&lottery_rnd, cpu_of(rq)), pool->tickets);
}

/* The winning ticket is one of a currency: which of its own tickets wins? */
static noinline struct lottery_entry *lottery_draw_within(struct rq *rq, struct lottery_entry *e)
{
	struct lottery_crq *crq;

	while (e->kind == LOTTERY_CURRENCY) {
		crq = container_of(e, struct lottery_crq, entry);
		crq->wins++;
		e = lottery_rbtree_draw(&crq->pool,
					lottery_winning(rq, &crq->pool, &crq->point));
	}
	return e;
}

/* The parts of tickets that @p takes part with now. */
static u64 lottery_effective(const struct task_struct *p)
{
	if (likely(!p->lottery.used))
		return (u64)p->lottery.owned << LOTTERY_PART_SHIFT;
	return lottery_compensated(p->lottery.owned, lottery_quantum(p),
				   p->lottery.used);
}

/**
 * lottery_begin_turn() - give a task a turn
 * @rq: its run queue, locked
 * @p: a queued task of the class, which has won or was chosen for its cookie
 *
 * It gets the whole quantum, see lottery_new_turn(), and its compensation tickets are spent.
 */
void lottery_begin_turn(struct rq *rq, struct task_struct *p)
{
	struct lottery_rq *lrq = &rq->lottery;

	lockdep_assert_rq_held(rq);

	lrq->holder = p;
	lrq->lent_turn = false;
	lottery_new_turn(p);
	if (p->lottery.used) {
		p->lottery.used = 0;
		lottery_set_parts(rq, p->lottery.crq, &p->lottery.entry,
				  lottery_effective(p));
	}
}

/*
 * Hold a lottery, until a task that can run here wins one. NULL if fair tasks are to have
 * a turn, or if only loans were left, and no task here can use them; or after
 * LOTTERY_LETTERS such loans, if there are more.
 */
static struct task_struct *lottery_draw(struct rq *rq)
{
	struct lottery_rq *lrq = &rq->lottery;
	struct lottery_pool *pool = &lrq->pool;
	int left = LOTTERY_LETTERS;
	struct lottery_entry *e;
	struct task_struct *p;
	u64 begin;

	if (unlikely(lottery_fair_is_due(rq))) {
		lottery_begin_fair_turn(rq);
		return NULL;
	}

	begin = lottery_stats_begin();
	do {
		/* The only ticket holder wins without a random number. */
		e = lottery_pool_draw(pool, pool->nr > 1 ?
				      lottery_winning(rq, pool, &lrq->point) : 0);
		if (static_branch_unlikely(&lottery_currencies))
			e = lottery_draw_within(rq, e);
		p = e->kind == LOTTERY_LOAN ? lottery_borrower(rq, e) :
			      container_of(e, struct task_struct, lottery.entry);
	} while (!p && pool->nr && (--left > 0 || list_empty(&lrq->lent)));
	lottery_stats_end(lrq, LOTTERY_DRAW, begin);
	if (!p) {
		if (pool->nr)
			lottery_start_retry(rq, LOTTERY_PACE);
		return NULL;
	}

	lrq->lotteries++;
	trace_lottery_draw(rq, p);
	if (e->kind == LOTTERY_LOAN)
		lottery_begin_lent_turn(rq, p);
	else
		lottery_begin_turn(rq, p);
	lottery_core_along(rq, false);
	return p;
}

/* A tick, whichever class runs; the rq is locked, its clock up to date. */
void lottery_tick(struct rq *rq)
{
	lottery_guest_tick(rq);
	lottery_weigh_some(rq);
	lottery_account_tick(rq);
}

/* Also called when a queued task leaves under a running one of another class. */
static void update_curr_lottery(struct rq *rq)
{
	struct task_struct *curr = lottery_curr(rq);
	s64 ran;

	if (!task_on_lottery(curr))
		return;

	ran = update_curr_common(rq);
	if (ran <= 0)
		return;
	curr->lottery.turn_left -= ran;
	lottery_ran(rq, ran);
	lottery_fair_waits(&rq->lottery, ran);
	lottery_core_ran(rq, curr, ran);
}

/* The clock may have to follow, as in cfs_rq_util_change(). */
static void lottery_update_load_avg(struct rq *rq, int running)
{
	if (update_lottery_rq_load_avg(rq_clock_pelt(rq), rq, running))
		cpufreq_update_util(rq, 0);
}

/*
 * The part of its turn that the holder has used, if it ends the turn now, and what its last
 * turn was too long. The rest of a turn that a loan has won is lost.
 */
static void lottery_give_back(struct rq *rq, struct task_struct *p)
{
	s64 ran = p->se.sum_exec_runtime - p->se.prev_sum_exec_runtime;
	s64 left = p->lottery.turn_left;

	if (left <= 0)
		return;
	if (!rq->lottery.lent_turn && static_branch_likely(&lottery_compensation))
		p->lottery.used = max3((s64)lottery_quantum(p) - left, ran, 1LL);
	p->lottery.turn_left = 0;
}

/* The value of a currency's tickets changes while they are here. */
static void lottery_count_again(struct rq *rq, struct task_struct *p)
{
	unsigned int worth = lottery_worth(p->lottery.crq, p->lottery.owned);

	if (worth == p->lottery.counted)
		return;
	lottery_leave(rq, p);
	rq->lottery.owned += (s64)worth - p->lottery.counted;
	p->lottery.counted = worth;
	lottery_join(rq, p);
}

/*
 * A task leaves the pool on DEQUEUE_SAVE, too: the class may be another one when it is
 * restored, even with the priority unchanged, and so may the tickets. But it comes back
 * before the next pick, so its turn goes on.
 */
static void enqueue_task_lottery(struct rq *rq, struct task_struct *p, int flags)
{
	struct lottery_rq *lrq = &rq->lottery;
	u64 begin;

	if (flags & ENQUEUE_WAKEUP)
		lottery_take_back(rq, p);
	lottery_waits_enqueue(rq, p, flags);

	begin = lottery_stats_begin();
	if (p->lottery.in_turn) {
		p->lottery.in_turn = false;
		if ((flags & ENQUEUE_RESTORE) && !lrq->holder)
			lrq->holder = p;
	}
	if (static_branch_unlikely(&lottery_currencies))
		p->lottery.crq = lottery_crq_of(rq, p);
	p->lottery.owned = lottery_task_tickets(p);
	p->lottery.entry.tickets = lottery_effective(p);
	lottery_put_in(rq, p->lottery.crq, &p->lottery.entry, p->lottery.owned);
	p->lottery.counted = lottery_worth(p->lottery.crq, p->lottery.owned);
	lrq->owned += p->lottery.counted;
	if (p->nr_cpus_allowed > 1)
		list_add_tail(&p->lottery.migratable, &lrq->migratable);
	if (!lrq->nr++)
		lottery_core_join(rq);
	lottery_join(rq, p);
	lottery_core_pass(rq, p);
	add_nr_running(rq, 1);

	lottery_stats_end(lrq, LOTTERY_ENQUEUE, begin);
	trace_lottery_enqueue(rq, p);
}

static bool dequeue_task_lottery(struct rq *rq, struct task_struct *p, int flags)
{
	struct lottery_rq *lrq = &rq->lottery;
	u64 begin;

	update_curr_lottery(rq);
	lottery_waits_dequeue(rq, p, flags);

	begin = lottery_stats_begin();
	if (lrq->holder == p) {
		lrq->holder = NULL;
		p->lottery.in_turn = flags & DEQUEUE_SAVE;
		if (flags & DEQUEUE_SLEEP)
			lottery_give_back(rq, p);
	}
	lottery_leave(rq, p);
	lottery_take_out_task(rq, p);
	lrq->owned -= p->lottery.counted;
	if (!list_empty(&p->lottery.migratable))
		list_del_init(&p->lottery.migratable);
	if (!--lrq->nr)
		lottery_emptied(rq);
	sub_nr_running(rq, 1);

	lottery_stats_end(lrq, LOTTERY_DEQUEUE, begin);
	trace_lottery_dequeue(rq, p);
	if (flags & DEQUEUE_SLEEP)
		lottery_lend(rq, p);
	return true;
}

/* The turn ends; the next draw is open to the yielder as well. */
static void yield_task_lottery(struct rq *rq)
{
	struct task_struct *curr = lottery_curr(rq);
	struct lottery_rq *lrq = &rq->lottery;

	update_rq_clock(rq);
	update_curr_lottery(rq);
	if (lrq->holder != curr)
		return;

	lrq->holder = NULL;
	if (lottery_entries(lrq) > 1) {
		lottery_give_back(rq, curr);
		lottery_set_parts(rq, curr->lottery.crq, &curr->lottery.entry,
				  lottery_effective(curr));
	}
}

/* A new task waits for the next draw, however many tickets it has. */
static void wakeup_preempt_lottery(struct rq *rq, struct task_struct *p, int flags)
{
}

/**
 * pick_task_lottery() - the task whose turn it is
 * @rq: a run queue, locked, and the clock up to date
 *
 * Real-time tasks that run at each tick hide the ticks from the holder, so the end of its
 * turn is tested here as well.
 *
 * Return: a lottery task, or a fair one that borrows tickets; NULL if there are none here,
 * or not yet, see lottery_draw().
 */
struct task_struct *pick_task_lottery(LOTTERY_PICK_ARGS)
{
	struct task_struct *holder = rq->lottery.holder;

	if (!rq->lottery.pool.nr)
		return NULL;
	if (lottery_guest_stays(rq))
		return rq->lottery.guest;
	if (lottery_fair_stays(rq))
		return NULL;
	if (holder && !lottery_turn_over(holder)) {
		WARN_ON_ONCE(!task_on_rq_queued(holder));
		return holder;
	}
	return lottery_draw(rq);
}

static void set_next_task_lottery(struct rq *rq, struct task_struct *p, bool first)
{
	struct lottery_rq *lrq = &rq->lottery;

	p->se.exec_start = rq_clock_task(rq);
	/* Otherwise it runs already, and changes. */
	if (first)
		lottery_wait_ends(rq, p);

	/*
	 * The running task holds the turn. It did not win it if core scheduling chose it
	 * for its cookie: then the turn is new. If it runs already and is new in the
	 * class, it has the rest of its last turn, and the next tick draws. It is not
	 * queued if it has just blocked, and its parameters change while balancing has
	 * dropped the rq lock: then it must not be picked.
	 */
	if (lrq->holder != p && task_on_rq_queued(p)) {
		lrq->holder = p;
		lrq->lent_turn = false;
		if (first) {
			lottery_begin_turn(rq, p);
			lottery_core_along(rq, true);
		}
	}

	if (first && !task_on_lottery(lottery_curr(rq)))
		lottery_update_load_avg(rq, 0);
}

static void put_prev_task_lottery(struct rq *rq, struct task_struct *p,
				  struct task_struct *next)
{
	update_curr_lottery(rq);
	if (next && task_on_rq_queued(p))
		lottery_wait_begins(rq, p);
	/* From one lottery task to the next the class runs on. */
	if (!next || !task_on_lottery(next))
		lottery_update_load_avg(rq, 1);

	/* The previous task need not wait behind a real-time task. */
	if (next && (next->sched_class == &rt_sched_class ||
		     next->sched_class == &dl_sched_class))
		lottery_displaced(rq);
}

static void task_tick_lottery(struct rq *rq, struct task_struct *p, int queued)
{
	struct lottery_rq *lrq = &rq->lottery;

	/*
	 * The remote tick of a CPU without ticks can come while balancing has dropped the rq
	 * lock for a task that has just blocked: that one is given no turn.
	 */
	if (!task_on_rq_queued(p))
		return;

	update_curr_lottery(rq);
	if (static_branch_unlikely(&lottery_currencies))
		lottery_count_again(rq, p);
	if (!queued)
		lottery_update_load_avg(rq, 1);

	/* An hrtick comes on time; a tick may be half of one off. */
	if (queued ? p->lottery.turn_left > 0 : !lottery_turn_over(p))
		return;

	if (lottery_core_turn_over(rq, p) || lottery_fair_is_due(rq)) {
		lrq->holder = NULL;
		resched_curr(rq);
	} else if (lottery_entries(lrq) > 1) {
		lrq->holder = lottery_grant(rq);
		if (lrq->holder != p)
			resched_curr(rq);
	} else {
		lottery_begin_turn(rq, p);
	}
}

/* Its turn must not be found when it comes back to the class. */
static void switched_from_lottery(struct rq *rq, struct task_struct *p)
{
	p->lottery.in_turn = false;
	lottery_take_back(rq, p);
}

static void switched_to_lottery(struct rq *rq, struct task_struct *p)
{
	if (task_current(rq, p)) {
		/* Its old class no longer counts it as running, ours does. */
		lottery_update_load_avg(rq, 0);
		/* It may have been above tasks that now come first. */
		resched_curr(rq);
	} else if (task_on_rq_queued(p)) {
		wakeup_preempt(rq, p, 0);
	} else if (!p->on_rq && READ_ONCE(p->__state) != TASK_WAKING) {
		/* It has blocked before, and has been boosted since. */
		lottery_lend(rq, p);
	}
}

/* Nice values are tickets, and tickets matter in the next draw. */
static void prio_changed_lottery(LOTTERY_PRIO_ARGS)
{
	lottery_lend_again(rq, p);
}

#ifdef CONFIG_FAIR_GROUP_SCHED
/* Its group is another one, and maybe its currency. The clock is up to date. */
static void task_change_group_lottery(struct task_struct *p)
{
	set_task_rq(p, task_cpu(p));
	lottery_lend_again(task_rq(p), p);
}
#endif

static unsigned int get_rr_interval_lottery(struct rq *rq, struct task_struct *p)
{
	return DIV64_U64_ROUND_UP(lottery_quantum(p), TICK_NSEC);
}

#ifdef CONFIG_SMP
/*
 * Without it, prev_balance() would go on to the fair class, whose newidle balancing drops
 * the rq lock under a CPU that has lottery work.
 */
static int balance_lottery(LOTTERY_BALANCE_ARGS)
{
	lottery_balance(rq, rf);

	return sched_stop_runnable(rq) || sched_dl_runnable(rq) ||
	       sched_rt_runnable(rq) || rq->lottery.pool.nr;
}
#endif

DEFINE_SCHED_CLASS(lottery) = {
	.enqueue_task		= enqueue_task_lottery,
	.dequeue_task		= dequeue_task_lottery,
	.yield_task		= yield_task_lottery,

	.wakeup_preempt		= wakeup_preempt_lottery,

	.pick_task		= pick_task_lottery,
	.put_prev_task		= put_prev_task_lottery,
	.set_next_task		= set_next_task_lottery,

#ifdef CONFIG_SMP
	.balance		= balance_lottery,
	.select_task_rq		= select_task_rq_lottery,
	.set_cpus_allowed	= set_cpus_allowed_common,
	.rq_online		= rq_online_lottery,
	.rq_offline		= rq_offline_lottery,
#endif

	.task_tick		= task_tick_lottery,

	.get_rr_interval	= get_rr_interval_lottery,

	.prio_changed		= prio_changed_lottery,
	.switched_from		= switched_from_lottery,
	.switched_to		= switched_to_lottery,
	.update_curr		= update_curr_lottery,

#ifdef CONFIG_FAIR_GROUP_SCHED
	.task_change_group	= task_change_group_lottery,
#endif

#ifdef CONFIG_UCLAMP_TASK
	.uclamp_enabled		= 1,
#endif
};

static int __init lottery_seed(void)
{
	int cpu;

	prandom_init_once(&lottery_rnd);
	for_each_possible_cpu(cpu)
		cpu_rq(cpu)->lottery.point = get_random_u64();
	return 0;
}
early_initcall(lottery_seed);

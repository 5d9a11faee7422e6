/* SPDX-License-Identifier: GPL-2.0-only */
/* The map of the lottery class. kernel/sched/sched.h includes it, before it defines struct rq. */
#ifndef _SCHED_LOTTERY_H
#define _SCHED_LOTTERY_H

#include <linux/hrtimer_types.h>
#include <linux/irq_work_types.h>
#include <linux/jump_label.h>
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/sched/prio.h>
#include <linux/static_call.h>
#include <linux/time64.h>
#include <linux/types.h>

#include <linux/lottery/pool.h>

struct cftype;
struct cgroup_subsys_state;
struct pid_namespace;
struct rnd_state;
struct rq;
struct rq_flags;
struct sched_attr;
struct seq_file;
struct task_group;

/* The tickets that one task can be given; a sum over all pids fits 2^42. */
#define LOTTERY_TICKETS_MAX	1000000U
/* The quantum that a task can be given [ns]; a turn ends at a tick. */
#define LOTTERY_QUANTUM_MIN	(100 * NSEC_PER_USEC)
#define LOTTERY_QUANTUM_MAX	NSEC_PER_SEC

/* The operations that are timed, see lottery_stats_begin(). */
enum lottery_op {
	LOTTERY_ENQUEUE,
	LOTTERY_DEQUEUE,
	LOTTERY_DRAW,
	LOTTERY_NR_OPS,
};

/*
 * How often an operation ran on one CPU since the statistics were switched on, and for how
 * long in all.
 */
struct lottery_op_stats {
	u64 count;
	u64 ns;
};

/**
 * struct lottery_account - the time of a CPU's tasks, against their due
 * @clock: up to when it is accounted [ns of rq_clock()]
 * @ran: run time of lottery tasks since then [ns]
 * @behind: the lag of each ticket that was always here; wraps [ns <<
 *	LOTTERY_LAG_SHIFT]
 * @carried: sum over the tasks of what they brought along, less what @behind was for
 *	their tickets at the time; wraps [ns << LOTTERY_LAG_SHIFT]
 * @lag: the lag of all of them together, as of @clock [ns]; read without the lock
 * @average: what a CPU with its whole capacity has to hold for each task to get its
 *	due [tickets << LOTTERY_LOAD_SHIFT]; 0 if it is not known
 * @blocked: ticks in a row at which a real-time task ran and no lottery task had
 *	since the tick before; read without the lock
 * @late: a task here lacks LOTTERY_LAG_LATE or more
 * @swaps: the CPU's stopper is to hand a late task on
 */
struct lottery_account {
	u64 clock;
	u64 ran;
	u64 behind;
	u64 carried;
	s64 lag;
	u64 average;
	unsigned int blocked;
	bool late;
	bool swaps;
};

/**
 * struct lottery_rq - the lottery of one CPU
 * @pool: the tickets of all queued tasks, that of the running one included, and the
 *	loans to tasks that are queued here; but one entry for each currency
 * @nr: queued tasks of the class
 * @inner: how many entries the pools of currencies have beyond one each, see
 *	lottery_entries()
 * @owned: their tickets, whole ones of the base currency, as counted; the pool has
 *	parts of tickets, and compensation in it
 * @holder: the task that holds the current turn, or NULL if the next pick must draw.
 *	It is queued. It may be preempted and come back within its turn; it need not be
 *	rq->curr.
 * @migratable: the queued tasks that may run on another CPU, oldest first
 * @guest: a fair task that has the turn, or NULL. Only a pointer to compare with
 *	that of the running task: when it does not run it may be anywhere.
 * @guest_since: up to when its turn is accounted [ns of rq_clock_task()]
 * @guest_left: run time that is left of its turn [ns]
 * @lent_turn: the turn was won by a loan
 * @fair_turn: fair tasks have a turn, whichever of them
 * @fair_since: when it began [ns of rq_clock_task()]
 * @fair_wait: the run time of the class until their next turn [ns]
 * @lent: the loans that are in a pool here, see loan.c
 * @currencies: those that have tasks or loans here, see currency.c
 * @mail: loans that others have sent
 * @later: loans to decide about when @retry fires
 * @retry: a timer that is on while @later is not empty, and while @paced; on any CPU,
 *	since this one may be idle, without ticks, or offline
 * @work: reads the mail
 * @closed: the CPU is not in a root domain; it gets no mail
 * @paced: there is more mail, which is read when @retry fires
 * @lotteries: draws since boot
 * @point: the position of the low-variance draw, of 2^64
 * @next_balance: when to compare ticket sums at a tick again [jiffies]
 * @next_pull: when an empty CPU may try again after an empty pull [jiffies]
 * @account: lag of this CPU's tasks, see balance.c
 * @served: the CPU's time on its core by winning, see core_sched.c
 * @along: the holder has not won, it runs along with another thread's winner
 * @pass: the pass of the task that ran last, see core_sched.c
 * @stats: cost of each operation, kept while lottery_stats_enabled
 *
 * All of it is protected by the rq lock, @lent, @mail, @later, @closed and @paced by
 * lottery_loans_lock. The sums and numbers in @pool, @owned, @lotteries and @stats are
 * also read without it, as hints or for people.
 */
struct lottery_rq {
	struct lottery_pool pool;
	u64 owned;
	unsigned int nr;
	unsigned int inner;
	bool lent_turn;
	bool fair_turn;
	bool closed;
	bool paced;
	struct task_struct *holder;
	struct task_struct *guest;
	struct list_head migratable;
	u64 guest_since;
	s64 guest_left;
	u64 fair_since;
	s64 fair_wait;
	struct list_head lent;
	struct list_head currencies;
	struct list_head mail;
	struct list_head later;
	struct hrtimer retry;
	struct irq_work work;
	u64 lotteries;
	u64 point;
#ifdef CONFIG_SMP
	unsigned long next_balance;
	unsigned long next_pull;
	struct lottery_account account;
#endif
#ifdef CONFIG_SCHED_CORE
	u64 served;
	u64 pass;
	bool along;
#endif
	struct lottery_op_stats stats[LOTTERY_NR_OPS];
};

/**
 * lottery_entries() - tasks and loans, in the pool of a CPU and in those of currencies
 * @lrq: the lottery of the CPU
 *
 * Each currency is an entry itself. The result is 0 if and only if @pool is empty.
 */
static inline unsigned int lottery_entries(const struct lottery_rq *lrq)
{
	return READ_ONCE(lrq->pool.nr) + lrq->inner;
}

/* pool.c APIs: */
extern const struct lottery_pool_ops *lottery_pool_ops;

DECLARE_STATIC_CALL(lottery_pool_insert, lottery_list_insert);
DECLARE_STATIC_CALL(lottery_pool_remove, lottery_list_remove);
DECLARE_STATIC_CALL(lottery_pool_reweight, lottery_list_reweight);
DECLARE_STATIC_CALL(lottery_pool_draw, lottery_list_draw);

/* Put an entry with tickets into the pool of a run queue, which is locked. */
static __always_inline void
lottery_pool_insert(struct lottery_pool *pool, struct lottery_entry *e)
{
	static_call(lottery_pool_insert)(pool, e);
}

/* Take an entry out of the pool of a run queue, which is locked. */
static __always_inline void
lottery_pool_remove(struct lottery_pool *pool, struct lottery_entry *e)
{
	static_call(lottery_pool_remove)(pool, e);
}

/* Change the tickets of an entry of a pool to @tickets, at least one; the run queue is locked. */
static __always_inline void
lottery_pool_reweight(struct lottery_pool *pool, struct lottery_entry *e,
		      u64 tickets)
{
	static_call(lottery_pool_reweight)(pool, e, tickets);
}

/*
 * The owner of number @winning, below pool->tickets; the run queue is locked, the pool not
 * empty.
 */
static __always_inline struct lottery_entry *
lottery_pool_draw(const struct lottery_pool *pool, u64 winning)
{
	return static_call(lottery_pool_draw)(pool, winning);
}

/* reserve.c APIs: */
int lottery_reserve(void);
void lottery_unreserve(void);

/* class.c APIs: */
void init_lottery_rq(struct lottery_rq *lrq);
void init_lottery_task(struct task_struct *p);
u64 lottery_random_below(struct rnd_state *rnd, u64 total);

/* attr.c APIs: */
bool lottery_may_set(struct task_struct *p, const struct sched_attr *attr);
int lottery_check_attr(int policy, const struct sched_attr *attr);
bool lottery_attr_changed(struct task_struct *p, const struct sched_attr *attr);
void lottery_set_attr(struct task_struct *p, const struct sched_attr *attr);
void lottery_get_attr(struct task_struct *p, struct sched_attr *attr);
void lottery_legacy_attr(struct task_struct *p, struct sched_attr *attr);

/* currency_group.c APIs: */
#ifdef CONFIG_CGROUP_SCHED
void lottery_online_group(struct task_group *tg);
void lottery_free_group(struct task_group *tg);
u64 lottery_group_read_tickets(struct cgroup_subsys_state *css, struct cftype *cft);
int lottery_group_write_tickets(struct cgroup_subsys_state *css, struct cftype *cft,
				u64 tickets);
int lottery_group_show_stat(struct seq_file *m, void *v);
#endif

/* loan.c APIs: */
void __lottery_unpark(struct rq *rq, struct task_struct *p);
void __lottery_dead(struct task_struct *p);

/**
 * lottery_unpark() - a task is queued: wake the loans that slept with it
 * @rq: its run queue, locked
 * @p: the task, of any class; its pi_lock is held if it slept
 */
static inline void lottery_unpark(struct rq *rq, struct task_struct *p)
{
	if (unlikely(!list_empty(&p->lottery.parked)))
		__lottery_unpark(rq, p);
}

/**
 * lottery_dead() - a task will never run again: end the loans to it
 * @p: the task, of any class, in TASK_DEAD
 */
static inline void lottery_dead(struct task_struct *p)
{
	if (unlikely(!list_empty(&p->lottery.parked)))
		__lottery_dead(p);
}

/* core_sched.c APIs: */
bool lottery_prio_less(const struct task_struct *a, const struct task_struct *b);

/* loan_api.c APIs: */
void lottery_show_task(struct task_struct *p, struct pid_namespace *ns, struct seq_file *m);

/* stats.c APIs: */
DECLARE_STATIC_KEY_FALSE(lottery_stats_enabled);
extern unsigned int lottery_stats_clock_ns;

/**
 * lottery_stats_begin() - start to time an operation
 *
 * Interrupts are off, as they are under every rq lock, so the cheapest form of the clock
 * is enough.
 *
 * Return: what to pass to lottery_stats_end(): the time [ns], or 0 if statistics are off.
 */
static __always_inline u64 lottery_stats_begin(void)
{
	if (static_branch_unlikely(&lottery_stats_enabled))
		return sched_clock_noinstr();
	return 0;
}

/**
 * lottery_stats_end() - account an operation
 * @lrq: the lottery it was done on, with its rq locked
 * @op: which one
 * @begin: what lottery_stats_begin() returned
 *
 * The cost of the clock itself is not accounted.
 */
static __always_inline void
lottery_stats_end(struct lottery_rq *lrq, enum lottery_op op, u64 begin)
{
	u64 ns;

	if (static_branch_unlikely(&lottery_stats_enabled) && begin) {
		ns = sched_clock_noinstr() - begin;
		lrq->stats[op].ns += ns - min_t(u64, ns, lottery_stats_clock_ns);
		lrq->stats[op].count++;
	}
}

#endif /* _SCHED_LOTTERY_H */

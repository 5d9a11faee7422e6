// SPDX-License-Identifier: GPL-2.0-only
/*
 * How currencies begin and end; and a process as a currency: prctl(PR_LOTTERY,
 * PR_LOTTERY_CURRENCY).
 *
 * All threads of the process are in it, and all processes that it forks from then on, or a
 * fork would lead out of it. One of these may make another one within it. It is backed in
 * the currency of the cgroup that it was made in. A task that moves to a cgroup with
 * another currency has tickets of that one until it moves back.
 *
 * Locking: lottery_process_mutex protects changes of @lottery of struct signal_struct and
 * the backing of these currencies.
 */

#include <linux/capability.h>
#include <linux/cleanup.h>
#include <linux/err.h>
#include <linux/mmu_context.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/pid.h>
#include <linux/prctl.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "loan.h"

/* How many a process can be in, within each other. */
#define LOTTERY_PROCESS_DEPTH	8

static DEFINE_MUTEX(lottery_process_mutex);

/* The task may be in another currency. */
void lottery_requeue(struct task_struct *p)
{
	CLASS(task_rq_lock, rq_guard)(p);
	struct rq *rq = rq_guard.rq;
	bool running = task_current(rq, p);

	update_rq_clock(rq);
	lottery_lend_again(rq, p);
	if (!task_on_lottery(p) || !task_on_rq_queued(p) ||
	    p->lottery.crq == lottery_crq_of(rq, p))
		return;

	dequeue_task(rq, p, DEQUEUE_SAVE | DEQUEUE_NOCLOCK);
	if (running)
		put_prev_task(rq, p);
	enqueue_task(rq, p, ENQUEUE_RESTORE | ENQUEUE_NOCLOCK);
	if (running)
		set_next_task(rq, p);
}

static void lottery_free_currency(struct work_struct *work)
{
	struct lottery_currency *c = container_of(to_rcu_work(work),
						  struct lottery_currency, free);
	int cpu;

	for_each_possible_cpu(cpu) {
		struct rq *rq = cpu_rq(cpu);

		guard(rq_lock_irqsave)(rq);
		update_rq_clock(rq);
		lottery_evict_loans(rq, &per_cpu_ptr(c->crq, cpu)->pool);
	}
	WARN_ON_ONCE(atomic64_read(&c->active));

	lottery_put_currency(c->home);
	lottery_put_currency(c->around);
	put_pid(c->owner);
	free_percpu(c->crq);
	kfree(c);
	lottery_unreserve();
}

/**
 * lottery_get_currency() - keep a currency
 * @c: found under RCU, or with a reference elsewhere; or NULL
 *
 * Return: @c with one more reference, or NULL if it had none left.
 */
struct lottery_currency *lottery_get_currency(struct lottery_currency *c)
{
	return c && refcount_inc_not_zero(&c->refs) ? c : NULL;
}

/* Drop a reference; @c may be NULL. */
void lottery_put_currency(struct lottery_currency *c)
{
	if (c && refcount_dec_and_test(&c->refs))
		queue_rcu_work(system_unbound_wq, &c->free);
}

/**
 * lottery_make_currency() - a currency without members
 * @around: what backs it, which the caller keeps; NULL for the base currency
 * @tickets: how many of that
 *
 * Return: with one reference, or ERR_PTR(-ENOMEM).
 */
struct lottery_currency *lottery_make_currency(struct lottery_currency *around,
					       unsigned int tickets)
{
	struct lottery_currency *c;
	int cpu, err;

	/* For its entry in the pool of a CPU. */
	err = lottery_reserve();
	if (err)
		return ERR_PTR(err);
	c = kzalloc(sizeof(*c), GFP_KERNEL_ACCOUNT);
	if (c)
		c->crq = alloc_percpu_gfp(struct lottery_crq, GFP_KERNEL_ACCOUNT);
	if (!c || !c->crq) {
		kfree(c);
		lottery_unreserve();
		return ERR_PTR(-ENOMEM);
	}

	for_each_possible_cpu(cpu) {
		struct lottery_crq *crq = per_cpu_ptr(c->crq, cpu);

		lottery_pool_rbtree.init(&crq->pool);
		crq->entry.kind = LOTTERY_CURRENCY;
		crq->currency = c;
		crq->point = get_random_u64();
		INIT_LIST_HEAD(&crq->on_cpu);
	}
	c->around = lottery_get_currency(around);
	c->inner = around;
	c->tickets = tickets;
	refcount_set(&c->refs, 1);
	INIT_RCU_WORK(&c->free, lottery_free_currency);
	static_branch_enable(&lottery_currencies);
	return c;
}

/* The currency of the caller's cgroup, with a reference; NULL for the base currency. */
static struct lottery_currency *lottery_get_home(void)
{
	struct lottery_currency *home = NULL;

#ifdef CONFIG_CGROUP_SCHED
	guard(rcu)();
	/* While it is moved out of a group, that may go away. */
	do {
		home = READ_ONCE(READ_ONCE(current->sched_task_group)->lottery_in);
	} while (home && !lottery_get_currency(home));
#endif
	return home;
}

/*
 * Base tickets need a privilege, unless they are the caller's own; then it may not keep
 * them elsewhere as well.
 */
static bool lottery_may_back(const struct lottery_currency *around, unsigned int tickets,
			     unsigned int has)
{
	return around || tickets <= has || capable(CAP_SYS_NICE);
}

/* What the caller can back a currency with without a privilege [tickets]. */
static unsigned int lottery_own_tickets(void)
{
	if (!task_has_lottery_policy(current) || get_nr_threads(current) > 1)
		return 0;
	guard(rcu)();
	return lottery_task_tickets(current);
}

/* @was has been checked, @home has a reference that this call takes over. */
static struct lottery_currency *
lottery_make_within(struct lottery_currency *was, struct lottery_currency *home,
		    unsigned int tickets)
{
	bool nested = was && was->home == home;
	struct lottery_currency *c;

	if (nested && was->depth == LOTTERY_PROCESS_DEPTH)
		return ERR_PTR(-ENOSPC);
	if (!lottery_may_back(nested ? was : home, tickets, lottery_own_tickets()))
		return ERR_PTR(-EPERM);
	c = lottery_make_currency(nested ? was : home, tickets);
	if (IS_ERR(c))
		return c;

	c->depth = nested ? was->depth + 1 : 1;
	c->home = home;
	c->owner = get_pid(task_tgid(current));
	return c;
}

/* The caller's process is in @c from now on, NULL for none, which has its reference. */
static void lottery_enter(struct lottery_currency *c)
{
	struct lottery_currency *was = current->signal->lottery;
	struct task_struct *thread;

	WRITE_ONCE(current->signal->lottery, c);
	scoped_guard(rcu) {
		for_each_thread(current, thread)
			lottery_requeue(thread);
	}
	lottery_put_currency(was);
}

static int lottery_enter_new(unsigned int tickets)
{
	struct lottery_currency *home = lottery_get_home(), *c;

	c = lottery_make_within(current->signal->lottery, home, tickets);
	if (IS_ERR(c)) {
		lottery_put_currency(home);
		return PTR_ERR(c);
	}
	lottery_enter(c);
	return 0;
}

/**
 * lottery_process_currency() - make the caller's process a currency
 * @tickets: its backing in the currency around; 0 to leave all currencies of processes
 *
 * A second call changes the backing.
 *
 * Return: 0, or -ERANGE for more than LOTTERY_TICKETS_MAX; -EPERM if the currency around is
 * the base currency, @tickets are more than the caller has or it has several threads, or
 * for 0, and not CAP_SYS_NICE; -ENOSPC if it is within too many; -ENOMEM.
 */
int lottery_process_currency(unsigned long tickets)
{
	struct lottery_currency *c;

	if (tickets > LOTTERY_TICKETS_MAX)
		return -ERANGE;
	if (!tickets && !capable(CAP_SYS_NICE))
		return -EPERM;

	guard(mutex)(&lottery_process_mutex);
	if (!tickets) {
		lottery_enter(NULL);
		return 0;
	}
	c = current->signal->lottery;
	if (!c || c->owner != task_tgid(current))
		return lottery_enter_new(tickets);

	if (!lottery_may_back(c->around, tickets, c->tickets))
		return -EPERM;
	lottery_change_backing(c, tickets);
	return 0;
}

/**
 * lottery_see_currency() - the currency of a process
 * @p: a task of it, which the caller keeps
 * @ns: whose ids to tell
 * @seen: stores what it is, zeros without one
 */
void lottery_see_currency(const struct task_struct *p, struct pid_namespace *ns,
			  struct prctl_lottery_currency *seen)
{
	const struct lottery_currency *c;

	*seen = (struct prctl_lottery_currency) {};
	guard(rcu)();
	c = READ_ONCE(p->signal->lottery);
	if (!c)
		return;
	seen->pid = pid_task(c->owner, PIDTYPE_TGID) ? pid_nr_ns(c->owner, ns) : 0;
	seen->tickets = READ_ONCE(c->tickets);
	seen->flags = READ_ONCE(c->inner) ? PR_LOTTERY_INNER : 0;
}

/* A new process, whose threads share @sig, is in the currency of its parent. */
void sched_lottery_fork_signal(struct signal_struct *sig)
{
	/* Another thread of the parent may leave it just now. */
	guard(rcu)();
	do {
		sig->lottery = READ_ONCE(current->signal->lottery);
	} while (sig->lottery && !lottery_get_currency(sig->lottery));
}

/* A process, whose threads shared @sig, is gone. */
void sched_lottery_free_signal(struct signal_struct *sig)
{
	lottery_put_currency(sig->lottery);
}

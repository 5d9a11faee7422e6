// SPDX-License-Identifier: GPL-2.0-only
/*
 * A mutex that its waiters win by lot, see include/mutex.h.
 *
 * The owner that releases it makes the winner the owner: it is never free in between, or
 * the running task would take it, mostly the one that has released it, and the draw would
 * decide nothing.
 *
 * A waiter takes part with the worth of its tickets when its wait began: a task of the
 * fair class with the weight of its nice value.
 *
 * Locking: @lock of the mutex, a leaf. @waits_on of struct sched_lottery_entity changes
 * under the pi_lock of its task: while that is held, the mutex that it leads to is in
 * memory. A waiter is on the stack of its task, until @won is seen. The work under @lock
 * is logarithmic in the waiters.
 */

#include <linux/export.h>
#include <linux/kernel.h>
#include <linux/lockdep.h>
#include <linux/math64.h>
#include <linux/mmu_context.h>
#include <linux/random.h>
#include <linux/sched/debug.h>
#include <linux/sched/signal.h>
#include <linux/sched/wake_q.h>
#include <linux/spinlock.h>

#include <linux/lottery/mutex.h>

#include "class.h"

struct lottery_mutex_waiter {
	struct lottery_entry entry;
	struct task_struct *task;
	bool won;
};

/* See lottery_mutex_init(). */
void __lottery_mutex_init(struct lottery_mutex *m, const char *name,
			  struct lock_class_key *key)
{
	raw_spin_lock_init(&m->lock);
	m->owner = NULL;
	m->waiters.tickets = 0;
	m->waiters.nr = 0;
	lottery_pool_rbtree.init(&m->waiters);
#ifdef CONFIG_DEBUG_LOCK_ALLOC
	lockdep_init_map_wait(&m->dep_map, name, key, 0, LD_WAIT_SLEEP);
#endif
}
EXPORT_SYMBOL_GPL(__lottery_mutex_init);

static void lottery_set_waits_on(struct lottery_mutex *m)
{
	raw_spin_lock_irq(&current->pi_lock);
	WRITE_ONCE(current->lottery.waits_on, m);
	raw_spin_unlock_irq(&current->pi_lock);
}

static unsigned int lottery_tickets_to_wait(void)
{
	guard(rcu)();
	return lottery_likely_worth(current);
}

/* Take it, or begin to wait. Returns whether it has been taken. */
static bool lottery_mutex_join(struct lottery_mutex *m, struct lottery_mutex_waiter *w)
{
	bool free;

	raw_spin_lock_irq(&m->lock);
	free = !m->owner;
	if (free)
		WRITE_ONCE(m->owner, current);
	else
		lottery_rbtree_insert(&m->waiters, &w->entry);
	raw_spin_unlock_irq(&m->lock);
	return free;
}

/* Give up waiting. Returns whether it has been won just before. */
static bool lottery_mutex_leave(struct lottery_mutex *m, struct lottery_mutex_waiter *w)
{
	bool won;

	raw_spin_lock_irq(&m->lock);
	won = w->won;
	if (!won)
		lottery_rbtree_remove(&m->waiters, &w->entry);
	raw_spin_unlock_irq(&m->lock);
	return won;
}

static int lottery_mutex_wait(struct lottery_mutex *m, struct lottery_mutex_waiter *w,
			      unsigned int state)
{
	int err = 0;

	for (;;) {
		set_current_state(state);
		/* Pairs with lottery_mutex_draw(): the stores of the last owner are visible. */
		if (smp_load_acquire(&w->won))
			break;
		if (signal_pending_state(state, current)) {
			err = lottery_mutex_leave(m, w) ? 0 : -EINTR;
			break;
		}
		schedule();
	}
	__set_current_state(TASK_RUNNING);
	return err;
}

static int lottery_mutex_take(struct lottery_mutex *m, unsigned int state)
{
	struct lottery_mutex_waiter w = {
		.entry.tickets = lottery_tickets_to_wait(),
		.task = current,
	};
	int err;

	if (lottery_mutex_join(m, &w))
		return 0;
	lottery_set_waits_on(m);
	err = lottery_mutex_wait(m, &w, state);
	lottery_set_waits_on(NULL);
	return err;
}

/**
 * lottery_mutex_lock() - take a mutex, however long that takes
 * @m: the mutex
 */
void __sched lottery_mutex_lock(struct lottery_mutex *m)
{
	might_sleep();
	mutex_acquire(&m->dep_map, 0, 0, _RET_IP_);
	lottery_mutex_take(m, TASK_UNINTERRUPTIBLE);
}
EXPORT_SYMBOL_GPL(lottery_mutex_lock);

/**
 * lottery_mutex_lock_killable() - take a mutex, unless the caller is killed
 * @m: the mutex
 *
 * Return: 0, or -EINTR; then the caller does not have it.
 */
int __sched lottery_mutex_lock_killable(struct lottery_mutex *m)
{
	int err;

	might_sleep();
	mutex_acquire(&m->dep_map, 0, 0, _RET_IP_);
	err = lottery_mutex_take(m, TASK_KILLABLE);
	if (err)
		mutex_release(&m->dep_map, _RET_IP_);
	return err;
}
EXPORT_SYMBOL_GPL(lottery_mutex_lock_killable);

/**
 * lottery_mutex_trylock() - take a mutex if it is free
 * @m: the mutex
 *
 * Return: whether it was free.
 */
bool lottery_mutex_trylock(struct lottery_mutex *m)
{
	bool free;

	raw_spin_lock_irq(&m->lock);
	free = !m->owner;
	if (free)
		WRITE_ONCE(m->owner, current);
	raw_spin_unlock_irq(&m->lock);
	if (free)
		mutex_acquire(&m->dep_map, 0, 1, _RET_IP_);
	return free;
}
EXPORT_SYMBOL_GPL(lottery_mutex_trylock);

/* The next owner, off the pool and about to be woken; NULL without waiters. */
static struct task_struct *
lottery_mutex_draw(struct lottery_mutex *m, u64 random, struct wake_q_head *wake)
{
	struct lottery_mutex_waiter *w;
	struct lottery_entry *e;
	struct task_struct *winner;

	if (!m->waiters.nr)
		return NULL;
	/* Up to 2^42 tickets: the bias is below 2^-22. */
	e = lottery_rbtree_draw(&m->waiters,
				mul_u64_u64_shr(random, m->waiters.tickets, 64));
	lottery_rbtree_remove(&m->waiters, e);
	w = container_of(e, struct lottery_mutex_waiter, entry);
	winner = w->task;
	wake_q_add(wake, winner);
	/* Pairs with lottery_mutex_wait(). From here on the waiter may be gone. */
	smp_store_release(&w->won, true);
	return winner;
}

/**
 * lottery_mutex_unlock() - release a mutex and draw its next owner
 * @m: the mutex, which the caller has taken
 */
void lottery_mutex_unlock(struct lottery_mutex *m)
{
	/* Not under the lock, where it must not sleep. */
	u64 random = get_random_u64();
	DEFINE_WAKE_Q(wake);

	mutex_release(&m->dep_map, _RET_IP_);
	raw_spin_lock_irq(&m->lock);
	WARN_ON_ONCE(m->owner != current);
	WRITE_ONCE(m->owner, lottery_mutex_draw(m, random, &wake));
	raw_spin_unlock_irq(&m->lock);
	wake_up_q(&wake);
}
EXPORT_SYMBOL_GPL(lottery_mutex_unlock);

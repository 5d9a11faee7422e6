// SPDX-License-Identifier: GPL-2.0-only
/*
 * Places for tasks in the pools, reserved where sleeping is allowed: a task is queued
 * under an rq lock, and its pool must have a place for it then.
 *
 * A place is reserved for each task_struct whose policy is SCHED_LOTTERY, from the fork or
 * the change of policy on until the change back or until the task_struct is freed. As each
 * of these tasks may be queued on any CPU, each possible CPU's pool has room for all of
 * them. A loan can still be in a pool when its lender is queued there, so a place has room
 * for both. A loan that a task has named, see loan_api.c, has a place, too, and so has a
 * currency.
 *
 * Room is doubled when it is used up, so that it happens rarely, and is halved a while
 * after three quarters of it are free. It is charged to no cgroup: the task for which it
 * is doubled would be charged for those of all others.
 *
 * sched_fork() reserves; sched_cancel_fork() gives back if the fork fails later.
 * __sched_setscheduler() reserves before it takes a lock if the new policy is
 * SCHED_LOTTERY; when it changes the policy, under the rq lock, it exchanges the place for
 * that of the old policy, if there is one; and afterwards it gives back the remaining one.
 * So two calls for one task may race: each place follows the policy that is in force.
 * __put_task_struct() gives back the last one: even a dead task can get another policy
 * while there is a reference to it.
 */

#include <linux/atomic.h>
#include <linux/cleanup.h>
#include <linux/cpumask.h>
#include <linux/mmu_context.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/topology.h>
#include <linux/workqueue.h>

#include "loan.h"

/* Places of a task in a pool: one for itself, one for what it lends meanwhile. */
#define LOTTERY_PLACES	2

/* Room that is free for so long is given back. */
#define LOTTERY_SHRINK_AFTER	HZ

/* The entries whose room is taken off a pool under its lock at a time. */
#define LOTTERY_WITHDRAW	256

/* Serialises changes of the room; taken before rq locks, one at a time. */
static DEFINE_MUTEX(lottery_room_mutex);

/*
 * How many tasks each pool has room for; 0 before the first one. Written under
 * lottery_room_mutex, after the pools have got the room.
 */
static unsigned int lottery_room;

/* How many have a place; at most lottery_room, but while that is tried to be halved. */
static atomic_t lottery_reserved = ATOMIC_INIT(0);

/* What one growth has allocated; under lottery_room_mutex, otherwise empty. */
static DEFINE_PER_CPU(struct lottery_room, lottery_new_room);

static bool lottery_reserve_fast(void)
{
	unsigned int room;
	int reserved;

	/* lottery_shrink() waits for those that know the old room. */
	guard(rcu)();
	/* Pairs with lottery_room_grow(): the room is visible. */
	room = smp_load_acquire(&lottery_room);
	reserved = atomic_read(&lottery_reserved);
	do {
		if (reserved >= room)
			return false;
	} while (!atomic_try_cmpxchg(&lottery_reserved, &reserved, reserved + 1));

	return true;
}

/* All or nothing: room for @to tasks, in addition to what is in the pools. */
static int lottery_prepare(unsigned int to)
{
	int cpu, err = 0;

	for_each_possible_cpu(cpu) {
		err = lottery_pool_ops->prepare(per_cpu_ptr(&lottery_new_room, cpu),
						LOTTERY_PLACES * lottery_room,
						LOTTERY_PLACES * to, cpu_to_node(cpu));
		if (err)
			break;
		cond_resched();
	}
	if (!err)
		return 0;

	for_each_possible_cpu(cpu)
		lottery_pool_ops->discard(per_cpu_ptr(&lottery_new_room, cpu));
	return err;
}

static void lottery_publish(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct rq *rq = cpu_rq(cpu);

		guard(rq_lock_irqsave)(rq);
		lottery_pool_ops->publish(&rq->lottery.pool,
					  per_cpu_ptr(&lottery_new_room, cpu));
	}
}

static int lottery_room_grow(void)
{
	unsigned int room = lottery_pool_ops->room / LOTTERY_PLACES;
	int err;

	lockdep_assert_held(&lottery_room_mutex);

	if (lottery_room) {
		room = 2 * lottery_room;
		err = lottery_prepare(room);
		if (err)
			return err;
		lottery_publish();
	}

	/* Pairs with lottery_reserve_fast(). */
	smp_store_release(&lottery_room, room);
	return 0;
}

/**
 * lottery_reserve() - reserve a place in the pools for one more task
 *
 * It may sleep. The caller owns the place until a task gets the policy or until
 * lottery_unreserve().
 *
 * Return: 0, or -ENOMEM; then nothing has changed.
 */
int lottery_reserve(void)
{
	int err;

	might_sleep();

	if (lottery_reserve_fast())
		return 0;

	guard(mutex)(&lottery_room_mutex);
	while (!lottery_reserve_fast()) {
		err = lottery_room_grow();
		if (err)
			return err;
	}
	return 0;
}

/**
 * lottery_has_room_to_lend() - does a pool have a place for one more loan?
 * @lrq: the lottery of a run queue, which is locked
 *
 * Each place has room for a task and for what it lends. A loan whose lender has just left
 * the class may still be in the pool when the lender's place is another task's; so loans
 * wait for each other rather than take the room of tasks.
 */
bool lottery_has_room_to_lend(const struct lottery_rq *lrq)
{
	/* Pairs with lottery_room_grow(): the room is visible. */
	return lottery_entries(lrq) - lrq->nr < smp_load_acquire(&lottery_room);
}

/* Do the entries that are in the pools fit a room for @to tasks? Loans may not. */
static bool lottery_fits(unsigned int to)
{
	int cpu;

	if (atomic_read(&lottery_reserved) > to)
		return false;
	for_each_possible_cpu(cpu) {
		struct lottery_rq *lrq = &cpu_rq(cpu)->lottery;

		guard(rq_lock_irqsave)(cpu_rq(cpu));
		if (lottery_entries(lrq) - lrq->nr > to)
			return false;
	}
	return true;
}

/* Take the room of each pool for entries above @to, and free it. */
static void lottery_withdraw(unsigned int from, unsigned int to)
{
	struct lottery_room room = { };
	unsigned int at, next;
	int cpu;

	for_each_possible_cpu(cpu) {
		for (at = from; at > to; at = next) {
			next = max(to, at - min(at, LOTTERY_WITHDRAW));
			scoped_guard(rq_lock_irqsave, cpu_rq(cpu))
				lottery_pool_ops->withdraw(&cpu_rq(cpu)->lottery.pool,
							   &room, at, next);
			lottery_pool_ops->discard(&room);
			cond_resched();
		}
	}
}

static bool lottery_room_is_free(void)
{
	unsigned int room = READ_ONCE(lottery_room);

	return lottery_pool_ops->withdraw && room > lottery_pool_ops->room / LOTTERY_PLACES &&
	       atomic_read(&lottery_reserved) <= room / 4;
}

static void lottery_shrink(struct work_struct *work)
{
	unsigned int was;

	guard(mutex)(&lottery_room_mutex);
	while (lottery_room_is_free()) {
		was = lottery_room;
		/* No place above is reserved, and no loan put into a pool, from now on. */
		WRITE_ONCE(lottery_room, was / 2);
		synchronize_rcu();
		if (!lottery_fits(was / 2)) {
			/* Pairs with lottery_reserve_fast(): nothing has been taken. */
			smp_store_release(&lottery_room, was);
			break;
		}
		lottery_withdraw(LOTTERY_PLACES * was, LOTTERY_PLACES * (was / 2));
	}
}

static DECLARE_DELAYED_WORK(lottery_shrink_work, lottery_shrink);

/**
 * lottery_unreserve() - give a place back
 *
 * Its task is not in a pool, and will not be. It does not sleep, so that a task can lose
 * the policy in an interrupt (SysRq-n), and a task_struct can be freed in one.
 */
void lottery_unreserve(void)
{
	WARN_ON_ONCE(atomic_dec_return(&lottery_reserved) < 0);
	if (unlikely(lottery_room_is_free()))
		schedule_delayed_work(&lottery_shrink_work, LOTTERY_SHRINK_AFTER);
}

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
 * Room is doubled when it is used up, so that it happens rarely. It is not given back,
 * because as many tasks are likely to come again.
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
#include <linux/topology.h>

#include "loan.h"

/* Places of a task in a pool: one for itself, one for what it lends meanwhile. */
#define LOTTERY_PLACES	2

/* Serialises the growth; taken before rq locks, one at a time. */
static DEFINE_MUTEX(lottery_room_mutex);

/*
 * How many tasks each pool has room for; 0 before the first one. Written under
 * lottery_room_mutex, after the pools have got the room.
 */
static unsigned int lottery_room;

/* How many have a place; at most lottery_room. */
static atomic_t lottery_reserved = ATOMIC_INIT(0);

/* What one growth has allocated; under lottery_room_mutex, otherwise empty. */
static DEFINE_PER_CPU(struct lottery_room, lottery_new_room);

static bool lottery_reserve_fast(void)
{
	/* Pairs with lottery_room_grow(): the room is visible. */
	unsigned int room = smp_load_acquire(&lottery_room);
	int reserved = atomic_read(&lottery_reserved);

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

/**
 * lottery_unreserve() - give a place back
 *
 * Its task is not in a pool, and will not be. It does not sleep, so that a task can lose
 * the policy in an interrupt (SysRq-n), and a task_struct can be freed in one.
 */
void lottery_unreserve(void)
{
	WARN_ON_ONCE(atomic_dec_return(&lottery_reserved) < 0);
}

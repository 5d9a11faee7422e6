/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A mutex that its waiters win by lot.
 *
 * Waldspurger and Weihl 1994, section 6.1: the release draws one ticket among those of the
 * waiters, and its owner has the mutex next. Waiters of SCHED_LOTTERY lend their tickets
 * to the holder.
 *
 * It is for locks that tasks of many shares hold for long: each gets the mutex in
 * proportion to its tickets. It is handed over, and so changes hands at the pace of
 * wake-ups; a struct mutex, which any running task can take, is faster.
 *
 * It is not recursive. It is taken and released by tasks that may sleep, each by the task
 * that has taken it.
 */
#ifndef _LINUX_LOTTERY_MUTEX_H
#define _LINUX_LOTTERY_MUTEX_H

#include <linux/lockdep.h>
#include <linux/lottery/pool.h>
#include <linux/spinlock_types.h>

struct task_struct;

/**
 * struct lottery_mutex - a mutex that its waiters win by lot
 * @lock: protects what follows; below the pi_locks
 * @owner: the task that holds it, NULL if it is free; read without the lock
 * @waiters: their tickets, an rbtree pool. Not empty only while there is an owner.
 * @dep_map: for lockdep
 */
struct lottery_mutex {
	raw_spinlock_t lock;
	struct task_struct *owner;
	struct lottery_pool waiters;
#ifdef CONFIG_DEBUG_LOCK_ALLOC
	struct lockdep_map dep_map;
#endif
};

void __lottery_mutex_init(struct lottery_mutex *m, const char *name,
			  struct lock_class_key *key);

/**
 * lottery_mutex_init() - make a mutex that is free
 * @m: the mutex; nothing has to undo it
 */
#define lottery_mutex_init(m)				\
do {							\
	static struct lock_class_key __key;		\
							\
	__lottery_mutex_init((m), #m, &__key);		\
} while (0)

void lottery_mutex_lock(struct lottery_mutex *m);
int __must_check lottery_mutex_lock_killable(struct lottery_mutex *m);
bool lottery_mutex_trylock(struct lottery_mutex *m);
void lottery_mutex_unlock(struct lottery_mutex *m);

#endif /* _LINUX_LOTTERY_MUTEX_H */

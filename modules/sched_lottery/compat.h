/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of the scheduler that differ between kernels; those of 6.12 are the default. */
#ifndef _SCHED_LOTTERY_COMPAT_H
#define _SCHED_LOTTERY_COMPAT_H

#include <linux/hrtimer.h>
#include <linux/version.h>

/*
 * In 7.2 pick_task() may drop the lock of the run queue, balance() finds the task that ran
 * before in it, and the priority of a task is a number of its class.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 2, 0)
#define LOTTERY_PICK_ARGS	struct rq *rq
#define LOTTERY_BALANCE_ARGS	struct rq *rq, struct task_struct *prev, struct rq_flags *rf
#define LOTTERY_PRIO_ARGS	struct rq *rq, struct task_struct *p, int oldprio
#define lottery_pick(rq)	lottery_sched_class.pick_task(rq)
#else
#define LOTTERY_PICK_ARGS	struct rq *rq, struct rq_flags *rf
#define LOTTERY_BALANCE_ARGS	struct rq *rq, struct rq_flags *rf
#define LOTTERY_PRIO_ARGS	struct rq *rq, struct task_struct *p, u64 oldprio
/* Without rf: the class itself never drops the lock there. */
#define lottery_pick(rq)	lottery_sched_class.pick_task(rq, NULL)
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

#endif /* _SCHED_LOTTERY_COMPAT_H */

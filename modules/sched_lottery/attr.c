// SPDX-License-Identifier: GPL-2.0-only
/*
 * The attributes of a lottery task for sched_setattr(2) and its older relatives. They are
 * checked before the run queue is locked, so that bad input changes nothing, and stored
 * with the rq lock held and the task off its pool, see __sched_setscheduler().
 */

#include <linux/errno.h>
#include <linux/mmu_context.h>
#include <linux/rcupdate.h>

#include <uapi/linux/sched/types.h>

#include "loan.h"

/**
 * lottery_check_attr() - may @attr be set together with @policy?
 * @policy: the policy that the task will have
 * @attr: the request
 *
 * Return: 0, or -EINVAL for a nonzero padding or tickets without the lottery policy, or
 * -ERANGE for more than LOTTERY_TICKETS_MAX tickets, or a quantum outside of
 * LOTTERY_QUANTUM_MIN..LOTTERY_QUANTUM_MAX.
 */
int lottery_check_attr(int policy, const struct sched_attr *attr)
{
	if (attr->__pad)
		return -EINVAL;

	if (!lottery_policy(policy))
		return attr->sched_tickets ? -EINVAL : 0;

	if (attr->sched_tickets > LOTTERY_TICKETS_MAX)
		return -ERANGE;

	if (attr->sched_runtime &&
	    (attr->sched_runtime < LOTTERY_QUANTUM_MIN ||
	     attr->sched_runtime > LOTTERY_QUANTUM_MAX))
		return -ERANGE;

	return 0;
}

/**
 * lottery_may_set() - may a task have these tickets without a privilege?
 * @p: the task. Unless it is locked, its tickets and its currency may change.
 * @attr: the request, checked
 *
 * Return: whether @p is a lottery task and has no more tickets afterwards, or more at the
 * expense of its own currency, and all else stays.
 */
bool lottery_may_set(struct task_struct *p, const struct sched_attr *attr)
{
	unsigned int weight;

	if (!task_has_lottery_policy(p) || attr->sched_nice < task_nice(p) ||
	    attr->sched_runtime != p->lottery.quantum)
		return false;

	guard(rcu)();
	weight = sched_prio_to_weight[attr->sched_nice - MIN_NICE];
	return lottery_currency_of(p) ||
	       (attr->sched_tickets ?: weight) <= lottery_task_tickets(p);
}

/* Does the checked @attr differ from that of @p, whose rq is locked? */
bool lottery_attr_changed(struct task_struct *p, const struct sched_attr *attr)
{
	return attr->sched_tickets != p->lottery.tickets ||
	       p->lottery.inner != !!lottery_currency_of(p) ||
	       attr->sched_runtime != p->lottery.quantum ||
	       attr->sched_nice != task_nice(p);
}

/* Store the checked @attr in @p, which becomes or is a lottery task, locked and not in a pool. */
void lottery_set_attr(struct task_struct *p, const struct sched_attr *attr)
{
	p->static_prio = NICE_TO_PRIO(attr->sched_nice);
	p->lottery.tickets = attr->sched_tickets;
	p->lottery.inner = lottery_currency_of(p);
	p->lottery.quantum = attr->sched_runtime;
	lottery_lend_again(task_rq(p), p);
}

/* Store the attributes of @p in @attr, in the form that sets them again. */
void lottery_get_attr(struct task_struct *p, struct sched_attr *attr)
{
	attr->sched_nice = task_nice(p);
	attr->sched_tickets = p->lottery.tickets;
	attr->sched_runtime = p->lottery.quantum;
}

/**
 * lottery_legacy_attr() - complete the request of a call without tickets
 * @p: its task, not locked
 * @attr: the request of _sched_setscheduler()
 *
 * sched_setparam(2) keeps the tickets of a lottery task; sched_setscheduler(2) starts from
 * the nice value. If the policy changes meanwhile, the request fails with -EINVAL, as it
 * does for a task that becomes real-time.
 */
void lottery_legacy_attr(struct task_struct *p, struct sched_attr *attr)
{
	int policy = attr->sched_policy;

	if (policy >= 0) {
		if (lottery_policy(policy))
			attr->sched_runtime = 0;
	} else if (task_has_lottery_policy(p)) {
		lottery_get_attr(p, attr);
	}
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * prctl(PR_LOTTERY): the tasks that a task lends its tickets to when it blocks.
 *
 * A task alone makes and ends its loans, with its pi_lock and rq lock held; one of the two
 * is enough to read them. A loan keeps the id of its borrower, not its task_struct, and a
 * place in the pools. One to a dead borrower stays until the lender lends again or exits.
 */

#include <linux/capability.h>
#include <linux/cleanup.h>
#include <linux/cred.h>
#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/mmu_context.h>
#include <linux/pid.h>
#include <linux/prctl.h>
#include <linux/rcupdate.h>
#include <linux/sched/task.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/user_namespace.h>

#include "loan.h"

/* The most tasks that one can name. */
#define LOTTERY_LOANS_MAX	8

static void lottery_loan_free(struct rcu_head *rcu)
{
	struct lottery_loan *loan = container_of(rcu, struct lottery_loan, rcu);

	put_pid(loan->pid);
	lottery_unreserve();
	kfree(loan);
}

/*
 * Wait until no CPU has @loan. The lender runs, so it is not active: at most it is in a
 * pool, and in the mail of that CPU.
 */
static void lottery_loan_wait(struct lottery_loan *loan)
{
	might_sleep();

	while (READ_ONCE(loan->state) != LOTTERY_LOAN_AT_REST) {
		irq_work_sync(&cpu_rq(READ_ONCE(loan->cpu))->lottery.work);
		cond_resched();
	}
}

/* End the loans of the caller to @to, or all; those that are over in any case. */
static unsigned int lottery_end_loans(struct task_struct *to, bool all)
{
	struct lottery_loan *loan, *next;
	unsigned int nr = 0;
	LIST_HEAD(ended);

	scoped_guard(task_rq_lock, current) {
		guard(rcu)();
		list_for_each_entry_safe(loan, next, &current->lottery.loans, own) {
			bool over = lottery_is_over(loan);

			if (all || over || loan->to == to) {
				nr += !over;
				list_move_tail(&loan->own, &ended);
			}
		}
	}
	list_for_each_entry_safe(loan, next, &ended, own) {
		lottery_loan_wait(loan);
		/* A walk of a chain may read it. */
		call_rcu(&loan->rcu, lottery_loan_free);
	}
	return nr;
}

static int lottery_add_loan(struct task_struct *to, const struct prctl_lottery_loan *ask)
{
	struct lottery_loan *loan;
	int err;

	if (list_count_nodes(&current->lottery.loans) >= LOTTERY_LOANS_MAX)
		return -ENOSPC;
	err = lottery_reserve();
	if (err)
		return err;
	loan = kzalloc(sizeof(*loan), GFP_KERNEL_ACCOUNT);
	if (!loan) {
		lottery_unreserve();
		return -ENOMEM;
	}

	init_lottery_loan(loan, current);
	loan->to = to;
	loan->pid = get_task_pid(to, PIDTYPE_PID);
	loan->tickets = ask->tickets;
	loan->keep = ask->flags & PR_LOTTERY_KEEP;
	if (ask->timeout_ns)
		loan->expires = ktime_get_mono_fast_ns() + ask->timeout_ns;
	scoped_guard(task_rq_lock, current)
		list_add_tail(&loan->own, &current->lottery.loans);
	return 0;
}

/* As sched_setaffinity(2): a loan makes a CPU work for the borrower. */
static int lottery_may_lend_to(struct task_struct *to)
{
	scoped_guard(rcu) {
		const struct cred *cred = __task_cred(to);

		if (!uid_eq(current_euid(), cred->euid) &&
		    !uid_eq(current_euid(), cred->uid) &&
		    !ns_capable(cred->user_ns, CAP_SYS_NICE))
			return -EPERM;
	}
	return security_task_setscheduler(to);
}

static int lottery_lend_to(const struct prctl_lottery_loan *ask)
{
	struct task_struct *to __free(put_task) = NULL;
	int err;

	if (ask->flags & ~PR_LOTTERY_KEEP || ask->__pad)
		return -EINVAL;
	if (ask->tickets > LOTTERY_TICKETS_MAX || ask->timeout_ns > S64_MAX)
		return -ERANGE;
	if (!task_has_lottery_policy(current))
		return -EPERM;
	to = find_get_task_by_vpid(ask->pid);
	if (!to || to->exit_state)
		return -ESRCH;
	if (to == current)
		return -EINVAL;
	err = lottery_may_lend_to(to);
	if (err)
		return err;

	lottery_end_loans(to, false);
	return lottery_add_loan(to, ask);
}

static int lottery_revoke(pid_t pid)
{
	struct task_struct *to __free(put_task) = NULL;

	if (!pid)
		return lottery_end_loans(NULL, true) ? 0 : -ESRCH;
	if (pid < 0)
		return -EINVAL;
	to = find_get_task_by_vpid(pid);
	return to && lottery_end_loans(to, false) ? 0 : -ESRCH;
}

/**
 * sched_lottery_prctl() - PR_LOTTERY
 * @op: PR_LOTTERY_*
 * @arg3: LEND: a struct prctl_lottery_loan of user space. REVOKE: the borrower's
 *	pid, or 0 for all. CURRENCY: see lottery_process_currency().
 * @arg4: LEND: the size of that structure
 * @arg5: 0
 *
 * Return: 0, or -EINVAL for an unknown operation or flag, a nonzero argument that is not
 * used or a loan to oneself; -EPERM if the caller is not a SCHED_LOTTERY task, or the
 * borrower is another user's; -ESRCH if there is no such task, or no loan to it; -ERANGE
 * for too many tickets; -ENOSPC for too many loans; -E2BIG, -EFAULT, -ENOMEM.
 */
int sched_lottery_prctl(unsigned long op, unsigned long arg3, unsigned long arg4,
			unsigned long arg5)
{
	struct prctl_lottery_loan ask;
	int err;

	if (arg5)
		return -EINVAL;

	switch (op) {
	case PR_LOTTERY_LEND:
		if (arg4 < PR_LOTTERY_LOAN_SIZE_VER0)
			return -EINVAL;
		if (arg4 > PAGE_SIZE)
			return -E2BIG;
		err = copy_struct_from_user(&ask, sizeof(ask), (void __user *)arg3, arg4);
		return err ?: lottery_lend_to(&ask);
	case PR_LOTTERY_REVOKE:
		if (arg4 || arg3 > INT_MAX)
			return -EINVAL;
		return lottery_revoke(arg3);
	case PR_LOTTERY_CURRENCY:
		return arg4 ? -EINVAL : lottery_process_currency(arg3);
	default:
		return -EINVAL;
	}
}

/* The caller executes a program with other privileges: that lends as it likes. */
void sched_lottery_secure_exec(void)
{
	lottery_end_loans(NULL, true);
}

/* The caller exits: it stops lending, and leaves the currency of its process. */
void sched_lottery_exit(struct task_struct *p)
{
	scoped_guard(task_rq_lock, p)
		p->lottery.exits = true;
	if (p->signal->lottery)
		lottery_requeue(p);
	lottery_end_loans(NULL, true);
	lottery_loan_wait(&p->lottery.loan);
}

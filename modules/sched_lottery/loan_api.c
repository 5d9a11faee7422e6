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
#include <linux/pid_namespace.h>
#include <linux/prctl.h>
#include <linux/rcupdate.h>
#include <linux/sched/task.h>
#include <linux/security.h>
#include <linux/seq_file.h>
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

/* The loans of @p that are not over, with ids of @ns. Returns how many. */
static unsigned int lottery_list_loans(struct task_struct *p, struct pid_namespace *ns,
				       struct prctl_lottery_loan seen[LOTTERY_LOANS_MAX])
{
	u64 now = ktime_get_mono_fast_ns();
	const struct lottery_loan *loan;
	unsigned int nr = 0;

	guard(rcu)();
	raw_spin_lock_irq(&p->pi_lock);
	list_for_each_entry(loan, &p->lottery.loans, own) {
		if (!lottery_is_over(loan))
			seen[nr++] = (struct prctl_lottery_loan) {
				.pid = pid_nr_ns(loan->pid, ns),
				.tickets = loan->tickets,
				.flags = loan->keep ? PR_LOTTERY_KEEP : 0,
				.timeout_ns = loan->expires ? loan->expires - now : 0,
			};
	}
	raw_spin_unlock_irq(&p->pi_lock);
	return nr;
}

/* A caller that knows more than this kernel finds zeros there. */
static int lottery_copy_out(void __user *to, size_t room, const void *from, size_t size)
{
	size_t known = min(room, size);

	if (copy_to_user(to, from, known) || clear_user(to + known, room - known))
		return -EFAULT;
	return 0;
}

static int lottery_get_loans(void __user *to, size_t size, unsigned long room)
{
	struct prctl_lottery_loan loans[LOTTERY_LOANS_MAX];
	int nr, i, err = 0;

	nr = lottery_list_loans(current, task_active_pid_ns(current), loans);
	if (nr > room)
		return -ENOSPC;
	for (i = 0; i < nr && !err; i++)
		err = lottery_copy_out(to + i * size, size, &loans[i], sizeof(loans[i]));
	return err ?: nr;
}

static int lottery_get_currency_of(void __user *to, size_t size)
{
	struct prctl_lottery_currency seen;

	lottery_see_currency(current, task_active_pid_ns(current), &seen);
	return lottery_copy_out(to, size, &seen, sizeof(seen));
}

/**
 * lottery_show_task() - loans and process currency in /proc/PID/sched
 * @p: the task, of any class
 * @ns: whose ids to show
 * @m: the file
 */
void lottery_show_task(struct task_struct *p, struct pid_namespace *ns, struct seq_file *m)
{
	struct prctl_lottery_loan loans[LOTTERY_LOANS_MAX];
	struct prctl_lottery_currency currency;
	unsigned int nr, i;

	lottery_see_currency(p, ns, &currency);
	if (currency.tickets) {
		seq_printf(m, "%-45s:%21u\n", "lottery.currency", currency.tickets);
		seq_printf(m, "%-45s:%21d\n", "lottery.currency.pid", currency.pid);
	}
	nr = lottery_list_loans(p, ns, loans);
	for (i = 0; i < nr; i++)
		seq_printf(m, "lottery.loan.%-32d:%21u\n", loans[i].pid, loans[i].tickets);
}

/* Of a structure of user space. */
static int lottery_check_size(unsigned long size, unsigned long least)
{
	if (size < least)
		return -EINVAL;
	return size > PAGE_SIZE ? -E2BIG : 0;
}

/**
 * sched_lottery_prctl() - PR_LOTTERY
 * @op: PR_LOTTERY_*
 * @arg3: LEND: a struct prctl_lottery_loan of user space. REVOKE: the borrower's
 *	pid, or 0 for all. CURRENCY: see lottery_process_currency(). GET_LOANS: an array
 *	for them. GET_CURRENCY: a struct prctl_lottery_currency.
 * @arg4: the size of that structure, or of one in the array
 * @arg5: GET_LOANS: how many fit in there; otherwise 0
 *
 * Return: 0, or how many loans there are; or -EINVAL for an unknown operation or flag, a
 * nonzero argument that is not used or a loan to oneself; -EPERM if the caller is not a
 * SCHED_LOTTERY task, or the borrower is another user's; -ESRCH if there is no such task, or
 * no loan to it; -ERANGE for too many tickets; -ENOSPC for too many loans, or no room for
 * them; -E2BIG, -EFAULT, -ENOMEM.
 */
int sched_lottery_prctl(unsigned long op, unsigned long arg3, unsigned long arg4,
			unsigned long arg5)
{
	struct prctl_lottery_loan ask;
	int err;

	if (arg5 && op != PR_LOTTERY_GET_LOANS)
		return -EINVAL;

	switch (op) {
	case PR_LOTTERY_LEND:
		err = lottery_check_size(arg4, PR_LOTTERY_LOAN_SIZE_VER0);
		if (!err)
			err = copy_struct_from_user(&ask, sizeof(ask), (void __user *)arg3, arg4);
		return err ?: lottery_lend_to(&ask);
	case PR_LOTTERY_REVOKE:
		if (arg4 || arg3 > INT_MAX)
			return -EINVAL;
		return lottery_revoke(arg3);
	case PR_LOTTERY_CURRENCY:
		return arg4 ? -EINVAL : lottery_process_currency(arg3);
	case PR_LOTTERY_GET_LOANS:
		err = lottery_check_size(arg4, PR_LOTTERY_LOAN_SIZE_VER0);
		return err ?: lottery_get_loans((void __user *)arg3, arg4, arg5);
	case PR_LOTTERY_GET_CURRENCY:
		err = lottery_check_size(arg4, PR_LOTTERY_CURRENCY_SIZE_VER0);
		return err ?: lottery_get_currency_of((void __user *)arg3, arg4);
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
	/* Its process may leave the currency just now: it is not looked at here. */
	if (static_branch_unlikely(&lottery_currencies))
		lottery_requeue(p);
	lottery_end_loans(NULL, true);
	lottery_loan_wait(&p->lottery.loan);
}

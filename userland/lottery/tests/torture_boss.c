// SPDX-License-Identifier: GPL-2.0
/* torture_boss.c - lottery-torture: what is done to the workers. */
#include <errno.h>
#include <linux/prctl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "affinity.h"
#include "args.h"
#include "clock.h"
#include "lottery_sched.h"
#include "torture.h"

/* How long a worker is real-time at most, a little more than once. */
#define REAL_TIME_NS	(200 * NSEC_PER_MSEC)

const char *const action_names[ACTIONS] = {
	[ACTION_SETATTR] = "setattr",
	[ACTION_TICKETS] = "tickets",
	[ACTION_LEGACY] = "setscheduler",
	[ACTION_NICE] = "nice",
	[ACTION_AFFINITY] = "affinity",
	[ACTION_STOP] = "stop",
	[ACTION_CONT] = "cont",
	[ACTION_ORDER] = "order",
	[ACTION_READ] = "read",
	[ACTION_COOKIE] = "cookie",
};

/* An action that changed nothing, rightly: it does not count. */
#define NOTHING_DONE	1

/* Actions return 0, -errno or NOTHING_DONE. */
static int failed(int result)
{
	return result ? -errno : 0;
}

static struct lottery_attr random_lottery(struct random *r)
{
	struct lottery_attr attr = lottery_attr_of(0, 0, 0);

	if (random_below(r, 8))
		attr.sched_tickets = random_between(r, 1, LOTTERY_TICKETS_MAX);
	if (!random_below(r, 4))
		attr.sched_runtime = random_between(r, LOTTERY_QUANTUM_MIN,
						    20 * NSEC_PER_MSEC);
	if (!random_below(r, 8))
		attr.sched_flags = ATTR_RESET_ON_FORK;
	return attr;
}

/* Half of the time the class, seldom real time: that starves all the others. */
static struct lottery_attr random_attr(struct random *r)
{
	struct lottery_attr attr = { .size = sizeof(attr) };
	u32 die = random_below(r, 16);

	if (die < 8)
		return random_lottery(r);
	attr.sched_nice = (s32)random_below(r, 40) - 20;
	if (die < 11)
		attr.sched_policy = SCHED_OTHER;
	else if (die < 13)
		attr.sched_policy = SCHED_BATCH;
	else if (die < 15)
		attr.sched_policy = SCHED_IDLE;
	else
		attr.sched_policy = random_below(r, 2) ? SCHED_FIFO : SCHED_RR;
	if (die == 15)
		attr.sched_priority = random_between(r, 1, 10);
	return attr;
}

static int act_setattr(struct torture *x, unsigned int i)
{
	struct lottery_attr attr = random_attr(&x->random);

	return failed(attr_set(x->crew.pid[i], &attr));
}

/* A task of another policy refuses the tickets. */
static int act_tickets(struct torture *x, unsigned int i)
{
	struct lottery_attr attr = random_lottery(&x->random);
	int error;

	attr.sched_flags = ATTR_KEEP_POLICY;
	error = failed(attr_set(x->crew.pid[i], &attr));
	return error == -EINVAL ? NOTHING_DONE : error;
}

static int act_legacy(struct torture *x, unsigned int i)
{
	struct sched_param param = { };
	int policy = random_below(&x->random, 4) ? SCHED_LOTTERY : SCHED_OTHER;

	return failed(sched_setscheduler(x->crew.pid[i], policy, &param));
}

static int act_nice(struct torture *x, unsigned int i)
{
	int nice = (int)random_below(&x->random, 40) - 20;

	return failed(setpriority(PRIO_PROCESS, (id_t)x->crew.pid[i], nice));
}

/* EINVAL: all CPUs of the mask are offline. */
static int act_affinity(struct torture *x, unsigned int i)
{
	u64 mask = random_u64(&x->random) & x->mask;
	int error = mask ? affinity_set(x->crew.pid[i], mask) : NOTHING_DONE;

	return error == -EINVAL ? NOTHING_DONE : error;
}

static int act_stop(struct torture *x, unsigned int i)
{
	return failed(kill(x->crew.pid[i], SIGSTOP));
}

static int act_cont(struct torture *x, unsigned int i)
{
	return failed(kill(x->crew.pid[i], SIGCONT));
}

static int act_order(struct torture *x, unsigned int i)
{
	u32 *mark = &x->crew.page->slot[i].mark;

	if (load(mark) != ORDER_NONE)
		return NOTHING_DONE;
	store(mark, random_between(&x->random, ORDER_NONE + 1, ORDERS - 1));
	return 0;
}

static int act_read(struct torture *x, unsigned int i)
{
	struct lottery_state state;

	(void)x;
	(void)i;
	lottery_read(&state);
	return 0;
}

/*
 * Core scheduling: from now on it shares a core with no task, or with its boss.
 * ENODEV: no CPU has a sibling. EINVAL: the kernel cannot do it.
 */
static int act_cookie(struct torture *x, unsigned int i)
{
	int request = random_below(&x->random, 2) ? PR_SCHED_CORE_CREATE :
						    PR_SCHED_CORE_SHARE_TO;
	int error = failed(prctl(PR_SCHED_CORE, request, x->crew.pid[i],
				 PR_SCHED_CORE_SCOPE_THREAD, 0));

	return error == -ENODEV || error == -EINVAL ? NOTHING_DONE : error;
}

static int (*const acts[ACTIONS])(struct torture *x, unsigned int i) = {
	[ACTION_SETATTR] = act_setattr,
	[ACTION_TICKETS] = act_tickets,
	[ACTION_LEGACY] = act_legacy,
	[ACTION_NICE] = act_nice,
	[ACTION_AFFINITY] = act_affinity,
	[ACTION_STOP] = act_stop,
	[ACTION_CONT] = act_cont,
	[ACTION_ORDER] = act_order,
	[ACTION_READ] = act_read,
	[ACTION_COOKIE] = act_cookie,
};

void boss_start(struct torture *x, unsigned int i)
{
	if (x->crew.count == i)
		crew_fork(&x->crew, worker, NULL);
	else
		crew_refork(&x->crew, i, worker, NULL);
	store(&x->crew.page->slot[i].resting, (u32)x->crew.pid[i]);
}

void boss_look_after(struct torture *x, unsigned int i)
{
	struct crew_slot *slot = &x->crew.page->slot[i];
	int status;

	/* not reaped before its end, so its pid stays its own until here */
	if (waitpid(x->crew.pid[i], &status, WNOHANG) != x->crew.pid[i])
		return;
	x->crew.pid[i] = 0;
	if (status || load(&slot->mark) != ORDER_EXIT)
		x->deaths++;
	store(&slot->mark, ORDER_NONE);
	x->restarts++;
	boss_start(x, i);
}

u64 boss_operations(const struct torture *x)
{
	u64 sum = 0;
	unsigned int i;

	for (i = 0; i < ACTIONS; i++)
		sum += x->done[i];
	return sum;
}

static bool is_over(const struct torture *x, u64 end_ns)
{
	return (x->operations && boss_operations(x) >= x->operations) || now_ns() >= end_ns;
}

void boss_run(struct torture *x, u64 end_ns)
{
	while (!is_over(x, end_ns)) {
		unsigned int i = random_below(&x->random, x->tasks);
		enum action action = random_below(&x->random, ACTIONS);
		int error;

		boss_look_after(x, i);
		error = acts[action](x, i);
		/* ESRCH: it is on its way out, as it was told */
		if (error != NOTHING_DONE && error != -ESRCH)
			x->done[action]++;
		if (error < 0 && error != -ESRCH) {
			x->wrong[action]++;
			x->last_errno = -error;
		}
		sleep_until_ns(now_ns() + random_below(&x->random, x->pause_us) * NSEC_PER_USEC);
	}
}

void boss_calm(struct torture *x, bool lottery)
{
	struct lottery_attr other = { .size = sizeof(other), .sched_policy = SCHED_OTHER };
	unsigned int i;

	for (i = 0; i < x->tasks; i++) {
		boss_look_after(x, i);
		kill(x->crew.pid[i], SIGCONT);
		affinity_set(x->crew.pid[i], x->mask);
		/* may fail for one that is exiting, which is seen afterwards */
		if (lottery)
			lottery_join(x->crew.pid[i], random_between(&x->random, 1, 1000), 0);
		else
			attr_set(x->crew.pid[i], &other);
	}
}

/*
 * A real-time hog starves what is below it, and that may be a worker within a
 * fork, an exec or an exit, with a lock of the kernel that they all take (that
 * of the mappings of this program's file, or the cgroups'). The boss waits for
 * it with its next fork, and no task would be left to make the hog an ordinary one.
 */
CREW_FN(calmer)
{
	const struct torture *x = arg;
	struct crew_slot *slot = &crew->page->slot[i];
	struct sched_param param = { };
	unsigned int task;

	while (!load(&crew->page->stop)) {
		sleep_until_ns(now_ns() + REAL_TIME_NS);
		for (task = 0; task < x->tasks; task++) {
			pid_t pid = (pid_t)load(&x->crew.page->slot[task].resting);
			int policy = sched_getscheduler(pid);

			if (policy != SCHED_FIFO && policy != SCHED_RR)
				continue;
			/* ESRCH: it is on its way out, as it was told */
			if (sched_setscheduler(pid, SCHED_OTHER, &param) && errno != ESRCH)
				store(&slot->guard, slot->guard + 1);
		}
		store64(&slot->value, slot->value + 1);
	}
	return 0;
}

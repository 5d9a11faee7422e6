// SPDX-License-Identifier: GPL-2.0
/* currency_processes.c - lottery-currency: processes, and who needs no privilege. */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "args.h"
#include "clock.h"
#include "currency.h"
#include "lottery_sched.h"

enum {
	MAKER,
	OTHER,
	TWO,
};

static const u32 hundred[TWO] = { 100, 100 };

/* Run @asks in a child; it returns 0, or which step failed. */
static void in_a_child(struct ktap_case *t, int (*asks)(void), const char *name)
{
	struct stage before = { .others = tickets_in_pools() };
	pid_t pid = fork_child();
	int status;

	if (!pid)
		_exit(asks());
	status = wait_child(pid, now_ns() + STAGE_WAIT_NS);
	expect(t, !status, "step %d: see %s()", status >> 8, name);
	/* A thread can be on its CPU for a moment after its process has ended. */
	expect_tickets(t, &before, 0);
}

static bool refused(int result, int error)
{
	return result < 0 && errno == error;
}

static int process_asks(void)
{
	unsigned int i;

	if (!refused(currency_make(0), ERANGE))
		return 1;
	if (!refused(currency_make(LOTTERY_TICKETS_MAX + 1), ERANGE))
		return 2;
	if (!refused(prctl(PR_LOTTERY, PR_LOTTERY_CURRENCY, 1UL, 1UL, 0UL), EINVAL))
		return 3;
	if (!refused(prctl(PR_LOTTERY, PR_LOTTERY_CURRENCY, 1UL << 32, 0UL, 0UL), ERANGE))
		return 4;
	/* One within the other: each of another process. */
	for (i = 0; i < LOTTERY_CURRENCIES_MAX; i++) {
		pid_t pid;

		if (currency_make(10) || currency_make(20))
			return 5;
		pid = fork_child();
		if (pid)
			return wait_child(pid, now_ns() + STAGE_WAIT_NS) >> 8;
	}
	return refused(currency_make(10), ENOSPC) ? 0 : 6;
}

static void refused_arguments(struct ktap_case *t)
{
	in_a_child(t, process_asks, "process_asks");
}

static void *wait_for_ever(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static int unprivileged_asks(void)
{
	pthread_t thread;

	if (lottery_join(0, 100, 0) || setresuid(NOBODY, NOBODY, NOBODY))
		return 1;
	if (!refused(lottery_join(0, 101, 0), EPERM) || lottery_join(0, 90, 0) ||
	    !refused(lottery_join(0, 100, 0), EPERM))
		return 2;
	if (!refused(lottery_join(0, 80, LOTTERY_QUANTUM_MAX), EPERM))
		return 3;
	if (!refused(currency_make(91), EPERM))
		return 4;
	if (currency_make(90) || !refused(currency_make(91), EPERM) || currency_make(80) ||
	    !refused(currency_make(90), EPERM))
		return 5;
	/* Within it, any number. */
	if (lottery_join(0, LOTTERY_TICKETS_MAX, 0) || lottery_join(0, 1, 0) ||
	    lottery_join(0, 0, 0) || lottery_join(0, 500, 0))
		return 6;
	if (!refused(lottery_join(0, 500, LOTTERY_QUANTUM_MAX), EPERM))
		return 7;
	if (pthread_create(&thread, NULL, wait_for_ever, NULL))
		return 8;
	return 0;
}

static int threads_ask(void)
{
	pthread_t thread;

	if (lottery_join(0, 100, 0) || setresuid(NOBODY, NOBODY, NOBODY) ||
	    pthread_create(&thread, NULL, wait_for_ever, NULL))
		return 1;
	/* The other thread may have as many of its own. */
	return refused(currency_make(100), EPERM) ? 0 : 2;
}

static void without_privilege(struct ktap_case *t)
{
	in_a_child(t, unprivileged_asks, "unprivileged_asks");
	in_a_child(t, threads_ask, "threads_ask");
}

static void children_are_inside(struct ktap_case *t)
{
	struct stage s;

	stage_open(&s, hundred, TWO);
	all_spin(t, &s);
	act(t, &s, MAKER, ACT_CURRENCY, 300);
	expect_tickets(t, &s, 400);
	expect_share(t, &s, OTHER, 1, 4);
	act(t, &s, MAKER, ACT_FORK, 0);
	act(t, &s, MAKER, ACT_FORK, 0);
	pass(&s, STAGE_WAIT_NS / 100);
	expect_part_of_cpu(t, &s, OTHER, 1, 4);
	act(t, &s, MAKER, ACT_INFLATE, LOTTERY_TICKETS_MAX);
	expect_part_of_cpu(t, &s, OTHER, 1, 4);
	act(t, &s, MAKER, ACT_CURRENCY, 100);
	expect_part_of_cpu(t, &s, OTHER, 1, 2);
	stage_close(t, &s);
}

/* What the unprivileged raise is at their own expense. */
static void raised_without_privilege(struct ktap_case *t)
{
	struct stage s;

	stage_open(&s, hundred, TWO);
	all_spin(t, &s);
	act(t, &s, MAKER, ACT_UNPRIVILEGED, 0);
	act(t, &s, MAKER, ACT_CURRENCY, 100);
	act(t, &s, MAKER, ACT_FORK, 0);
	act(t, &s, MAKER, ACT_INFLATE, 300);
	expect_part_of_cpu(t, &s, OTHER, 1, 2);
	expect_part_of_cpu(t, &s, MAKER, 3, 8);
	stage_close(t, &s);
}

/* In a cgroup with another currency it has tickets of that, and back again. */
static void between_groups(struct ktap_case *t)
{
	struct group g;
	struct stage s;

	group_open(t, &g, NULL, "g", 900);
	stage_open(&s, hundred, TWO);
	all_spin(t, &s);
	act(t, &s, MAKER, ACT_CURRENCY, 300);
	expect_share(t, &s, OTHER, 1, 4);
	group_move(t, &g, &s, MAKER);
	expect_share(t, &s, OTHER, 1, 10);
	group_move(t, NULL, &s, MAKER);
	expect_share(t, &s, OTHER, 1, 4);
	stage_close(t, &s);
	group_close(t, &g);
}

void currency_processes(struct ktap *k)
{
	static const struct ktap_test tests[] = {
		{ "refused arguments", refused_arguments },
		{ "without a privilege", without_privilege },
		{ "children are inside", children_are_inside },
		{ "raised without a privilege", raised_without_privilege },
		{ "between groups", between_groups },
	};

	ktap_group(k, "processes", tests, ARRAY_SIZE(tests));
}

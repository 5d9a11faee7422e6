// SPDX-License-Identifier: GPL-2.0
/* lottery-lend.c - ticket transfers: refusals first, then what they do. */
#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "affinity.h"
#include "args.h"
#include "clock.h"
#include "lend.h"
#include "lottery_sched.h"

static const char usage[] =
"Usage: lottery-lend [options]\n"
"\n"
"Test what SCHED_LOTTERY tasks do with their tickets while they are blocked: loans to\n"
"tasks that they name, to the owners of priority inheritance mutexes, and how loans\n"
"end. The output is KTAP. Needs root, and no other lottery tasks that start or stop\n"
"meanwhile.\n"
"\n";

/* A fair task has, beside its turns, what the fair server gives to fair tasks. */
#define SERVER_PART	0.06

struct refusal {
	const char *what;
	struct loan_ask ask;
	int error;
};

/* Children, as they alone are not SCHED_FIFO. */
static pid_t borrower_pid(struct stage *s)
{
	static const u32 none[] = { 0 };

	stage_open(s, none, 1);
	return s->crew.pid[0];
}

static void refused_arguments(struct ktap_case *t)
{
	struct loan_ask ask = { .pid = 1 };
	char larger[sizeof(ask) + 8] = { };

	expect_error(t, "operation 7", prctl(PR_LOTTERY, 7, 0, 0, 0), EINVAL);
	expect_error(t, "a fifth argument",
		     prctl(PR_LOTTERY, PR_LOTTERY_LEND, &ask, sizeof(ask), 1), EINVAL);
	expect_error(t, "a size of 23", prctl(PR_LOTTERY, PR_LOTTERY_LEND, &ask, 23, 0),
		     EINVAL);
	expect_error(t, "a huge size", prctl(PR_LOTTERY, PR_LOTTERY_LEND, &ask, 1 << 20, 0),
		     E2BIG);
	expect_error(t, "an address of 8",
		     prctl(PR_LOTTERY, PR_LOTTERY_LEND, 8, sizeof(ask), 0), EFAULT);
	larger[sizeof(ask)] = 1;
	expect_error(t, "a larger structure with something in it",
		     prctl(PR_LOTTERY, PR_LOTTERY_LEND, larger, sizeof(larger), 0), E2BIG);
	expect_error(t, "revoke with a fourth argument",
		     prctl(PR_LOTTERY, PR_LOTTERY_REVOKE, 1, 1, 0), EINVAL);
	expect_error(t, "revoke of pid -1", loan_end(-1), EINVAL);
	expect_error(t, "revoke of nothing", loan_end(0), ESRCH);
	expect_error(t, "revoke from init", loan_end(1), ESRCH);
}

static void refused_loans(struct ktap_case *t)
{
	struct stage s;
	pid_t pid = borrower_pid(&s);
	const struct refusal refusals[] = {
		{ "flag 2", { .pid = pid, .flags = 2 }, EINVAL },
		{ "a padding", { .pid = pid, .pad = 1 }, EINVAL },
		{ "1000001 tickets", { .pid = pid, .tickets = 1000001 }, ERANGE },
		{ "a timeout of 2^63", { .pid = pid, .timeout_ns = 1ULL << 63 }, ERANGE },
		{ "without tickets", { .pid = pid }, EPERM },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(refusals); i++)
		expect_error(t, refusals[i].what, loan_make(&refusals[i].ask),
			     refusals[i].error);
	stage_close(t, &s);
}

/* What a lottery task itself is refused; 0, or which one was not. */
static int lottery_task_asks(const struct stage *s)
{
	struct loan_ask ask = { .pid = getpid() };
	unsigned int i;

	if (lottery_join(0, 10, 0))
		return 1;
	if (!loan_make(&ask) || errno != EINVAL)
		return 2;
	ask.pid = -1;
	if (!loan_make(&ask) || errno != ESRCH)
		return 3;
	ask.pid = 0x3fffffff;
	if (!loan_make(&ask) || errno != ESRCH)
		return 4;
	for (i = 0; i < LOTTERY_LOANS_MAX; i++) {
		ask.pid = s->crew.pid[i];
		if (loan_make(&ask))
			return 5;
	}
	ask.pid = s->crew.pid[i];
	if (!loan_make(&ask) || errno != ENOSPC)
		return 6;
	ask.pid = s->crew.pid[0];
	if (loan_make(&ask))		/* in place of the one to it */
		return 7;
	if (loan_end(ask.pid) || !loan_end(ask.pid) || errno != ESRCH)
		return 8;
	if (loan_end(0) || !loan_end(0) || errno != ESRCH)
		return 9;
	return 0;
}

static void refused_to_a_lottery_task(struct ktap_case *t)
{
	static const u32 none[LOTTERY_LOANS_MAX + 1] = { };
	struct stage s;
	int status;
	pid_t pid;

	stage_open(&s, none, LOTTERY_LOANS_MAX + 1);
	pid = fork_child();
	if (!pid)
		_exit(lottery_task_asks(&s));
	status = wait_child(pid, now_ns() + STAGE_WAIT_NS);
	expect(t, !status, "step %d: see lottery_task_asks()", status >> 8);
	stage_close(t, &s);
}

void lend_refusals(struct ktap *k)
{
	static const struct ktap_test tests[] = {
		{ "arguments", refused_arguments },
		{ "loans", refused_loans },
		{ "of a lottery task", refused_to_a_lottery_task },
	};

	ktap_group(k, "refusals", tests, ARRAY_SIZE(tests));
}

int main(int argc, char **argv)
{
	struct ktap k;

	args_init("lottery-lend");
	theatre.slack = SERVER_PART;
	theatre_parse(argc, argv, usage, 1000);
	lottery_require();
	theatre_open();
	ktap_start(&k, LEND_GROUPS);
	lend_refusals(&k);
	lend_named(&k);
	lend_locks(&k);
	lend_ends(&k);
	return ktap_finish(&k);
}

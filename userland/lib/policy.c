// SPDX-License-Identifier: GPL-2.0
/* policy.c - the scheduling policy that a measurement runs under, by name. */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "args.h"
#include "lottery_sched.h"
#include "policy.h"

#define PRIORITY_MAX	99U
#define PRIORITY_USUAL	90U

const char *const policy_words[] = { "other", "rr:", "fifo", "fifo:", "lottery:", NULL };

static void __noreturn refuse(const char *what, const char *text)
{
	die(EXIT_USAGE, "%s: bad value '%s': allowed " POLICY_FORMS
	    " (priorities 1..%u, tickets 1..%u)", what, text, PRIORITY_MAX, LOTTERY_TICKETS_MAX);
}

struct policy policy_argument(const char *what, const char *text)
{
	static const struct {
		const char *name;
		struct policy policy;	/* value: if none is given, 0: it has to be */
		u32 max;		/* 0: it has none */
	} forms[] = {
		{ "other", { SCHED_OTHER, 0 }, 0 },
		{ "rr", { SCHED_RR, 0 }, PRIORITY_MAX },
		{ "fifo", { SCHED_FIFO, PRIORITY_USUAL }, PRIORITY_MAX },
		{ "lottery", { SCHED_LOTTERY, 0 }, LOTTERY_TICKETS_MAX },
	};
	size_t length = strcspn(text, ":");
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(forms); i++) {
		struct policy policy = forms[i].policy;
		u64 value = policy.value;

		if (strlen(forms[i].name) != length || strncmp(text, forms[i].name, length))
			continue;
		if (text[length] && !parse_number(text + length + 1, 1, forms[i].max, &value))
			break;
		if (forms[i].max && !value)
			break;
		policy.value = (u32)value;
		return policy;
	}
	refuse(what, text);
}

void policy_option(const struct opt *row, const char *value)
{
	*(struct policy *)row->to = policy_argument(row->name, value);
}

static int change(const struct policy *policy)
{
	struct sched_param param = { .sched_priority = (int)policy->value };

	if (policy->number == SCHED_LOTTERY)
		return lottery_join(0, policy->value, 0);
	return sched_setscheduler(0, policy->number, &param);
}

void policy_take(const struct policy *policy)
{
	const char *name = policy_name((unsigned int)policy->number);

	if (policy->number == SCHED_OTHER || !change(policy))
		return;
	/* E2BIG: a kernel that does not know tickets wants zeros where they are */
	if (policy->number == SCHED_LOTTERY && (errno == EINVAL || errno == E2BIG))
		die(EXIT_UNSUPPORTED, LOTTERY_MISSING);
	if (errno == EPERM)
		die(EXIT_FAILED, "%s needs CAP_SYS_NICE (be root)", name);
	die(EXIT_FAILED, "cannot run as %s: %s", name, strerror(errno));
}

void policy_try(const struct policy *policy)
{
	pid_t child = fork();
	int status;

	if (child < 0)
		die(EXIT_FAILED, "cannot start a process: %s", strerror(errno));
	if (!child) {
		policy_take(policy);
		_exit(EXIT_GOOD);
	}
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			die(EXIT_FAILED, "cannot wait for a process: %s", strerror(errno));
	if (!WIFEXITED(status))
		die(EXIT_FAILED, "cannot try the policy");
	if (WEXITSTATUS(status))
		exit(WEXITSTATUS(status));
}

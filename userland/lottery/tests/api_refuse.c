// SPDX-License-Identifier: GPL-2.0
/*
 * api_refuse.c - lottery-api: every bad value gets its errno and changes
 * nothing, whatever the task is at the time.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "api.h"
#include "args.h"

#define PAGE	4096U

/* Attributes that sched_setattr(2) must refuse. */
struct bad_attr {
	const char *name;
	int error;
	struct lottery_attr attr;	/* its size is filled in */
};

#define LOTTERY(...)	{ .sched_policy = SCHED_LOTTERY, __VA_ARGS__ }

static const struct bad_attr bad_attrs[] = {
	{ "tickets 1000001", ERANGE, LOTTERY(.sched_tickets = LOTTERY_TICKETS_MAX + 1) },
	{ "tickets 2147483648", ERANGE, LOTTERY(.sched_tickets = 0x80000000) },
	{ "tickets -1", ERANGE, LOTTERY(.sched_tickets = 0xffffffff) },
	{ "tickets with SCHED_OTHER", EINVAL,
	  { .sched_policy = SCHED_OTHER, .sched_tickets = 1 } },
	{ "tickets with SCHED_BATCH", EINVAL,
	  { .sched_policy = SCHED_BATCH, .sched_tickets = 1 } },
	{ "tickets with SCHED_IDLE", EINVAL,
	  { .sched_policy = SCHED_IDLE, .sched_tickets = 1 } },
	{ "tickets with SCHED_FIFO", EINVAL,
	  { .sched_policy = SCHED_FIFO, .sched_priority = 1, .sched_tickets = 1 } },
	{ "tickets with SCHED_RR", EINVAL,
	  { .sched_policy = SCHED_RR, .sched_priority = 1, .sched_tickets = 1 } },
	{ "tickets with SCHED_DEADLINE", EINVAL,
	  { .sched_policy = SCHED_DEADLINE, .sched_runtime = 1000000,
	    .sched_deadline = 100000000, .sched_period = 100000000, .sched_tickets = 1 } },
	{ "priority 1", EINVAL, LOTTERY(.sched_priority = 1) },
	{ "priority 99", EINVAL, LOTTERY(.sched_priority = 99) },
	{ "priority -1", EINVAL, LOTTERY(.sched_priority = 0xffffffff) },
	{ "priority 1 with tickets", EINVAL,
	  LOTTERY(.sched_priority = 1, .sched_tickets = 5) },
	{ "quantum 1 ns", ERANGE, LOTTERY(.sched_runtime = 1) },
	{ "quantum 1 ns too short", ERANGE, LOTTERY(.sched_runtime = LOTTERY_QUANTUM_MIN - 1) },
	{ "quantum 1 ns too long", ERANGE, LOTTERY(.sched_runtime = LOTTERY_QUANTUM_MAX + 1) },
	{ "quantum -1", ERANGE, LOTTERY(.sched_runtime = ~0ULL) },
	{ "pad 1", EINVAL, LOTTERY(.sched_tickets = 5, .pad = 1) },
	{ "pad 1 without tickets", EINVAL, LOTTERY(.pad = 1) },
	{ "pad 1 with SCHED_OTHER", EINVAL, { .sched_policy = SCHED_OTHER, .pad = 1 } },
	{ "unknown sched_flags 0x80", EINVAL, LOTTERY(.sched_flags = 0x80) },
	{ "unknown sched_flags 1 << 63", EINVAL, LOTTERY(.sched_flags = 1ULL << 63) },
	{ "the kernel's own sched_flags 0x10000000", EINVAL,
	  LOTTERY(.sched_flags = 0x10000000) },
	{ "policy 75", EINVAL, { .sched_policy = SCHED_LOTTERY - 1 } },
	{ "policy 77", EINVAL, { .sched_policy = SCHED_LOTTERY + 1 } },
	{ "policy -1", EINVAL, { .sched_policy = 0xffffffff } },
};

/* Other calls that must be refused; @pid is the task that must not change. */
struct bad_call {
	const char *name;
	int error;
	int (*call)(pid_t pid);
};

/* A lottery attr at the start of two pages of zeros. */
static void *wide_attr(u32 size)
{
	static union {
		struct lottery_attr attr;
		u8 bytes[2 * PAGE];
	} wide;

	memset(&wide, 0, sizeof(wide));
	wide.attr = lottery_attr_of(5, 0, 0);
	wide.attr.size = size;
	return &wide;
}

static int set_size_47(pid_t pid)
{
	return attr_set_raw(pid, wide_attr(ATTR_SIZE_VER0 - 1), 0);
}

static int set_size_1(pid_t pid)
{
	return attr_set_raw(pid, wide_attr(1), 0);
}

/* E2BIG also tells the caller the size that the kernel knows. */
static int set_known_size(pid_t pid, u32 size, size_t nonzero)
{
	u8 *wide = wide_attr(size);
	int result, error;

	if (nonzero)
		wide[nonzero] = 1;
	result = attr_set_raw(pid, wide, 0);
	error = errno;
	if (result && error == E2BIG && ((struct lottery_attr *)wide)->size != ATTR_SIZE_VER2)
		error = EPROTO;
	errno = error;
	return result;
}

static int set_tail(pid_t pid)
{
	return set_known_size(pid, ATTR_SIZE_VER2 + 8, ATTR_SIZE_VER2);
}

static int set_far_tail(pid_t pid)
{
	return set_known_size(pid, PAGE, PAGE - 1);
}

static int set_above_page(pid_t pid)
{
	return set_known_size(pid, PAGE + 1, 0);
}

static int set_null(pid_t pid)
{
	return attr_set_raw(pid, NULL, 0);
}

static int set_fault(pid_t pid)
{
	return attr_set_raw(pid, (void *)8, 0);
}

static int set_call_flags(pid_t pid)
{
	return attr_set_raw(pid, wide_attr(ATTR_SIZE_VER2), 1);
}

static int set_negative_pid(pid_t pid)
{
	return attr_set_raw(-pid, wide_attr(ATTR_SIZE_VER2), 0);
}

static int set_dead_pid(pid_t pid)
{
	(void)pid;
	return attr_set_raw(dead_pid(), wide_attr(ATTR_SIZE_VER2), 0);
}

static int setscheduler(pid_t pid, int policy, int priority)
{
	struct sched_param param = { .sched_priority = priority };

	return sched_setscheduler(pid, policy, &param);
}

static int legacy_priority(pid_t pid)
{
	return setscheduler(pid, SCHED_LOTTERY, 1);
}

static int legacy_negative_priority(pid_t pid)
{
	return setscheduler(pid, SCHED_LOTTERY, -1);
}

static int legacy_negative_pid(pid_t pid)
{
	return setscheduler(-pid, SCHED_LOTTERY, 0);
}

static int legacy_dead_pid(pid_t pid)
{
	(void)pid;
	return setscheduler(dead_pid(), SCHED_LOTTERY, 0);
}

static int legacy_unknown_policy(pid_t pid)
{
	return setscheduler(pid, SCHED_LOTTERY + 1, 0);
}

static int setparam_priority(pid_t pid)
{
	struct sched_param param = { .sched_priority = 1 };

	return sched_setparam(pid, &param);
}

static int get_size_47(pid_t pid)
{
	return attr_get_raw(pid, wide_attr(0), ATTR_SIZE_VER0 - 1, 0);
}

static int get_above_page(pid_t pid)
{
	return attr_get_raw(pid, wide_attr(0), PAGE + 1, 0);
}

static int get_call_flags(pid_t pid)
{
	return attr_get_raw(pid, wide_attr(0), ATTR_SIZE_VER2, 1);
}

static int get_null(pid_t pid)
{
	return attr_get_raw(pid, NULL, ATTR_SIZE_VER2, 0);
}

static int get_negative_pid(pid_t pid)
{
	return attr_get_raw(-pid, wide_attr(0), ATTR_SIZE_VER2, 0);
}

static int get_dead_pid(pid_t pid)
{
	(void)pid;
	return attr_get_raw(dead_pid(), wide_attr(0), ATTR_SIZE_VER2, 0);
}

static const struct bad_call bad_calls[] = {
	{ "size 1", E2BIG, set_size_1 },
	{ "size 47", E2BIG, set_size_47 },
	{ "size 72 with a nonzero tail", E2BIG, set_tail },
	{ "size 4096 with a nonzero tail", E2BIG, set_far_tail },
	{ "size 4097", E2BIG, set_above_page },
	{ "no attr", EINVAL, set_null },
	{ "attr at a bad address", EFAULT, set_fault },
	{ "flags of the call", EINVAL, set_call_flags },
	{ "negative pid", EINVAL, set_negative_pid },
	{ "dead pid", ESRCH, set_dead_pid },
	{ "sched_setscheduler with priority 1", EINVAL, legacy_priority },
	{ "sched_setscheduler with priority -1", EINVAL, legacy_negative_priority },
	{ "sched_setscheduler with a negative pid", EINVAL, legacy_negative_pid },
	{ "sched_setscheduler with a dead pid", ESRCH, legacy_dead_pid },
	{ "sched_setscheduler with policy 77", EINVAL, legacy_unknown_policy },
	{ "sched_setparam with priority 1", EINVAL, setparam_priority },
	{ "sched_getattr with size 47", EINVAL, get_size_47 },
	{ "sched_getattr with size 4097", EINVAL, get_above_page },
	{ "sched_getattr with flags", EINVAL, get_call_flags },
	{ "sched_getattr without attr", EINVAL, get_null },
	{ "sched_getattr with a negative pid", EINVAL, get_negative_pid },
	{ "sched_getattr with a dead pid", ESRCH, get_dead_pid },
};

/* Report one refusal: @result and errno of the call, @before it the task. */
static void judge(struct ktap *k, const char *name, int result, int wanted, pid_t pid,
		  const struct snapshot *before)
{
	int error = errno;
	bool good = result && error == wanted;
	struct snapshot after;

	if (!result)
		ktap_note(k, "it was taken, wanted %s", strerror(wanted));
	else if (!good)
		ktap_note(k, "got '%s', wanted '%s'", strerror(error), strerror(wanted));
	after = snapshot_of(pid);
	if (!snapshot_same(before, &after)) {
		ktap_note(k,
			  "it changed: policy %d to %d, tickets %u to %u, quantum %llu to %llu, pools %llu to %llu",
			  before->policy, after.policy, before->attr.sched_tickets,
			  after.attr.sched_tickets, before->attr.sched_runtime,
			  after.attr.sched_runtime, before->tickets, after.tickets);
		good = false;
	}
	ktap_result(k, good, name);
}

static void refuse_all(struct ktap *k, pid_t pid)
{
	struct snapshot before = snapshot_of(pid);
	unsigned int i;
	int result;

	for (i = 0; i < ARRAY_SIZE(bad_attrs); i++) {
		struct lottery_attr attr = bad_attrs[i].attr;

		attr.size = sizeof(attr);
		result = attr_set(pid, &attr);
		judge(k, bad_attrs[i].name, result, bad_attrs[i].error, pid, &before);
	}
	for (i = 0; i < ARRAY_SIZE(bad_calls); i++) {
		result = bad_calls[i].call(pid);
		judge(k, bad_calls[i].name, result, bad_calls[i].error, pid, &before);
	}
}

/* All refusals, on a task in one of the states that it can be in. */
static void refuse_group(struct ktap *parent, const char *name, bool lottery, bool awake)
{
	struct subject s;
	struct ktap k;

	subject_start(&s);
	if (lottery)
		subject_join(&s, 123, 5 * NSEC_PER_MSEC);
	if (awake)
		subject_wake(&s);
	ktap_start_group(&k, parent, name, ARRAY_SIZE(bad_attrs) + ARRAY_SIZE(bad_calls));
	refuse_all(&k, s.pid);
	ktap_finish_group(&k, parent, name);
	subject_end(&s);
}

/* What a caller without CAP_SYS_NICE must not do to itself. */
struct forbidden {
	const char *name;
	u32 tickets;		/* of the caller before, 0: not in the class */
	int (*call)(pid_t pid);
};

static int join(pid_t pid)
{
	return lottery_join(pid, 0, 0);
}

static int join_with_tickets(pid_t pid)
{
	return lottery_join(pid, 5, 0);
}

static int join_with_quantum(pid_t pid)
{
	return lottery_join(pid, 123, 5 * NSEC_PER_MSEC);
}

static int join_48(pid_t pid)
{
	struct lottery_attr attr = lottery_attr_of(0, 0, 0);

	attr.size = ATTR_SIZE_VER0;
	return attr_set_raw(pid, &attr, 0);
}

static int join_legacy(pid_t pid)
{
	return setscheduler(pid, SCHED_LOTTERY, 0);
}

static int more_tickets(pid_t pid)
{
	return lottery_join(pid, 124, 0);
}

static int more_tickets_keep_policy(pid_t pid)
{
	struct lottery_attr attr = lottery_attr_of(124, 0, 0);

	attr.sched_flags = ATTR_KEEP_POLICY;
	return attr_set(pid, &attr);
}

/* RLIMIT_NICE is for the shares of SCHED_OTHER; here they are tickets. */
static int renice_up(pid_t pid)
{
	return setpriority(PRIO_PROCESS, (id_t)pid, -5);
}

static int renice_up_by_attr(pid_t pid)
{
	struct lottery_attr attr = lottery_attr_of(0, 0, -5);

	return attr_set(pid, &attr);
}

static const struct forbidden forbiddens[] = {
	{ "join", 0, join },
	{ "join with tickets", 0, join_with_tickets },
	{ "join with 48 bytes", 0, join_48 },
	{ "join by sched_setscheduler", 0, join_legacy },
	{ "more tickets", 123, more_tickets },
	{ "more tickets, policy kept", 123, more_tickets_keep_policy },
	{ "derived tickets", 123, join },
	{ "derived tickets by sched_setscheduler", 123, join_legacy },
	{ "another quantum", 123, join_with_quantum },
	{ "more derived tickets by renice", API_DERIVED, renice_up },
	{ "more derived tickets by a nice value", API_DERIVED, renice_up_by_attr },
};

enum verdict {
	VERDICT_GOOD,
	VERDICT_TAKEN,
	VERDICT_CHANGED,
	VERDICT_ERRNO,		/* + the errno */
};

/* In the unprivileged child, on itself. */
static int try_forbidden(const void *arg)
{
	const struct forbidden *f = arg;
	struct snapshot before = snapshot_of(0), after;

	if (!f->call(0))
		return VERDICT_TAKEN;
	/* setpriority(2) has always said EACCES where others say EPERM */
	if (errno != EPERM && errno != EACCES)
		return VERDICT_ERRNO + errno;
	after = snapshot_of(0);
	/* the pools' sum moves with the parent's waiting */
	after.tickets = before.tickets;
	return snapshot_same(&before, &after) ? VERDICT_GOOD : VERDICT_CHANGED;
}

static void refuse_unprivileged(struct ktap *parent)
{
	static const char *const drops[] = {
		[DROP_CAPABILITY] = "root without CAP_SYS_NICE",
		[DROP_USER] = "nobody",
	};
	const char *group = "refusals of unprivileged callers";
	unsigned int how, i;
	struct ktap k;
	char name[128];
	int verdict;

	ktap_start_group(&k, parent, group, ARRAY_SIZE(drops) * ARRAY_SIZE(forbiddens));
	for (how = 0; how < ARRAY_SIZE(drops); how++) {
		for (i = 0; i < ARRAY_SIZE(forbiddens); i++) {
			const struct forbidden *f = &forbiddens[i];

			verdict = unprivileged(how, f->tickets, try_forbidden, f);
			if (verdict == VERDICT_TAKEN)
				ktap_note(&k, "it was taken, wanted EPERM");
			else if (verdict == VERDICT_CHANGED)
				ktap_note(&k, "it was refused, but something changed");
			else if (verdict > VERDICT_ERRNO)
				ktap_note(&k, "got '%s', wanted EPERM",
					  strerror(verdict - VERDICT_ERRNO));
			else if (verdict < 0)
				ktap_note(&k, "the caller did not get that far");
			snprintf(name, sizeof(name), "%s: %s", drops[how], f->name);
			ktap_result(&k, verdict == VERDICT_GOOD, name);
		}
	}
	ktap_finish_group(&k, parent, group);
}

void api_refusals(struct ktap *k)
{
	refuse_group(k, "refusals for a SCHED_OTHER task", false, false);
	refuse_group(k, "refusals for a sleeping lottery task", true, false);
	refuse_group(k, "refusals for a runnable lottery task", true, true);
	refuse_unprivileged(k);
}

// SPDX-License-Identifier: GPL-2.0
/* api_accept.c - lottery-api: what is set is what is read, old callers too. */
#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#include "api.h"
#include "args.h"

#define POISON	0xa5

/* Set and check for success. */
static bool expect_set(struct ktap_case *t, pid_t pid, const struct lottery_attr *attr)
{
	return expect(t, !attr_set(pid, attr),
		      "policy %u, tickets %u, quantum %llu, flags %llx, size %u: %s",
		      attr->sched_policy, attr->sched_tickets, attr->sched_runtime,
		      attr->sched_flags, attr->size, strerror(errno));
}

static void round_trip_of_tickets(struct ktap_case *t)
{
	static const u32 tickets[] = { 1, 2, 1000, LOTTERY_TICKETS_MAX, 0, 7 };
	struct subject s;
	unsigned int i;

	subject_start(&s);
	for (i = 0; i < ARRAY_SIZE(tickets); i++) {
		struct lottery_attr attr = lottery_attr_of(tickets[i], 0, 0);

		if (expect_set(t, s.pid, &attr))
			expect_lottery(t, s.pid, tickets[i], 0);
	}
	subject_end(&s);
}

/* A quantum is read as it was set or as it is used, in whole ticks. */
static void round_trip_of_quantum(struct ktap_case *t)
{
	static const u64 quanta[] = {
		LOTTERY_QUANTUM_MIN, NSEC_PER_MSEC, 1500 * NSEC_PER_USEC,
		5 * NSEC_PER_MSEC, LOTTERY_QUANTUM_MAX, 0,
	};
	struct subject s;
	unsigned int i;

	subject_start(&s);
	for (i = 0; i < ARRAY_SIZE(quanta); i++) {
		struct lottery_attr attr = lottery_attr_of(50, quanta[i], 0);
		u64 ticks = (quanta[i] + api.tick_ns - 1) / api.tick_ns;
		u64 used = (ticks ? ticks : 1) * api.tick_ns;

		if (!expect_set(t, s.pid, &attr))
			continue;
		attr = attr_now(t, s.pid);
		expect(t, attr.sched_runtime == quanta[i] ||
		       (quanta[i] && attr.sched_runtime == used),
		       "set a quantum of %llu, read %llu", quanta[i], attr.sched_runtime);
		expect(t, attr.sched_tickets == 50, "tickets %u, wanted 50",
		       attr.sched_tickets);
		expect(t, rr_interval_ns(s.pid) == used,
		       "quantum %llu: sched_rr_get_interval says %llu, wanted %llu",
		       quanta[i], rr_interval_ns(s.pid), used);
	}
	subject_end(&s);
}

/* A caller with a shorter structure: what it does not know is as if 0. */
static void short_caller(struct ktap_case *t, u32 size)
{
	struct lottery_attr attr = lottery_attr_of(0, 0, 0);
	struct subject s;

	subject_start(&s);
	subject_join(&s, 77, 0);
	attr.size = size;
	attr.sched_tickets = 99;	/* behind the end, so nobody's */
	if (expect_set(t, s.pid, &attr))
		expect_lottery(t, s.pid, 0, 0);
	subject_end(&s);
}

static void caller_48(struct ktap_case *t)
{
	short_caller(t, ATTR_SIZE_VER0);
}

static void caller_56(struct ktap_case *t)
{
	short_caller(t, ATTR_SIZE_VER1);
}

static void caller_size_0(struct ktap_case *t)
{
	short_caller(t, 0);
}

static void caller_72(struct ktap_case *t)
{
	struct {
		struct lottery_attr attr;
		u64 tail;
	} wide = { .attr = lottery_attr_of(88, 0, 0) };
	struct subject s;

	wide.attr.size = sizeof(wide);
	subject_start(&s);
	if (expect(t, !attr_set_raw(s.pid, &wide, 0), "size 72: %s", strerror(errno)))
		expect_lottery(t, s.pid, 88, 0);
	subject_end(&s);
}

/* What is filled of a buffer of @usize bytes, and what is left alone. */
static void get_with_size(struct ktap_case *t, pid_t pid, u32 usize, u32 filled)
{
	union {
		struct lottery_attr attr;
		u8 bytes[128];
	} buffer;
	unsigned int i;

	memset(&buffer, POISON, sizeof(buffer));
	if (!expect(t, !attr_get_raw(pid, &buffer, usize, 0), "size %u: %s", usize,
		    strerror(errno)))
		return;
	expect(t, buffer.attr.size == filled, "size %u: says it filled %u, wanted %u",
	       usize, buffer.attr.size, filled);
	expect(t, buffer.attr.sched_policy == SCHED_LOTTERY, "size %u: policy %u", usize,
	       buffer.attr.sched_policy);
	if (filled == ATTR_SIZE_VER2)
		expect(t, buffer.attr.sched_tickets == 66, "size %u: tickets %u, wanted 66",
		       usize, buffer.attr.sched_tickets);
	for (i = filled; i < sizeof(buffer); i++)
		if (!expect(t, buffer.bytes[i] == POISON, "size %u: byte %u is written",
			    usize, i))
			break;
}

static void getattr_sizes(struct ktap_case *t)
{
	struct subject s;

	subject_start(&s);
	subject_join(&s, 66, 0);
	get_with_size(t, s.pid, ATTR_SIZE_VER0, ATTR_SIZE_VER0);
	get_with_size(t, s.pid, ATTR_SIZE_VER1, ATTR_SIZE_VER1);
	get_with_size(t, s.pid, ATTR_SIZE_VER2, ATTR_SIZE_VER2);
	get_with_size(t, s.pid, ATTR_SIZE_VER2 + 8, ATTR_SIZE_VER2);
	subject_end(&s);
}

static void ignored_fields(struct ktap_case *t)
{
	struct lottery_attr attr = lottery_attr_of(44, 0, 0);
	struct subject s;

	subject_start(&s);
	attr.sched_deadline = 12345;
	attr.sched_period = 1;
	if (expect_set(t, s.pid, &attr))
		expect_lottery(t, s.pid, 44, 0);
	attr = attr_now(t, s.pid);
	expect(t, !attr.sched_deadline && !attr.sched_period,
	       "deadline %llu, period %llu, wanted 0", attr.sched_deadline,
	       attr.sched_period);
	subject_end(&s);
}

static void setscheduler_derives(struct ktap_case *t)
{
	struct sched_param param = { };
	struct subject s;

	subject_start(&s);
	subject_join(&s, 33, 0);
	expect(t, !sched_setscheduler(s.pid, SCHED_LOTTERY, &param),
	       "sched_setscheduler: %s", strerror(errno));
	expect_lottery(t, s.pid, 0, 0);
	expect(t, sched_getscheduler(s.pid) == SCHED_LOTTERY,
	       "sched_getscheduler says %d", sched_getscheduler(s.pid));
	subject_end(&s);
}

static void setparam_keeps(struct ktap_case *t)
{
	struct sched_param param = { };
	struct subject s;

	subject_start(&s);
	subject_join(&s, 22, 5 * NSEC_PER_MSEC);
	expect(t, !sched_setparam(s.pid, &param), "sched_setparam: %s", strerror(errno));
	expect_lottery(t, s.pid, 22, 5 * NSEC_PER_MSEC);
	param.sched_priority = 9;
	expect(t, !sched_getparam(s.pid, &param) && !param.sched_priority,
	       "sched_getparam says priority %d, wanted 0", param.sched_priority);
	subject_end(&s);
}

static void keep_policy(struct ktap_case *t)
{
	struct lottery_attr attr = lottery_attr_of(700, 0, 0);
	struct subject s;

	attr.sched_flags = ATTR_KEEP_POLICY;
	subject_start(&s);
	expect(t, attr_set(s.pid, &attr) && errno == EINVAL,
	       "a kept SCHED_OTHER took tickets, or: %s", strerror(errno));
	subject_join(&s, 11, 0);
	attr.sched_policy = SCHED_OTHER;	/* not looked at */
	if (expect_set(t, s.pid, &attr))
		expect_lottery(t, s.pid, 700, 0);
	subject_end(&s);
}

static void keep_params(struct ktap_case *t)
{
	struct lottery_attr attr = lottery_attr_of(700, 0, 0);
	struct subject s;

	subject_start(&s);
	subject_join(&s, 11, 5 * NSEC_PER_MSEC);
	attr.sched_flags = ATTR_KEEP_PARAMS;
	if (expect_set(t, s.pid, &attr))
		expect_lottery(t, s.pid, 11, 5 * NSEC_PER_MSEC);
	attr.sched_flags = ATTR_KEEP_PARAMS | ATTR_KEEP_POLICY;
	if (expect_set(t, s.pid, &attr))
		expect_lottery(t, s.pid, 11, 5 * NSEC_PER_MSEC);
	subject_end(&s);
}

/* Tickets and quantum are gone with the class, and do not come back with it. */
static void leave_and_return(struct ktap_case *t)
{
	struct lottery_attr attr = { .size = sizeof(attr), .sched_policy = SCHED_OTHER };
	struct subject s;

	subject_start(&s);
	subject_join(&s, 55, 5 * NSEC_PER_MSEC);
	if (expect_set(t, s.pid, &attr)) {
		attr = attr_now(t, s.pid);
		expect(t, attr.sched_policy == SCHED_OTHER && !attr.sched_tickets,
		       "policy %u with %u tickets, wanted SCHED_OTHER with 0",
		       attr.sched_policy, attr.sched_tickets);
	}
	attr = lottery_attr_of(0, 0, 0);
	attr.size = ATTR_SIZE_VER0;
	if (expect_set(t, s.pid, &attr))
		expect_lottery(t, s.pid, 0, 0);
	subject_end(&s);
}

enum departure {
	LEFT,
	NOT_ALLOWED,
	NOT_GONE,
	ALLOWED_BACK,
};

/* In the unprivileged child, on itself. */
static int leave(const void *arg)
{
	struct lottery_attr attr = { .size = sizeof(attr), .sched_policy = SCHED_OTHER };

	(void)arg;
	if (attr_set(0, &attr))
		return NOT_ALLOWED;
	if (attr_get(0, &attr) || attr.sched_policy != SCHED_OTHER || attr.sched_tickets)
		return NOT_GONE;
	return lottery_join(0, 5, 0) && errno == EPERM ? LEFT : ALLOWED_BACK;
}

static void leave_unprivileged(struct ktap_case *t)
{
	static const char *const words[] = {
		[LEFT] = "left",
		[NOT_ALLOWED] = "may not leave",
		[NOT_GONE] = "is still in the class",
		[ALLOWED_BACK] = "may come back",
	};
	int how, departure;

	for (how = DROP_CAPABILITY; how <= DROP_USER; how++) {
		departure = unprivileged(how, 123, leave, NULL);
		expect(t, departure == LEFT, "%s: it %s",
		       how == DROP_USER ? "nobody" : "root without CAP_SYS_NICE",
		       departure < 0 ? "did not get that far" : words[departure]);
	}
}

enum lowering {
	LOWERED,
	NOT_LOWERED,
	RAISED_AGAIN,
};

/* In the unprivileged child, on itself. */
static int lower_derived(const void *arg)
{
	struct lottery_attr attr;

	(void)arg;
	if (setpriority(PRIO_PROCESS, 0, 10) || attr_get(0, &attr) || attr.sched_nice != 10 ||
	    attr.sched_tickets)
		return NOT_LOWERED;
	return setpriority(PRIO_PROCESS, 0, 9) ? LOWERED : RAISED_AGAIN;
}

static int lower_given(const void *arg)
{
	(void)arg;
	if (lottery_join(0, 122, 0) || tickets_of_task(0) != 122)
		return NOT_LOWERED;
	return lottery_join(0, 123, 0) ? LOWERED : RAISED_AGAIN;
}

static void lower_unprivileged(struct ktap_case *t)
{
	static const struct {
		u32 tickets;
		int (*lower)(const void *arg);
	} ways[] = { { API_DERIVED, lower_derived }, { 123, lower_given } };
	static const char *const words[] = {
		[LOWERED] = "did",
		[NOT_LOWERED] = "may not",
		[RAISED_AGAIN] = "may raise them again",
	};
	int how, lowering;
	unsigned int i;

	for (i = 0; i < 2 * ARRAY_SIZE(ways); i++) {
		how = i % 2 ? DROP_USER : DROP_CAPABILITY;
		lowering = unprivileged(how, ways[i / 2].tickets, ways[i / 2].lower, NULL);
		expect(t, lowering == LOWERED, "%s, %u tickets: it %s",
		       how == DROP_USER ? "nobody" : "root without CAP_SYS_NICE",
		       ways[i / 2].tickets, lowering < 0 ? "did not get that far" :
		       words[lowering]);
	}
}

static void priority_limits(struct ktap_case *t)
{
	int min = sched_get_priority_min(SCHED_LOTTERY);
	int max = sched_get_priority_max(SCHED_LOTTERY);

	expect(t, !min && !max, "sched_get_priority_min/max say %d/%d, wanted 0/0", min, max);
}

/* Through every policy and back, the task runnable all the time. */
static void every_policy(struct ktap_case *t)
{
	static const struct lottery_attr others[] = {
		{ .sched_policy = SCHED_OTHER },
		{ .sched_policy = SCHED_BATCH },
		{ .sched_policy = SCHED_IDLE },
		{ .sched_policy = SCHED_FIFO, .sched_priority = 1 },
		{ .sched_policy = SCHED_RR, .sched_priority = 2 },
	};
	struct subject s;
	unsigned int i;

	subject_start(&s);
	subject_wake(&s);
	for (i = 0; i < ARRAY_SIZE(others); i++) {
		struct lottery_attr attr = others[i];

		subject_join(&s, 400 + i, 0);
		expect_lottery(t, s.pid, 400 + i, 0);
		expect_pool(t, &s, 400 + i);
		attr.size = sizeof(attr);
		expect_set(t, s.pid, &attr);
		expect(t, sched_getscheduler(s.pid) == (int)attr.sched_policy,
		       "policy %d, wanted %u", sched_getscheduler(s.pid),
		       attr.sched_policy);
		expect_pool(t, &s, 0);
	}
	subject_end(&s);
}

void api_acceptances(struct ktap *k)
{
	static const struct ktap_test tests[] = {
		{ "tickets are read as they were set", round_trip_of_tickets },
		{ "the quantum is read and used in whole ticks", round_trip_of_quantum },
		{ "a caller with 48 bytes gets derived tickets", caller_48 },
		{ "a caller with 56 bytes gets derived tickets", caller_56 },
		{ "a caller with size 0 is one with 48 bytes", caller_size_0 },
		{ "a caller with 72 bytes and a zero tail is served", caller_72 },
		{ "sched_getattr fills what fits", getattr_sizes },
		{ "deadline and period are ignored", ignored_fields },
		{ "sched_setscheduler derives the tickets", setscheduler_derives },
		{ "sched_setparam keeps tickets and quantum", setparam_keeps },
		{ "KEEP_POLICY changes the tickets alone", keep_policy },
		{ "KEEP_PARAMS keeps tickets and quantum", keep_params },
		{ "tickets do not outlive the class", leave_and_return },
		{ "anybody may leave the class, and not return", leave_unprivileged },
		{ "anybody may lower tickets for good", lower_unprivileged },
		{ "the limits of the priority are 0", priority_limits },
		{ "through every policy and back while runnable", every_policy },
	};

	ktap_group(k, "acceptances", tests, ARRAY_SIZE(tests));
}

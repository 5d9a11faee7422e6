// SPDX-License-Identifier: GPL-2.0
/* api_inherit.c - lottery-api: tickets through fork, threads and exec. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api.h"
#include "args.h"
#include "clock.h"

/*
 * The parent is a child of ours that was made a lottery task while it waited
 * for the release; then it has a child of its own, and both look at themselves.
 */
enum who {
	PARENT,
	CHILD,
};

/* What each of the two saw. */
struct seen {
	struct lottery_attr attr;
	u64 quantum_ns;
	int policy;
	int error;
};

struct family {
	struct seen seen[2];
};

struct plan {
	struct family *family;		/* shared memory */
	int (*fn)(struct family *family);
};

static void look(struct seen *seen)
{
	seen->error = attr_get(0, &seen->attr) ? errno : 0;
	seen->quantum_ns = rr_interval_ns(0);
	seen->policy = sched_getscheduler(0);
}

static int look_after_fork(struct family *family)
{
	pid_t self = getpid(), pid = fork();
	int status;

	if (!pid) {
		die_with_parent(self);
		look(&family->seen[CHILD]);
		_exit(0);
	}
	look(&family->seen[PARENT]);
	return pid > 0 && waitpid(pid, &status, 0) == pid && !status ? 0 : EXIT_FAILED;
}

static void *look_in_thread(void *arg)
{
	struct family *family = arg;

	look(&family->seen[CHILD]);
	return NULL;
}

static int look_after_clone(struct family *family)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, look_in_thread, family))
		return EXIT_FAILED;
	look(&family->seen[PARENT]);
	return pthread_join(thread, NULL) ? EXIT_FAILED : 0;
}

static CREW_FN(run_plan)
{
	const struct plan *plan = arg;

	(void)crew;
	(void)i;
	return plan->fn(plan->family);
}

/*
 * Let a task with @attr (nothing when NULL: sched_setscheduler with
 * SCHED_RESET_ON_FORK) have a child by @fn. False when that did not happen.
 */
static bool have_child(struct ktap_case *t, const struct lottery_attr *attr,
		       int (*fn)(struct family *family), struct family *result)
{
	struct sched_param param = { };
	struct crew crew, memory;
	struct plan plan;
	int refused;
	bool good;

	/* the pages behind the slots of a second crew are the shared memory */
	crew_create(&memory, sizeof(struct family) / sizeof(struct crew_slot) + 1);
	plan.family = (struct family *)memory.page->slot;
	plan.fn = fn;
	crew_create(&crew, 1);
	crew_fork(&crew, run_plan, &plan);
	crew_gather(&crew, API_WAIT_NS);
	if (attr)
		refused = attr_set(crew.pid[0], attr);
	else
		refused = sched_setscheduler(crew.pid[0],
					     SCHED_LOTTERY | SCHED_RESET_ON_FORK, &param);
	good = expect(t, !refused, "the parent cannot be set up: %s", strerror(errno));
	crew_release(&crew);
	good = expect(t, !crew_reap(&crew, API_WAIT_NS), "the parent did not finish") && good;
	*result = *plan.family;
	good = good && expect(t, !result->seen[PARENT].error && !result->seen[CHILD].error,
			      "sched_getattr failed in parent or child");
	crew_destroy(&crew);
	crew_destroy(&memory);
	return good;
}

static void expect_same(struct ktap_case *t, const struct family *f, u32 tickets,
			u64 quantum_ns)
{
	unsigned int who;

	for (who = PARENT; who <= CHILD; who++) {
		const struct seen *seen = &f->seen[who];
		const char *name = who == PARENT ? "parent" : "child";

		expect(t, seen->policy == SCHED_LOTTERY, "%s: policy %d", name, seen->policy);
		expect(t, seen->attr.sched_tickets == tickets, "%s: tickets %u, wanted %u",
		       name, seen->attr.sched_tickets, tickets);
		expect(t, seen->quantum_ns == quantum_ns, "%s: quantum %llu ns, wanted %llu",
		       name, seen->quantum_ns, quantum_ns);
	}
}

static void fork_inherits(struct ktap_case *t)
{
	struct lottery_attr attr = lottery_attr_of(77, 5 * api.tick_ns, 0);
	struct family f;

	if (have_child(t, &attr, look_after_fork, &f))
		expect_same(t, &f, 77, 5 * api.tick_ns);
}

static void thread_inherits(struct ktap_case *t)
{
	struct lottery_attr attr = lottery_attr_of(78, 5 * api.tick_ns, 0);
	struct family f;

	if (have_child(t, &attr, look_after_clone, &f))
		expect_same(t, &f, 78, 5 * api.tick_ns);
}

static void fork_inherits_derived(struct ktap_case *t)
{
	struct lottery_attr attr = lottery_attr_of(0, 0, 0);
	struct family f;

	if (have_child(t, &attr, look_after_fork, &f))
		expect_same(t, &f, 0, api.tick_ns);
}

/* The parent keeps the class and the flag, the child has neither. */
static void expect_reset(struct ktap_case *t, const struct family *f, u32 tickets)
{
	const struct seen *parent = &f->seen[PARENT], *child = &f->seen[CHILD];

	expect(t, parent->policy == (SCHED_LOTTERY | SCHED_RESET_ON_FORK),
	       "parent: policy %#x, wanted %#x", parent->policy,
	       SCHED_LOTTERY | SCHED_RESET_ON_FORK);
	expect(t, parent->attr.sched_flags & ATTR_RESET_ON_FORK,
	       "parent: flags %#llx lack RESET_ON_FORK", parent->attr.sched_flags);
	expect(t, parent->attr.sched_tickets == tickets, "parent: tickets %u, wanted %u",
	       parent->attr.sched_tickets, tickets);
	expect(t, child->policy == SCHED_OTHER, "child: policy %#x, wanted SCHED_OTHER",
	       child->policy);
	expect(t, !child->attr.sched_tickets, "child: tickets %u, wanted 0",
	       child->attr.sched_tickets);
	expect(t, !(child->attr.sched_flags & ATTR_RESET_ON_FORK),
	       "child: flags %#llx", child->attr.sched_flags);
}

static void reset_by_attr(struct ktap_case *t)
{
	struct lottery_attr attr = lottery_attr_of(79, 0, 0);
	struct family f;

	attr.sched_flags = ATTR_RESET_ON_FORK;
	if (have_child(t, &attr, look_after_fork, &f))
		expect_reset(t, &f, 79);
}

static void reset_thread_by_attr(struct ktap_case *t)
{
	struct lottery_attr attr = lottery_attr_of(80, 0, 0);
	struct family f;

	attr.sched_flags = ATTR_RESET_ON_FORK;
	if (have_child(t, &attr, look_after_clone, &f))
		expect_reset(t, &f, 80);
}

static void reset_by_policy(struct ktap_case *t)
{
	struct family f;

	if (have_child(t, NULL, look_after_fork, &f))
		expect_reset(t, &f, 0);
}

/* Becomes a program that waits for the end of its standard input. */
static CREW_FN(become_waiter)
{
	const int *input = arg;

	(void)crew;
	(void)i;
	if (dup2(*input, STDIN_FILENO) < 0)
		return EXIT_FAILED;
	execl("/proc/self/exe", "lottery-api", API_WAIT_VERB, NULL);
	return EXIT_FAILED;
}

/*
 * Two pipes: @hold keeps the new program waiting, @gone is close-on-exec in the
 * child, so that its end of file tells that the exec has happened.
 */
static bool pools_hold_no_more(void *arg)
{
	return tickets_in_pools() <= *(u64 *)arg;
}

static void exec_keeps(struct ktap_case *t)
{
	u64 begin = tickets_in_pools();
	int hold[2], gone[2];
	struct crew crew;
	char byte;

	if (!expect(t, !pipe2(hold, O_CLOEXEC) && !pipe2(gone, O_CLOEXEC), "no pipe: %s",
		    strerror(errno)))
		return;
	crew_create(&crew, 1);
	crew_fork(&crew, become_waiter, &hold[0]);
	close(gone[1]);
	crew_gather(&crew, API_WAIT_NS);
	crew_enlist(&crew, 0, 81, 5 * NSEC_PER_MSEC);
	crew_release(&crew);
	expect(t, read(gone[0], &byte, 1) == 0, "the end of the exec was not seen");
	expect_lottery(t, crew.pid[0], 81, 5 * NSEC_PER_MSEC);
	close(hold[1]);
	expect(t, !crew_reap(&crew, API_WAIT_NS), "the program did not run to its end");
	crew_destroy(&crew);
	close(hold[0]);
	close(gone[0]);
	/* It is reaped before it has left its pool; as the last test's may have been. */
	wait_until(pools_hold_no_more, &begin, API_WAIT_NS);
}

int api_wait_verb(void)
{
	char byte;

	return read(STDIN_FILENO, &byte, 1) == 0 ? EXIT_GOOD : EXIT_FAILED;
}

void api_inheritance(struct ktap *k)
{
	static const struct ktap_test tests[] = {
		{ "fork inherits tickets and quantum", fork_inherits },
		{ "a thread inherits tickets and quantum", thread_inherits },
		{ "fork inherits derived tickets", fork_inherits_derived },
		{ "reset on fork by sched_setattr", reset_by_attr },
		{ "reset on fork for a thread", reset_thread_by_attr },
		{ "reset on fork by sched_setscheduler", reset_by_policy },
		{ "exec keeps tickets and quantum", exec_keeps },
	};

	ktap_group(k, "inheritance", tests, ARRAY_SIZE(tests));
}

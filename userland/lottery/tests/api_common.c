// SPDX-License-Identifier: GPL-2.0
/* api_common.c - lottery-api: the tasks that are worked on. */
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api.h"
#include "args.h"
#include "clock.h"
#include "hog.h"

#define NOBODY	65534

/* Exit codes of the child of unprivileged() that are not the function's. */
#define CODE_LOST	255

struct api api;

void subject_start(struct subject *s)
{
	crew_create(&s->crew, 1);
	crew_fork(&s->crew, hog, NULL);
	crew_gather(&s->crew, API_WAIT_NS);
	s->pid = s->crew.pid[0];
	s->others = 0;
	s->awake = false;
}

void subject_join(struct subject *s, u32 tickets, u64 quantum_ns)
{
	crew_enlist(&s->crew, 0, tickets, quantum_ns);
}

void subject_wake(struct subject *s)
{
	s->others = tickets_in_pools();
	s->awake = true;
	crew_release(&s->crew);
}

static bool pools_hold(void *arg)
{
	const u64 *tickets = arg;

	return tickets_in_pools() == *tickets;
}

bool await_pools(u64 tickets)
{
	return wait_until(pools_hold, &tickets, API_WAIT_NS);
}

void subject_end(struct subject *s)
{
	crew_destroy(&s->crew);
	if (s->awake)
		await_pools(s->others);
}

u64 subject_tickets(const struct subject *s)
{
	return tickets_in_pools() - s->others;
}

struct lottery_attr attr_now(struct ktap_case *t, pid_t pid)
{
	struct lottery_attr attr;

	if (!expect(t, !attr_get(pid, &attr), "sched_getattr of pid %d: %s", pid,
		    strerror(errno)))
		memset(&attr, 0, sizeof(attr));
	return attr;
}

void expect_lottery(struct ktap_case *t, pid_t pid, u32 tickets, u64 quantum_ns)
{
	struct lottery_attr attr = attr_now(t, pid);

	expect(t, attr.size == ATTR_SIZE_VER2, "size %u, wanted %u", attr.size,
	       ATTR_SIZE_VER2);
	expect(t, attr.sched_policy == SCHED_LOTTERY, "policy %u, wanted %u",
	       attr.sched_policy, SCHED_LOTTERY);
	expect(t, attr.sched_tickets == tickets, "tickets %u, wanted %u",
	       attr.sched_tickets, tickets);
	expect(t, attr.sched_runtime == quantum_ns, "quantum %llu ns, wanted %llu",
	       attr.sched_runtime, quantum_ns);
	expect(t, !attr.sched_priority && !attr.pad, "priority %u, pad %u, wanted 0",
	       attr.sched_priority, attr.pad);
}

void expect_pool(struct ktap_case *t, const struct subject *s, u64 tickets)
{
	expect(t, await_pools(s->others + tickets), "%llu tickets in the pools, wanted %llu",
	       subject_tickets(s), tickets);
}

struct snapshot snapshot_of(pid_t pid)
{
	struct sched_param param = { .sched_priority = -1 };
	struct snapshot snap;

	memset(&snap, 0, sizeof(snap));		/* they are compared as bytes */
	attr_get(pid, &snap.attr);
	snap.policy = sched_getscheduler(pid);
	sched_getparam(pid, &param);
	snap.priority = param.sched_priority;
	snap.nice = getpriority(PRIO_PROCESS, (id_t)pid);
	snap.quantum_ns = rr_interval_ns(pid);
	snap.tickets = tickets_in_pools();
	return snap;
}

bool snapshot_same(const struct snapshot *a, const struct snapshot *b)
{
	return !memcmp(a, b, sizeof(*a));
}

pid_t dead_pid(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	if (pid < 0 || waitpid(pid, NULL, 0) != pid)
		die(EXIT_FAILED, "cannot start a child: %s", strerror(errno));
	return pid;
}

u64 rr_interval_ns(pid_t pid)
{
	struct timespec t;

	if (sched_rr_get_interval(pid, &t))
		return 0;
	return (u64)t.tv_sec * NSEC_PER_SEC + (u64)t.tv_nsec;
}

static bool drop_capability(void)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
	u32 bit = CAP_TO_MASK(CAP_SYS_NICE);
	unsigned int word = CAP_TO_INDEX(CAP_SYS_NICE);

	if (syscall(SYS_capget, &header, data))
		return false;
	data[word].effective &= ~bit;
	data[word].permitted &= ~bit;
	data[word].inheritable &= ~bit;
	return !syscall(SYS_capset, &header, data);
}

static bool drop_user(void)
{
	return !setresgid(NOBODY, NOBODY, NOBODY) && !setresuid(NOBODY, NOBODY, NOBODY);
}

static bool join_first(u32 tickets)
{
	struct rlimit any = { .rlim_cur = 40, .rlim_max = 40 };

	if (tickets == API_DERIVED)
		return !setrlimit(RLIMIT_NICE, &any) && !lottery_join(0, 0, 0);
	return !tickets || !lottery_join(0, tickets, 0);
}

int unprivileged(enum drop how, u32 tickets, int (*fn)(const void *arg), const void *arg)
{
	pid_t self = getpid(), pid = fork();
	int status;

	if (!pid) {
		die_with_parent(self);
		if (!join_first(tickets))
			_exit(CODE_LOST);
		if (!(how == DROP_USER ? drop_user() : drop_capability()))
			_exit(CODE_LOST);
		_exit(fn(arg) & 0x7f);
	}
	if (pid < 0)
		die(EXIT_FAILED, "cannot start a child: %s", strerror(errno));
	status = wait_child(pid, now_ns() + API_WAIT_NS);
	if (status < 0 || !WIFEXITED(status) || WEXITSTATUS(status) == CODE_LOST)
		return -1;
	return WEXITSTATUS(status);
}

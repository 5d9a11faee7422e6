// SPDX-License-Identifier: GPL-2.0
/*
 * api_effect.c - lottery-api: what was set takes effect, seen in the sums of
 * /proc/sched_lottery, in priority inheritance, cgroups and SysRq.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "api.h"
#include "args.h"
#include "cgroup.h"
#include "clock.h"
#include "procfs.h"

#define SYSRQ_TRIGGER	"/proc/sysrq-trigger"

static void only_runnable_counts(struct ktap_case *t)
{
	struct subject s;

	subject_start(&s);
	subject_join(&s, 600, 0);
	subject_wake(&s);
	expect_pool(t, &s, 600);
	subject_end(&s);
	expect_pool(t, &s, 0);
}

static void tickets_alone_take_effect(struct ktap_case *t)
{
	static const u32 tickets[] = { 600, 1, LOTTERY_TICKETS_MAX, 599 };
	struct subject s;
	unsigned int i;

	subject_start(&s);
	subject_wake(&s);
	for (i = 0; i < ARRAY_SIZE(tickets); i++) {
		subject_join(&s, tickets[i], 0);
		expect_pool(t, &s, tickets[i]);
	}
	subject_end(&s);
}

static void quantum_alone_takes_effect(struct ktap_case *t)
{
	struct subject s;
	unsigned int ticks;

	subject_start(&s);
	subject_wake(&s);
	for (ticks = 1; ticks < 4; ticks++) {
		subject_join(&s, 10, ticks * api.tick_ns);
		expect(t, rr_interval_ns(s.pid) == ticks * api.tick_ns,
		       "quantum %llu, wanted %u ticks", rr_interval_ns(s.pid), ticks);
	}
	subject_end(&s);
}

static void renice_moves_derived(struct ktap_case *t)
{
	static const int nices[] = { 5, 19, -20, 0 };
	struct subject s;
	unsigned int i;

	subject_start(&s);
	subject_join(&s, 0, 0);
	subject_wake(&s);
	expect_pool(t, &s, tickets_of_nice(0));
	for (i = 0; i < ARRAY_SIZE(nices); i++) {
		expect(t, !setpriority(PRIO_PROCESS, (id_t)s.pid, nices[i]),
		       "setpriority to %d: %s", nices[i], strerror(errno));
		expect_pool(t, &s, tickets_of_nice(nices[i]));
		expect_lottery(t, s.pid, 0, 0);
	}
	subject_end(&s);
}

static void renice_keeps_explicit(struct ktap_case *t)
{
	struct subject s;

	subject_start(&s);
	subject_join(&s, 600, 0);
	subject_wake(&s);
	expect(t, !setpriority(PRIO_PROCESS, (id_t)s.pid, 10), "setpriority: %s",
	       strerror(errno));
	expect_pool(t, &s, 600);
	expect_lottery(t, s.pid, 600, 0);
	subject_end(&s);
}

static bool is_stopped(void *arg)
{
	struct task_stat stat;

	return !read_task_stat(*(pid_t *)arg, &stat) && stat.state == 'T';
}

static void stop_and_continue(struct ktap_case *t)
{
	struct subject s;

	subject_start(&s);
	subject_join(&s, 600, 0);
	subject_wake(&s);
	kill(s.pid, SIGSTOP);
	expect(t, wait_until(is_stopped, &s.pid, API_WAIT_NS), "it does not stop");
	expect_pool(t, &s, 0);
	subject_join(&s, 500, 0);
	expect_pool(t, &s, 0);
	kill(s.pid, SIGCONT);
	expect_pool(t, &s, 500);
	subject_end(&s);
}

struct progress {
	u64 lotteries;
	u32 cpu;
};

static bool has_drawn(void *arg)
{
	const struct progress *p = arg;

	return lottery_count(p->cpu) >= p->lotteries;
}

static void lotteries_are_held(struct ktap_case *t)
{
	struct progress p = { .cpu = api.cpu };
	struct subject s, rival;

	subject_start(&s);
	subject_start(&rival);
	subject_join(&s, 600, 0);
	subject_join(&rival, 600, 0);
	p.lotteries = lottery_count(api.cpu) + 20;
	subject_wake(&s);
	subject_wake(&rival);
	expect(t, wait_until(has_drawn, &p, API_WAIT_NS),
	       "no 20 lotteries on CPU %u with two runnable tasks", api.cpu);
	subject_end(&rival);
	subject_end(&s);
}

/* Move @pid to the cgroup at @path. */
static bool move_to(struct ktap_case *t, const char *path, pid_t pid)
{
	int error = cgroup_move(path, pid);

	return expect(t, !error, "cannot move pid %d to %s: %s", pid, path,
		      strerror(-error));
}

static void cgroup_moves(struct ktap_case *t)
{
	char path[2][64];
	struct subject s;
	unsigned int i;

	/* with the cpu controller a move changes the task's group in the scheduler */
	if (!cgroups_usable()) {
		skip_test(t, CGROUP_MISSING);
		return;
	}
	for (i = 0; i < 2; i++) {
		snprintf(path[i], sizeof(path[i]), CGROUP_ROOT "/lottery-api-%d-%u",
			 getpid(), i);
		expect(t, !cgroup_make(path[i]), "cannot make %s", path[i]);
	}
	subject_start(&s);
	subject_join(&s, 600, 5 * NSEC_PER_MSEC);
	subject_wake(&s);
	for (i = 0; i < 20; i++) {
		if (!move_to(t, path[i % 2], s.pid))
			break;
		expect_pool(t, &s, 600);
		expect_lottery(t, s.pid, 600, 5 * NSEC_PER_MSEC);
	}
	move_to(t, CGROUP_ROOT, s.pid);
	expect_pool(t, &s, 600);
	subject_end(&s);
	for (i = 0; i < 2; i++)
		expect(t, !cgroup_remove(path[i], API_WAIT_NS), "cannot remove %s", path[i]);
}

static void sysrq_normalises(struct ktap_case *t)
{
	struct lottery_attr attr;
	struct subject s;
	int error;

	if (!api.sysrq) {
		skip_test(t, "without --sysrq");
		return;
	}
	if (access(SYSRQ_TRIGGER, W_OK)) {
		skip_test(t, "no " SYSRQ_TRIGGER);
		return;
	}
	subject_start(&s);
	subject_join(&s, 600, 0);
	subject_wake(&s);
	error = write_text(SYSRQ_TRIGGER, "n");
	expect(t, !error, "cannot write %s: %s", SYSRQ_TRIGGER, strerror(-error));
	become_launcher(LAUNCHER_PRIORITY);	/* it has taken that from us, too */
	attr = attr_now(t, s.pid);
	expect(t, attr.sched_policy == SCHED_OTHER && !attr.sched_tickets,
	       "policy %u with %u tickets, wanted SCHED_OTHER with 0", attr.sched_policy,
	       attr.sched_tickets);
	expect_pool(t, &s, 0);
	subject_join(&s, 601, 0);
	expect_pool(t, &s, 601);
	subject_end(&s);
}

void api_effects(struct ktap *k)
{
	static const struct ktap_test tests[] = {
		{ "tickets count while the task is runnable", only_runnable_counts },
		{ "a change of tickets alone takes effect", tickets_alone_take_effect },
		{ "a change of the quantum alone takes effect", quantum_alone_takes_effect },
		{ "renice moves derived tickets", renice_moves_derived },
		{ "renice leaves explicit tickets alone", renice_keeps_explicit },
		{ "a stopped task holds no tickets", stop_and_continue },
		{ "lotteries are held", lotteries_are_held },
		{ "a boosted task keeps its tickets", api_boost },
		{ "a change while boosted counts afterwards", api_boost_and_change },
		{ "moves between cgroups change nothing", cgroup_moves },
		{ "SysRq-n ends the class of every task", sysrq_normalises },
	};

	ktap_group(k, "effects", tests, ARRAY_SIZE(tests));
}

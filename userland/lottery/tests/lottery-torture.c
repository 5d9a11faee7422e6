// SPDX-License-Identifier: GPL-2.0
/*
 * lottery-torture.c - policies, tickets, affinity, cgroups, CPU hotplug, fork,
 * exec, exit, stop and continue at random; no task may be lost.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "affinity.h"
#include "args.h"
#include "clock.h"
#include "lottery_sched.h"
#include "opts.h"
#include "torture.h"

#define CPUS_MIN	2U
#define TASKS_PER_CPU	4U
#define PAUSE_MAX_US	1000000U
#define OPERATIONS_MAX	1000000000000ULL

/* Above what the workers may have. */
#define DISTURBER_PRIORITY	40

static struct torture x = { .hotplug = true };

static const struct opt rows[] = {
	OPT(0, "--seconds", "S", NUMBER(x.seconds, 1, 86400, 10),
	    "how long (%d); settling takes some more"),
	OPT(0, "--operations", "N", NUMBER(x.operations, 1, OPERATIONS_MAX, 0),
	    "end when so many are done; fewer in S seconds is a failure. The\n"
	    "changes and reads of a task count that the kernel serves, and\n"
	    "what it is told to do, not hotplug and moves between cgroups"),
	OPT(0, "--pause", "US", NUMBER(x.pause_us, 1, PAUSE_MAX_US, 1000),
	    "between two operations, at most (%d)"),
	OPT(0, "--seed", "N", NUMBER(x.seed, 0, ~0ULL, 1), "of what is random (%d)"),
	OPT(0, "--tasks", "N", NUMBER(x.tasks, 2, TORTURE_TASKS_MAX, 0),
	    "%r (4 for each CPU)"),
	OPT(0, "--no-hotplug", NULL, SETS(x.hotplug, false), "all CPUs stay online"),
	KTAP_OPT,
	{ }
};

static const struct opts opts = {
	.usage =
"Usage: lottery-torture [options]\n"
"\n"
"Change policy, tickets, quantum, nice value, affinity and cgroup of lottery tasks at\n"
"random, stop and continue them, let them fork, exec, sleep, contend for a priority\n"
"inheritance mutex and exit, and take CPUs offline and online. None is real-time for\n"
"more than a fifth of a second at a time. Then every task must get ahead and exit, and\n"
"nothing may be left in the run queues. The output is KTAP. Needs root and 2 CPUs.\n"
"\n",
	.rows = rows,
	.tail = TEST_TAIL,
};

static u64 unplugged;		/* what has to be online again in the end */

static void start_workers(struct torture *x)
{
	unsigned int i;

	crew_create(&x->crew, x->tasks + 1);
	if (!worker_mutex_init(&x->crew))
		die(EXIT_FAILED, "no priority inheritance mutex");
	for (i = 0; i < x->tasks; i++)
		boss_start(x, i);
	crew_gather(&x->crew, TORTURE_WAIT_NS);
	for (i = 0; i < x->tasks; i++)
		crew_enlist(&x->crew, i, random_between(&x->random, 1, 1000), 0);
	crew_release(&x->crew);
}

/* The children that do what takes long. */
enum disturber {
	PLUGGER,
	MOVER,
	CALMER,
	DISTURBERS,
};

static void start_disturbers(struct torture *x, struct crew *disturbers)
{
	struct sched_param param = { .sched_priority = DISTURBER_PRIORITY };
	unsigned int i;

	if (x->hotplug)
		unplugged = plug_mask(x->mask);
	crew_create(disturbers, DISTURBERS);
	crew_fork(disturbers, plugger, x);
	crew_fork(disturbers, mover, x);
	crew_fork(disturbers, calmer, x);
	crew_gather(disturbers, TORTURE_WAIT_NS);
	for (i = 0; i < DISTURBERS; i++)
		if (sched_setscheduler(disturbers->pid[i], SCHED_FIFO, &param))
			die(EXIT_FAILED, "cannot raise a disturber: %s", strerror(errno));
	crew_release(disturbers);
}

static void online_again(void)
{
	plug_online(unplugged);
}

static void report_disturber(struct ktap *k, const struct crew_slot *slot,
			     const char *name, const char *why_not)
{
	if (why_not) {
		ktap_skip(k, name, why_not);
		return;
	}
	ktap_note(k, "%s: %llu times, %u went wrong", name, load64(&slot->value),
		  load(&slot->guard));
	ktap_result(k, load64(&slot->value) && !load(&slot->guard), name);
}

static void report_disturbers(struct ktap *k, const struct torture *x, struct crew *disturbers)
{
	const char *no_hotplug = NULL;

	if (!x->hotplug)
		no_hotplug = "--no-hotplug";
	else if (!unplugged)
		no_hotplug = "no CPU of this machine can go offline";
	ktap_result(k, !crew_stop(disturbers, TORTURE_WAIT_NS), "hotplug and moves come to an end");
	report_disturber(k, &disturbers->page->slot[PLUGGER], "CPUs go offline and come back",
			 no_hotplug);
	report_disturber(k, &disturbers->page->slot[MOVER],
			 "tasks move between cgroups, which change",
			 x->groups ? NULL : "no cgroup2 at /sys/fs/cgroup");
	report_disturber(k, &disturbers->page->slot[CALMER], "no task is real-time for long", NULL);
	crew_destroy(disturbers);
}

static void report_actions(struct ktap *k, const struct torture *x)
{
	u64 wrong = 0;
	unsigned int i;

	for (i = 0; i < ACTIONS; i++) {
		ktap_note(k, "%s: %llu, %llu went wrong", action_names[i], x->done[i],
			  x->wrong[i]);
		wrong += x->wrong[i];
	}
	if (wrong)
		ktap_note(k, "the last error: %s", strerror(x->last_errno));
	ktap_result(k, !wrong, "every call is served");
}

static void report_operations(struct ktap *k, const struct torture *x, u64 elapsed_ns)
{
	u64 done = boss_operations(x);

	ktap_note(k, "%llu operations of %llu in %llu s, allowed %u", done, x->operations,
		  elapsed_ns / NSEC_PER_SEC, x->seconds);
	ktap_result(k, done >= x->operations, "all operations are done in time");
}

/* The rounds of all workers at some time. */
struct marks {
	struct torture *torture;
	u64 rounds[TORTURE_TASKS_MAX];
};

static bool all_went_on(void *arg)
{
	struct marks *m = arg;
	struct torture *x = m->torture;
	unsigned int i;
	bool all = true;

	for (i = 0; i < x->tasks; i++) {
		boss_look_after(x, i);
		all &= load64(&x->crew.page->slot[i].rounds) != m->rounds[i];
	}
	return all;
}

static void report_progress(struct ktap *k, struct torture *x)
{
	struct marks m = { .torture = x };
	unsigned int i;
	bool good;

	for (i = 0; i < x->tasks; i++)
		m.rounds[i] = load64(&x->crew.page->slot[i].rounds);
	good = wait_until(all_went_on, &m, TORTURE_WAIT_NS);
	for (i = 0; !good && i < x->tasks; i++)
		if (load64(&x->crew.page->slot[i].rounds) == m.rounds[i])
			ktap_note(k, "task %u (pid %d) stands still", i + 1, x->crew.pid[i]);
	ktap_result(k, good, "every task gets ahead afterwards");
}

static bool all_idle(void *arg)
{
	struct torture *x = arg;
	unsigned int i;
	bool idle = true;

	for (i = 0; i < x->tasks; i++) {
		boss_look_after(x, i);
		idle &= load(&x->crew.page->slot[i].mark) == ORDER_NONE;
	}
	return idle;
}

static void report_orders(struct ktap *k, struct torture *x)
{
	bool good = wait_until(all_idle, x, TORTURE_WAIT_NS);
	u64 done = 0, wrong = 0;
	unsigned int i;

	for (i = 0; i < x->tasks; i++) {
		done += load64(&x->crew.page->slot[i].value);
		wrong += load(&x->crew.page->slot[i].guard);
	}
	ktap_note(k, "%llu orders done (fork, exec, sleep, lock), %llu went wrong", done,
		  wrong);
	ktap_result(k, good && !wrong, "every order is done");
}

static void report_exits(struct ktap *k, struct torture *x)
{
	unsigned int bad = crew_stop(&x->crew, TORTURE_WAIT_NS);

	ktap_note(k, "%u of %u tasks did not exit well, %llu of %llu before did not", bad,
		  x->tasks, x->deaths, x->restarts);
	ktap_result(k, !bad && !x->deaths, "every task exits, none is lost");
}

static bool same_pools(void *arg)
{
	const struct lottery_state *before = arg;
	struct lottery_state state;

	lottery_read(&state);
	return lottery_tasks(&state) == lottery_tasks(before) &&
	       lottery_tickets(&state) == lottery_tickets(before);
}

/* Not at once: a parent is told of an exit a little before the last dequeue. */
static void report_pools(struct ktap *k, struct lottery_state *before)
{
	bool good = wait_until(same_pools, before, TORTURE_WAIT_NS);
	struct lottery_state state;

	lottery_read(&state);
	ktap_note(k, "%llu tasks with %llu tickets in the pools, before it were %llu with %llu",
		  lottery_tasks(&state), lottery_tickets(&state), lottery_tasks(before),
		  lottery_tickets(before));
	ktap_result(k, good, "the pools are as they were");
}

static int torture(struct torture *x)
{
	struct lottery_state before;
	struct crew disturbers;
	struct ktap k;
	u64 begin, elapsed_ns;

	lottery_read(&before);
	ktap_start(&k, x->operations ? 10 : 9);
	ktap_note(&k, "seed %llu, %u tasks, %u s, CPUs %#llx", x->seed, x->tasks, x->seconds,
		  x->mask);
	start_workers(x);
	start_disturbers(x, &disturbers);
	begin = now_ns();
	boss_run(x, begin + x->seconds * NSEC_PER_SEC);
	elapsed_ns = now_ns() - begin;
	boss_calm(x, false);
	report_disturbers(&k, x, &disturbers);
	boss_calm(x, true);
	groups_leave(x);
	report_actions(&k, x);
	if (x->operations)
		report_operations(&k, x, elapsed_ns);
	report_orders(&k, x);
	report_progress(&k, x);
	report_exits(&k, x);
	report_pools(&k, &before);
	crew_destroy(&x->crew);
	return ktap_finish(&k);
}

int main(int argc, char **argv)
{
	int code;

	args_init("lottery-torture");
	if (argc == 5 && !strcmp(argv[1], TORTURE_RESUME))
		return worker_resume(argv);
	opts_parse(&opts, argc, argv);
	lottery_require();
	if (geteuid())
		die(EXIT_FAILED, "be root: CPUs are taken offline and cgroups made");
	x.mask = affinity_of(0);
	if (count_cpus(x.mask) < CPUS_MIN)
		die(EXIT_SKIPPED, "needs %u CPUs, has %u", CPUS_MIN, count_cpus(x.mask));
	if (!x.tasks)
		x.tasks = TASKS_PER_CPU * count_cpus(x.mask);
	x.random.state = x.seed;
	become_launcher(LAUNCHER_PRIORITY);
	if (x.hotplug)
		atexit(online_again);
	groups_make(&x);
	code = torture(&x);
	groups_remove(&x);
	return code;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * smp_core.c - lottery-smp: the threads of a core under core scheduling. Tasks with
 * different cookies never run at the same time on the two threads of a core.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "affinity.h"
#include "args.h"
#include "clock.h"
#include "crew.h"
#include "procfs.h"
#include "smp_pulse.h"

#define SCOPE_THREAD	0

/* Two threads of a core, and a CPU of another one for the launcher. */
struct core {
	u32 thread[2];
	u32 outside;
};

static bool find_core(struct core *core)
{
	unsigned int first, second, i;
	char path[80], text[64];

	snprintf(path, sizeof(path),
		 "/sys/devices/system/cpu/cpu%u/topology/thread_siblings_list", smp.cpu[0]);
	if (read_text(path, text, sizeof(text)) < 0 ||
	    sscanf(text, "%u%*[-,]%u", &first, &second) != 2)
		return false;
	core->thread[0] = first;
	core->thread[1] = second;
	for (i = 0; i < smp.count; i++) {
		core->outside = smp.cpu[i];
		if (core->outside != first && core->outside != second)
			return true;
	}
	return false;
}

static void new_cookie(pid_t pid)
{
	if (prctl(PR_SCHED_CORE, PR_SCHED_CORE_CREATE, pid, SCOPE_THREAD, 0))
		die(EXIT_UNSUPPORTED, "no core scheduling: %s", strerror(errno));
}

/* Only the caller's own cookie can be handed out: a child takes and passes it on. */
static void same_cookie(pid_t from, pid_t to)
{
	pid_t pid = fork_child();

	if (!pid)
		_exit(prctl(PR_SCHED_CORE, PR_SCHED_CORE_SHARE_FROM, from, SCOPE_THREAD, 0) ||
		      prctl(PR_SCHED_CORE, PR_SCHED_CORE_SHARE_TO, to, SCOPE_THREAD, 0));
	if (wait_child(pid, now_ns() + SMP_WAIT_NS))
		die(EXIT_FAILED, "cannot share the cookie of pid %d with %d", from, to);
}

static unsigned int add_on(struct herd *h, u32 tickets, u32 cpu)
{
	return herd_add_fn(h, pulse, NULL, tickets, 1ULL << cpu);
}

/* What each gets within @ns, in seconds. */
static void pass(const struct herd *h, u64 ns, double *ran)
{
	unsigned int i;

	for (i = 0; i < h->count; i++)
		ran[i] = -(double)pulse_ran_ns(&h->crew, i) / NSEC_PER_SEC;
	sleep_until_ns(now_ns() + ns);
	for (i = 0; i < h->count; i++)
		ran[i] += (double)pulse_ran_ns(&h->crew, i) / NSEC_PER_SEC;
}

static struct core core;

/* Two tasks that exclude each other: 4,000 draws if they are independent, 3.7 %. */
#define RATIO_SECONDS	8U
#define RATIO_PCT	10.0

static void threads_share(struct ktap_case *t)
{
	double ran[2], ratio;
	struct herd h;

	herd_create(&h);
	add_on(&h, 300, core.thread[0]);
	add_on(&h, 100, core.thread[1]);
	new_cookie(h.crew.pid[0]);
	new_cookie(h.crew.pid[1]);
	herd_release(&h);
	pass(&h, RATIO_SECONDS * NSEC_PER_SEC, ran);
	ratio = ran[0] / ran[1];
	ktap_note(t->ktap, "%.3f s and %.3f s of %u s, ratio %.3f", ran[0], ran[1],
		  RATIO_SECONDS, ratio);
	expect_bound(t, fabs(ratio - 3) <= 3 * RATIO_PCT / 100,
		     "3:1 on the threads of a core is %.3f, wanted 3 +- %.0f %%", ratio, RATIO_PCT);
	expect_bound(t, ran[0] + ran[1] > 0.9 * RATIO_SECONDS, "the core was idle for %.2f s",
		     RATIO_SECONDS - ran[0] - ran[1]);
	herd_destroy(&h);
}

#define ALONE_SECONDS	3U
#define RETURN_WAIT_NS	(100 * NSEC_PER_MSEC)
/*
 * Who is not counted in with what it had waits for ten turns, again and again. Who is
 * waits for one; a tick that comes late in virtual time makes that one up to six.
 */
#define RETURN_GAP_TICKS	9U

/*
 * The first one has had the core for itself, then it sleeps, and the second one comes
 * when the first one's pool is empty. What the first one had was nobody's loss.
 */
static void time_alone_is_not_owed(struct ktap_case *t)
{
	double ran[2];
	struct herd h;
	u64 gap, bound_ns = RETURN_GAP_TICKS * smp.tick_ns;

	herd_create(&h);
	add_on(&h, 100, core.thread[0]);
	add_on(&h, 100, core.thread[1]);
	new_cookie(h.crew.pid[0]);
	new_cookie(h.crew.pid[1]);
	store(&h.crew.page->slot[1].rest, 1);	/* it rests at once */
	herd_release(&h);
	expect(t, hog_rest(&h.crew, 1, SMP_WAIT_NS), "the second task does not rest");
	sleep_until_ns(now_ns() + ALONE_SECONDS * NSEC_PER_SEC);
	expect(t, hog_rest(&h.crew, 0, SMP_WAIT_NS), "the first task does not rest");
	pulse_wake(&h.crew, 1);
	sleep_until_ns(now_ns() + RETURN_WAIT_NS);
	pulse_reset(&h.crew, 2);
	pulse_wake(&h.crew, 0);
	pass(&h, NSEC_PER_SEC, ran);
	gap = pulse_gap(&h.crew, 0);
	ktap_note(t->ktap, "after its return: %.3f s beside %.3f s, longest wait %.1f ms",
		  ran[0], ran[1], (double)gap / 1e6);
	expect_bound(t, gap <= bound_ns && ran[0] > 0.4,
		     "it waited for %.1f ms and has %.1f %% of the core, wanted %.1f ms and 40 %%",
		     (double)gap / 1e6, 100 * ran[0], (double)bound_ns / 1e6);
	herd_destroy(&h);
}

/* Rather many draws: the smallest of them wins one in seven. */
#define MATES		3U
#define MATES_SECONDS	10U
#define MATES_PCT	15.0
/*
 * Of a core: a third of its tickets are the stranger's, but ticks that come late in
 * virtual time make turns of the other thread longer than what it may make up for.
 */
#define STRANGER_MIN	0.1

/*
 * The first thread has three tasks with the cookie of the second one's only task,
 * and a fourth one that has most tickets, so that the draw is of no use whenever the
 * second thread chooses the cookie: then one of the three has to be found for it.
 */
static void mates_share(struct ktap_case *t)
{
	static const u32 tickets[MATES] = { 1000, 2000, 4000 };
	double ran[MATES + 2], sum = 0;
	unsigned int i, leader;
	struct herd h;

	herd_create(&h);
	for (i = 0; i < MATES; i++)
		add_on(&h, tickets[i], core.thread[0]);
	add_on(&h, 100000, core.thread[0]);
	leader = add_on(&h, 200000, core.thread[1]);
	new_cookie(h.crew.pid[MATES]);
	new_cookie(h.crew.pid[leader]);
	for (i = 0; i < MATES; i++)
		same_cookie(h.crew.pid[leader], h.crew.pid[i]);
	herd_release(&h);
	pass(&h, MATES_SECONDS * NSEC_PER_SEC, ran);
	for (i = 0; i < MATES; i++)
		sum += ran[i];
	for (i = 0; i < MATES; i++) {
		double due = tickets[i] / 7000.0, error = 100 * (ran[i] / sum / due - 1);

		expect_bound(t, fabs(error) <= MATES_PCT,
			     "the mate with %u of 7000 tickets has %.1f %% of their time, due are %.1f %%",
			     tickets[i], 100 * ran[i] / sum, 100 * due);
	}
	expect_bound(t, ran[MATES] >= STRANGER_MIN * MATES_SECONDS,
		     "the stranger has %.3f s of %u s, wanted %.0f %%", ran[MATES],
		     MATES_SECONDS, 100 * STRANGER_MIN);
	ktap_note(t->ktap, "mates %.3f %.3f %.3f s, the stranger %.3f s, the leader %.3f s",
		  ran[0], ran[1], ran[2], ran[MATES], ran[leader]);
	herd_destroy(&h);
}

void smp_core(struct ktap *k)
{
	static const struct ktap_test tests[] = {
		{ "the threads of a core share it as tickets say", threads_share },
		{ "time that a thread had alone is not owed", time_alone_is_not_owed },
		{ "tasks with the cookie of the core share as tickets say", mates_share },
	};

	if (!find_core(&core))
		die(EXIT_SKIPPED, "needs a core with two threads and another one");
	pin_to_cpu(core.outside);
	ktap_group(k, "core", tests, ARRAY_SIZE(tests));
}

// SPDX-License-Identifier: GPL-2.0
/* ipclat.c - how long one thread needs to reach another. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "args.h"
#include "clock.h"
#include "crew.h"
#include "document.h"
#include "files.h"
#include "ipclat.h"

/* Requests to end wait until what has been made is removed again. */

static const int requests[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };

static sigset_t held, before;
static bool holding;
static int request;

void hold_interrupts(void)
{
	unsigned int i;

	sigemptyset(&held);
	sigaddset(&held, SIGCHLD);
	for (i = 0; i < ARRAY_SIZE(requests); i++) {
		struct sigaction action;

		/* nohup: a signal that is held would be seen although it is ignored */
		if (!sigaction(requests[i], NULL, &action) && action.sa_handler != SIG_IGN)
			sigaddset(&held, requests[i]);
	}
	sigprocmask(SIG_BLOCK, &held, &before);
	holding = true;
}

void release_interrupts(void)
{
	if (holding)
		sigprocmask(SIG_SETMASK, &before, NULL);
	holding = false;
}

void await_signal(u64 deadline_ns)
{
	u64 now = now_ns();
	struct timespec left = timespec_of(deadline_ns > now ? deadline_ns - now : 0);
	int number = sigtimedwait(&held, NULL, &left);

	if (number > 0 && number != SIGCHLD)
		request = number;
}

/* 0 when no signal is pending. */
static int pending_request(const sigset_t *pending)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(requests); i++)
		if (sigismember(&held, requests[i]) && sigismember(pending, requests[i]))
			return requests[i];
	return 0;
}

bool interrupted(void)
{
	sigset_t waiting;

	/* children that a terminal's Ctrl-C ended may be seen before it is */
	if (!request && !sigpending(&waiting) && pending_request(&waiting))
		request = pending_request(&waiting);
	return request;
}

void end_interrupts(void)
{
	if (request) {
		signal(request, SIG_DFL);
		raise(request);
	}
	release_interrupts();
}

/* How the two sides are started and ended: threads, processes, containers. */

/* Beyond the limit of a repeat, for whatever comes before and after. */
#define PATIENCE_NS	(30 * NSEC_PER_SEC)

struct thread {
	struct page *page;
	const struct mechanism *m;
};

static void *receiver_thread(void *arg)
{
	const struct thread *t = arg;

	run_side(t->page, t->m, RECEIVER);
	return NULL;
}

static void run_threads(struct page *page, const struct mechanism *m)
{
	struct thread t = { page, m };
	pthread_t receiver;

	if (pthread_create(&receiver, NULL, receiver_thread, &t))
		die(EXIT_FAILED, "cannot start a thread");
	run_side(page, m, SENDER);
	pthread_join(receiver, NULL);
}

static pid_t start_side(struct page *page, const struct mechanism *m, enum side side)
{
	pid_t pid = fork_child();

	if (pid)
		return pid;
	release_interrupts();
	if (m->threads)
		run_threads(page, m);
	else
		run_side(page, m, side);
	_exit(EXIT_GOOD);
}

/* NULL or what was wrong: when one of them is, the other need not be waited for. */
static const char *await_sides(pid_t *pids, u64 deadline_ns)
{
	const char *bad = NULL;
	enum side side;

	for (;;) {
		for (side = SENDER; side < SIDES; side++) {
			int status;

			if (!pids[side] || waitpid(pids[side], &status, WNOHANG) != pids[side])
				continue;
			pids[side] = 0;
			if (status)
				bad = "a side failed";
		}
		if (interrupted())
			bad = "interrupted";
		if (bad || (!pids[SENDER] && !pids[RECEIVER]))
			return bad;
		if (now_ns() >= deadline_ns)
			return "it did not end in time";
		await_signal(deadline_ns);
	}
}

static void end_sides(const pid_t *pids)
{
	enum side side;

	for (side = SENDER; side < SIDES; side++) {
		if (!pids[side])
			continue;
		kill(pids[side], SIGKILL);
		wait_child(pids[side], now_ns() + PATIENCE_NS);
	}
}

static const char *run_processes(const struct settings *s, const struct mechanism *m,
				 struct histogram *h)
{
	u64 deadline = now_ns() + s->limit_ns + PATIENCE_NS;
	pid_t pids[SIDES] = { 0 };
	const char *bad;
	struct page *page;

	page = xshared(sizeof(*page));
	fill_page(page, s);
	if (m->set_up)
		m->set_up(page);
	pids[SENDER] = start_side(page, m, SENDER);
	if (!m->threads)
		pids[RECEIVER] = start_side(page, m, RECEIVER);
	bad = await_sides(pids, deadline);
	end_sides(pids);
	if (m->clean_up)
		m->clean_up(page);
	if (!bad)
		histogram_merge(h, &page->histogram);
	munmap(page, sizeof(*page));
	return bad;
}

const char *run_pair(const struct settings *s, const struct mechanism *m, struct histogram *h)
{
	return m->containers ? run_containers(s, m, h) : run_processes(s, m, h);
}

#define NO_MESSAGE	"no message came within --seconds"
#define CALIBRATION_NS	(200 * NSEC_PER_MSEC)

/* For a person at a terminal: where it is, and how long it will take from what it took. */
static void show_progress(const struct options *o, const struct chosen *c, u32 done, u64 begin_ns)
{
	u64 all = (u64)o->s.repeats * o->count, spent = now_ns() - begin_ns;

	if (!isatty(STDERR_FILENO))
		return;
	fprintf(stderr, "\r\033[K%s: %u of %llu", c->m->name, done + 1, all);
	if (done)
		fprintf(stderr, ", %llu s left",
			spent / done * (all - done) / NSEC_PER_SEC + 1);
}

static void end_progress(void)
{
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
}

static struct settings settings_of(const struct options *o, const struct chosen *c)
{
	struct settings s = o->s;

	if (c->back) {
		s.cpu[SENDER] = o->s.cpu[RECEIVER];
		s.cpu[RECEIVER] = o->s.cpu[SENDER];
	}
	return s;
}

/* False when it failed; a repeat that was interrupted does not count. */
static bool measure_one(struct options *o, struct chosen *c, u32 repeat)
{
	struct histogram *one = xcalloc(1, sizeof(*one));
	struct settings s = settings_of(o, c);
	const char *bad = run_pair(&s, c->m, one);

	if (!bad && !one->count) {
		end_progress();
		complain("%s: repeat %u does not count: %s", c->m->name, repeat, NO_MESSAGE);
	} else if (!bad) {
		c->repeats[c->measured++] = (struct repeat){
			one->count, histogram_mean(one) - clock_cost(o, c),
		};
		note_repeat(o, c, repeat, one);
		histogram_merge(c->histogram, one);
	} else if (!interrupted()) {
		end_progress();
		complain("%s: %s", c->m->name, bad);
		c->missing = bad;
	}
	free(one);
	return !bad;
}

/* Mechanisms take turns: whatever disturbs the machine disturbs all of them. */
static int measure(struct options *o)
{
	u64 begin_ns = now_ns();
	int code = EXIT_GOOD;
	u32 repeat, i;

	for (repeat = 0; repeat < o->s.repeats; repeat++) {
		for (i = 0; i < o->count && !interrupted(); i++) {
			struct chosen *c = &o->chosen[i];

			if (c->missing)
				continue;
			show_progress(o, c, repeat * o->count + i, begin_ns);
			if (!measure_one(o, c, repeat + 1))
				code = EXIT_FAILED;
		}
	}
	end_progress();
	for (i = 0; i < o->count; i++) {
		struct chosen *c = &o->chosen[i];

		if (c->missing || c->measured)
			continue;
		c->missing = interrupted() ? "interrupted" : NO_MESSAGE;
		code = EXIT_FAILED;
	}
	return code;
}

int main(int argc, char **argv)
{
	struct options o;
	struct crew hogs;
	int code;

	args_init("ipclat");
	o = parse_options(argc, argv);
	if (o.side)
		return contained_side(find_mechanism(o.list), o.side);
	choose_list(&o, o.list);
	check_mechanisms(&o);
	policy_try(&o.s.policy);
	open_outputs(&o);
	document_begin();
	tsc_calibrate(&o.s.tsc, CALIBRATION_NS);
	hogs_start(&hogs, o.hogs, o.hog_tickets);
	hold_interrupts();
	code = measure(&o);
	hogs_stop(&hogs);
	report(&o, !interrupted());
	end_interrupts();
	return code;
}

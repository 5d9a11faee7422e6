// SPDX-License-Identifier: GPL-2.0
/* pair.c - how the two sides are started and ended: threads, processes, containers. */
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "args.h"
#include "clock.h"
#include "container.h"
#include "crew.h"
#include "interrupt.h"
#include "memory.h"
#include "pair.h"

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

// SPDX-License-Identifier: GPL-2.0
/* pair.c - how the two sides are started and ended: threads, processes, containers. */
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
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

/* NULL or what was wrong with it. */
static const char *end_of(pid_t pid, u64 deadline_ns)
{
	int status = wait_for_child(pid, deadline_ns);

	if (status == -1) {
		kill(pid, SIGKILL);
		wait_child(pid, now_ns() + PATIENCE_NS);
		return interrupted() ? "interrupted" : "it did not end in time";
	}
	return status ? "a side failed" : NULL;
}

static const char *run_processes(const struct settings *s, const struct mechanism *m,
				 struct histogram *h)
{
	u64 deadline = now_ns() + s->limit_ns + PATIENCE_NS;
	const char *bad, *bad_too = NULL;
	pid_t sender, receiver = 0;
	struct page *page;

	page = xshared(sizeof(*page));
	fill_page(page, s);
	if (m->set_up)
		m->set_up(page);
	sender = start_side(page, m, SENDER);
	if (!m->threads)
		receiver = start_side(page, m, RECEIVER);
	bad = end_of(sender, deadline);
	if (receiver)
		bad_too = end_of(receiver, bad ? now_ns() : deadline);
	if (m->clean_up)
		m->clean_up(page);
	if (!bad && !bad_too)
		histogram_merge(h, &page->histogram);
	munmap(page, sizeof(*page));
	return bad ? bad : bad_too;
}

const char *run_pair(const struct settings *s, const struct mechanism *m, struct histogram *h)
{
	const char *bad;

	hold_interrupts();
	bad = m->containers ? run_containers(s, m, h) : run_processes(s, m, h);
	end_interrupts();
	return bad;
}

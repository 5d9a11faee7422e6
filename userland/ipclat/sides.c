// SPDX-License-Identifier: GPL-2.0
/* sides.c - the sender, the receiver, and how they are started and ended. */
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "affinity.h"
#include "args.h"
#include "clock.h"
#include "crew.h"
#include "futex.h"
#include "interrupt.h"
#include "ipclat.h"

/* Beyond the limit of a repeat, for whatever comes before and after. */
#define PATIENCE_NS	(30 * NSEC_PER_SEC)

void fill_page(struct page *page, const struct settings *s)
{
	page->iterations = s->iterations;
	page->warmup = s->warmup;
	page->limit_cycles = (u64)(s->tsc.hz * (double)s->limit_ns / NSEC_PER_SEC);
	page->overhead = s->tsc.overhead;
	page->policy = s->policy;
	page->pin = s->pin;
}

static void run_sender(struct page *page, const struct mechanism *m)
{
	u64 left = page->warmup + page->iterations, stop = 0;

	while (left--) {
		u64 now = tsc_now();

		if (!stop)
			stop = now + page->limit_cycles;
		if (now >= stop)
			break;
		m->send(page, SENDER, now);
		m->receive(page, SENDER);
	}
	m->send(page, SENDER, WORD_STOP);
	m->receive(page, SENDER);
}

/* The answer goes out first: the sender is not to wait for our notes. */
static void run_receiver(struct page *page, const struct mechanism *m)
{
	u64 warmup = page->warmup;

	for (;;) {
		u64 stamp = m->receive(page, RECEIVER), cycles = tsc_now() - stamp;

		m->send(page, RECEIVER, WORD_ANSWER);
		if (stamp == WORD_STOP)
			break;
		if (warmup) {
			warmup--;
			continue;
		}
		histogram_add(&page->histogram,
			      cycles > page->overhead ? cycles - page->overhead : 0);
	}
	/* the last answer may still be on its way: the sender says when it has it */
	futex_await(&page->arrived, SIDES + 1, 0);
}

/* The @n-th CPU that we may run on. */
static void pin_to_nth(unsigned int n)
{
	u64 mask = affinity_of(0);

	while (n-- && mask & (mask - 1))
		mask &= mask - 1;
	pin_to_cpu((unsigned int)__builtin_ctzll(mask));
}

static void meet(struct page *page)
{
	u32 arrived = __atomic_add_fetch(&page->arrived, 1, __ATOMIC_ACQ_REL);

	if (arrived == SIDES) {
		futex_wake(&page->arrived);
		return;
	}
	while ((arrived = load(&page->arrived)) < SIDES)
		futex_wait(&page->arrived, arrived, 0);
}

void run_side(struct page *page, const struct mechanism *m, enum side side)
{
	if (m->pinned || page->pin)
		pin_to_nth(side);
	policy_take(&page->policy);
	meet(page);
	if (m->run) {
		m->run(page, side);
		return;
	}
	if (m->attach)
		m->attach(page, side);
	if (side == SENDER) {
		run_sender(page, m);
		futex_set(&page->arrived, SIDES + 1);
	} else {
		run_receiver(page, m);
	}
	if (m->detach)
		m->detach(page, side);
}

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

	page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		    -1, 0);
	if (page == MAP_FAILED)
		die(EXIT_FAILED, "no memory");
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

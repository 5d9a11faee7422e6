// SPDX-License-Identifier: GPL-2.0
/* side.c - the sender and the receiver. */
#include <string.h>

#include "affinity.h"
#include "crew.h"
#include "side.h"

void fill_page(struct page *page, const struct settings *s)
{
	page->iterations = s->iterations;
	page->warmup = s->warmup;
	page->limit_cycles = (u64)(s->tsc.hz * (double)s->limit_ns / NSEC_PER_SEC);
	page->policy = s->policy;
	memcpy(page->cpu, s->cpu, sizeof(page->cpu));
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
		histogram_add(&page->histogram, cycles);
	}
	/* the last answer may still be on its way: the sender says when it has it */
	futex_await(&page->arrived, SIDES + 1, 0);
}

/* The @n-th CPU that we may run on. */
static void pin_to_nth(unsigned int n)
{
	unsigned int cpus[SIDES], count = allowed_cpus(cpus, SIDES);

	pin_to_cpu(cpus[n < count ? n : count - 1]);
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
	if (page->cpu[side] >= 0)
		pin_to_cpu((unsigned int)page->cpu[side]);
	else if (m->pinned)
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

// SPDX-License-Identifier: GPL-2.0
/*
 * base.c - what mechanisms are compared with in the same run: round trips, halved. The
 * bare loop of flags is too fast to be timed one by one: a sample is the mean of a block.
 */
#include <stdlib.h>
#include <zmq.h>

#include "futex.h"
#include "via_zmq.h"

#define FLAG_BLOCK	100U

/* Ends the sender's loops: blocks done, or out of time. */
struct blocks {
	unsigned int size;	/* round trips */
	u64 left;
	u64 warmup;
	u64 stop;
};

static struct blocks blocks_of(const struct page *page, unsigned int size)
{
	return (struct blocks){
		.size = size,
		.left = (page->warmup + page->iterations) / size + 1,
		.warmup = page->warmup / size,
		.stop = tsc_now() + page->limit_cycles,
	};
}

static bool note_block(struct page *page, struct blocks *b, u64 begin)
{
	u64 end = tsc_now(), cycles = end - begin;

	if (b->warmup)
		b->warmup--;
	else
		histogram_add(&page->histogram, cycles / (2 * b->size));
	return --b->left && end < b->stop;
}

/* The bare loop: two words, nothing else. */
static void flag_sender(struct page *page)
{
	u64 *to = &page->slot[RECEIVER].word, *from = &page->slot[SENDER].word, begin;
	struct blocks b = blocks_of(page, FLAG_BLOCK);
	unsigned int i;

	do {
		begin = tsc_now();
		for (i = 0; i < FLAG_BLOCK; i++) {
			store64(to, WORD_ANSWER);
			while (!load64(from))
				cpu_relax();
			__atomic_store_n(from, 0, __ATOMIC_RELAXED);
		}
	} while (note_block(page, &b, begin));
	store64(to, WORD_STOP);
}

static void flag_receiver(struct page *page)
{
	u64 *to = &page->slot[SENDER].word, *from = &page->slot[RECEIVER].word, word;

	for (;;) {
		while (!(word = load64(from)))
			cpu_relax();
		if (word == WORD_STOP)
			return;
		__atomic_store_n(from, 0, __ATOMIC_RELAXED);
		store64(to, WORD_ANSWER);
	}
}

static void run_flag(struct page *page, enum side side)
{
	if (side == SENDER)
		flag_sender(page);
	else
		flag_receiver(page);
}

const struct mechanism base_flag = {
	.name = "flag",
	.text = "baseline: a bare ping-pong of two flags, two threads",
	.threads = true,
	.spins = true,
	.baseline = true,
	.run = run_flag,
};

/*
 * What libzmq's own local_lat and remote_lat do: REP and REQ, and half of the time of
 * a round trip. They give the mean of all; here each is kept.
 */
static void perf_sender(struct page *page)
{
	struct blocks b = blocks_of(page, 1);
	u64 begin;

	do {
		begin = tsc_now();
		zmq_put(page, SENDER, WORD_ANSWER);
		zmq_get(page, SENDER);
	} while (note_block(page, &b, begin));
	zmq_put(page, SENDER, WORD_STOP);
	zmq_get(page, SENDER);
}

static void perf_receiver(struct page *page)
{
	u64 word;

	do {
		word = zmq_get(page, RECEIVER);
		zmq_put(page, RECEIVER, word);
	} while (word != WORD_STOP);
	/* until the sender has closed its end, the answer may still be on its way */
	futex_await(&page->arrived, SIDES + 1, 0);
}

static void run_perf(struct page *page, enum side side)
{
	zmq_start(page, side, side == SENDER ? ZMQ_REQ : ZMQ_REP);
	if (side == SENDER) {
		perf_sender(page);
		futex_set(&page->arrived, SIDES + 1);
	} else {
		perf_receiver(page);
	}
	zmq_stop(page, side);
}

const struct mechanism base_zmq_perf = {
	.name = "zmq-perf",
	.text = "baseline: the round trips of libzmq's local_lat and remote_lat over ipc, halved",
	.baseline = true,
	.missing = zmq_ipc_missing,
	.set_up = zmq_ipc_endpoint,
	.run = run_perf,
	.clean_up = zmq_ipc_remove,
};

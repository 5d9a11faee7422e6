// SPDX-License-Identifier: GPL-2.0
/* via_futex.c - futex(2) on shared memory, two processes. */
#include "futex.h"
#include "mechanism.h"

/*
 * The futex is the low half of the side's semaphore, which nothing else uses here: 1
 * while there is a message.
 */
static u32 *futex_of(struct page *page, enum side side)
{
	return (u32 *)&page->semaphore[side];
}

static void send_word(struct page *page, enum side side, u64 word)
{
	page->slot[other(side)].word = word;
	futex_set(futex_of(page, other(side)), 1);
}

static u64 receive_word(struct page *page, enum side side)
{
	futex_await(futex_of(page, side), 1, 0);
	store(futex_of(page, side), 0);
	return page->slot[side].word;
}

const struct mechanism via_futex = {
	.name = "futex",
	.text = "futex(2) on shared memory, two processes",
	.send = send_word,
	.receive = receive_word,
};

// SPDX-License-Identifier: GPL-2.0
/* ipclat_side.c - ipclat's receiver, for messages whose age is known. */
#include "../../../userland/ipclat/side.h"

#include <stdlib.h>

static u64 left, age;

static u64 give_stamp(struct page *page, enum side side)
{
	(void)side;
	if (left--)
		return tsc_now() - age;
	/* no other side is there to report that it has the last answer */
	page->arrived = SIDES + 1;
	return WORD_STOP;
}

static void drop_answer(struct page *page, enum side side, u64 word)
{
	(void)page;
	(void)side;
	(void)word;
}

/* What @count messages, each @cycles old, become in the histogram; the least of them. */
u64 receive_messages(u64 count, u64 warmup, u64 cycles, u64 *noted)
{
	static const struct mechanism m = { .send = drop_answer, .receive = give_stamp };
	struct page *page = aligned_alloc(64, sizeof(*page));
	u64 least;

	*page = (struct page){ .warmup = warmup, .arrived = 1, .cpu = { -1, -1 } };
	left = count;
	age = cycles;
	run_side(page, &m, RECEIVER);
	least = page->histogram.min;
	*noted = page->histogram.count;
	free(page);
	return least;
}

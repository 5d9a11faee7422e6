// SPDX-License-Identifier: GPL-2.0
/* via_eventfd.c - an eventfd for each direction, the word in shared memory. */
#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "args.h"
#include "mechanism.h"
#include "words.h"

static int events[SIDES];	/* to this side */

static void set_up(struct page *page)
{
	unsigned int side;

	(void)page;
	for (side = 0; side < SIDES; side++) {
		events[side] = eventfd(0, 0);
		if (events[side] < 0)
			die(EXIT_FAILED, "cannot make an eventfd: %s", strerror(errno));
	}
}

static void send_word(struct page *page, enum side side, u64 word)
{
	page->slot[other(side)].word = word;
	write_word("eventfd", events[other(side)], 1);
}

static u64 receive_word(struct page *page, enum side side)
{
	read_word("eventfd", events[side]);
	return page->slot[side].word;
}

static void clean_up(struct page *page)
{
	(void)page;
	close(events[SENDER]);
	close(events[RECEIVER]);
}

const struct mechanism via_eventfd = {
	.name = "eventfd",
	.text = "an eventfd for each direction, two processes",
	.set_up = set_up,
	.send = send_word,
	.receive = receive_word,
	.clean_up = clean_up,
};

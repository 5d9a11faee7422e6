// SPDX-License-Identifier: GPL-2.0
/* via_semaphore.c - two POSIX semaphores, one for each direction. */
#include <errno.h>
#include <string.h>

#include "args.h"
#include "mechanism.h"

/* Both start at 0: the sender's first message is what lets the receiver go on. */
static void set_up(struct page *page)
{
	unsigned int side;

	for (side = 0; side < SIDES; side++)
		if (sem_init(&page->semaphore[side], 1, 0))
			die(EXIT_FAILED, "cannot make a semaphore: %s", strerror(errno));
}

static void send_word(struct page *page, enum side side, u64 word)
{
	page->slot[other(side)].word = word;
	if (sem_post(&page->semaphore[other(side)]))
		die(EXIT_FAILED, "sem_post: %s", strerror(errno));
}

static u64 receive_word(struct page *page, enum side side)
{
	while (sem_wait(&page->semaphore[side]))
		if (errno != EINTR)
			die(EXIT_FAILED, "sem_wait: %s", strerror(errno));
	return page->slot[side].word;
}

const struct mechanism via_semaphore = {
	.name = "semaphore",
	.text = "two POSIX semaphores, two threads",
	.threads = true,
	.set_up = set_up,
	.send = send_word,
	.receive = receive_word,
};

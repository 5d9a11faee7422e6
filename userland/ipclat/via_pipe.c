// SPDX-License-Identifier: GPL-2.0
/* via_pipe.c - two pipes, two processes. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "mechanism.h"
#include "words.h"

static int pipes[SIDES][2];	/* to this side */

static void set_up(struct page *page)
{
	unsigned int side;

	(void)page;
	for (side = 0; side < SIDES; side++)
		if (pipe(pipes[side]))
			die(EXIT_FAILED, "cannot make a pipe: %s", strerror(errno));
}

static void send_word(struct page *page, enum side side, u64 word)
{
	(void)page;
	write_word("pipe", pipes[other(side)][1], word);
}

static u64 receive_word(struct page *page, enum side side)
{
	(void)page;
	return read_word("pipe", pipes[side][0]);
}

static void clean_up(struct page *page)
{
	unsigned int side;

	(void)page;
	for (side = 0; side < SIDES; side++) {
		close(pipes[side][0]);
		close(pipes[side][1]);
	}
}

const struct mechanism via_pipe = {
	.name = "pipe",
	.text = "two pipes, two processes",
	.set_up = set_up,
	.send = send_word,
	.receive = receive_word,
	.clean_up = clean_up,
};

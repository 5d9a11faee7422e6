// SPDX-License-Identifier: GPL-2.0
/* via_mq.c - two POSIX message queues, two processes. */
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "mechanism.h"

static mqd_t queues[SIDES];	/* to this side */

static mqd_t open_queue(unsigned int side)
{
	struct mq_attr attr = { .mq_maxmsg = 2, .mq_msgsize = sizeof(u64) };
	char name[64];
	mqd_t queue;

	snprintf(name, sizeof(name), "/ipclat-%d-%u", getpid(), side);
	queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &attr);
	/* it lives until it is closed */
	if (queue != (mqd_t)-1)
		mq_unlink(name);
	return queue;
}

static const char *missing(void)
{
	mqd_t queue = open_queue(SIDES);

	if (queue == (mqd_t)-1)
		return strerror(errno);
	mq_close(queue);
	return NULL;
}

static void set_up(struct page *page)
{
	unsigned int side;

	(void)page;
	for (side = 0; side < SIDES; side++) {
		queues[side] = open_queue(side);
		if (queues[side] == (mqd_t)-1)
			die(EXIT_FAILED, "cannot make a message queue: %s", strerror(errno));
	}
}

static void send_word(struct page *page, enum side side, u64 word)
{
	(void)page;
	while (mq_send(queues[other(side)], (const char *)&word, sizeof(word), 0))
		if (errno != EINTR)
			die(EXIT_FAILED, "mq_send: %s", strerror(errno));
}

static u64 receive_word(struct page *page, enum side side)
{
	u64 word;

	(void)page;
	while (mq_receive(queues[side], (char *)&word, sizeof(word), NULL) < 0)
		if (errno != EINTR)
			die(EXIT_FAILED, "mq_receive: %s", strerror(errno));
	return word;
}

static void clean_up(struct page *page)
{
	(void)page;
	mq_close(queues[SENDER]);
	mq_close(queues[RECEIVER]);
}

const struct mechanism via_mq = {
	.name = "mq",
	.text = "two POSIX message queues, two processes",
	.missing = missing,
	.set_up = set_up,
	.send = send_word,
	.receive = receive_word,
	.clean_up = clean_up,
};

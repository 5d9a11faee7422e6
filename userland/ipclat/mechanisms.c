// SPDX-License-Identifier: GPL-2.0
/* mechanisms.c - the ways of the kernel from one thread to another, and the baselines. */
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zmq.h>

#include "args.h"
#include "crew.h"
#include "ipclat.h"
#include "mechanism.h"

/*
 * What mechanisms are compared with in the same run: round trips, halved. The bare loop
 * of flags is too fast to be timed one by one: a sample is the mean of a block.
 */

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

/* A word of shared memory that the other side looks at all the time. */

static void spin_send(struct page *page, enum side side, u64 word)
{
	store64(&page->slot[other(side)].word, word);
}

static u64 spin_receive(struct page *page, enum side side)
{
	u64 *slot = &page->slot[side].word, word;

	while (!(word = load64(slot)))
		cpu_relax();
	/* the other side writes again only after it has our answer */
	__atomic_store_n(slot, 0, __ATOMIC_RELAXED);
	return word;
}

const struct mechanism via_spin = {
	.name = "spin",
	.text = "spinning on a word, two threads",
	.threads = true,
	.spins = true,
	.send = spin_send,
	.receive = spin_receive,
};

const struct mechanism via_spin_affinity = {
	.name = "spin-affinity",
	.text = "the same, each thread bound to a CPU",
	.threads = true,
	.spins = true,
	.pinned = true,
	.send = spin_send,
	.receive = spin_receive,
};

const struct mechanism via_spin_shm = {
	.name = "spin-shm",
	.text = "spinning on a word of shared memory, two processes",
	.spins = true,
	.send = spin_send,
	.receive = spin_receive,
};

const struct mechanism via_shm_containers = {
	.name = "shm-containers",
	.text = "spinning on a word of a file that two containers have mounted",
	.spins = true,
	.containers = true,
	.missing = containers_missing,
	.send = spin_send,
	.receive = spin_receive,
};

/* Two POSIX semaphores, one for each direction. */

/* Both start at 0: the sender's first message is what lets the receiver go on. */
static void semaphore_set_up(struct page *page)
{
	unsigned int side;

	for (side = 0; side < SIDES; side++)
		if (sem_init(&page->semaphore[side], 1, 0))
			die(EXIT_FAILED, "cannot make a semaphore: %s", strerror(errno));
}

static void semaphore_send_word(struct page *page, enum side side, u64 word)
{
	page->slot[other(side)].word = word;
	if (sem_post(&page->semaphore[other(side)]))
		die(EXIT_FAILED, "sem_post: %s", strerror(errno));
}

static u64 semaphore_receive_word(struct page *page, enum side side)
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
	.set_up = semaphore_set_up,
	.send = semaphore_send_word,
	.receive = semaphore_receive_word,
};

/* Futex(2) on shared memory, two processes. */

/*
 * The futex is the low half of the side's semaphore, which nothing else uses here: 1
 * while there is a message.
 */
static u32 *futex_of(struct page *page, enum side side)
{
	return (u32 *)&page->semaphore[side];
}

static void futex_send_word(struct page *page, enum side side, u64 word)
{
	page->slot[other(side)].word = word;
	futex_set(futex_of(page, other(side)), 1);
}

static u64 futex_receive_word(struct page *page, enum side side)
{
	futex_await(futex_of(page, side), 1, 0);
	store(futex_of(page, side), 0);
	return page->slot[side].word;
}

const struct mechanism via_futex = {
	.name = "futex",
	.text = "futex(2) on shared memory, two processes",
	.send = futex_send_word,
	.receive = futex_receive_word,
};

/* Two pipes, two processes. */

static int pipes[SIDES][2];	/* to this side */

static void pipe_set_up(struct page *page)
{
	unsigned int side;

	(void)page;
	for (side = 0; side < SIDES; side++)
		if (pipe(pipes[side]))
			die(EXIT_FAILED, "cannot make a pipe: %s", strerror(errno));
}

static void pipe_send_word(struct page *page, enum side side, u64 word)
{
	(void)page;
	write_word("pipe", pipes[other(side)][1], word);
}

static u64 pipe_receive_word(struct page *page, enum side side)
{
	(void)page;
	return read_word("pipe", pipes[side][0]);
}

static void pipe_clean_up(struct page *page)
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
	.set_up = pipe_set_up,
	.send = pipe_send_word,
	.receive = pipe_receive_word,
	.clean_up = pipe_clean_up,
};

/* An eventfd for each direction, the word in shared memory. */

static int events[SIDES];	/* to this side */

static void eventfd_set_up(struct page *page)
{
	unsigned int side;

	(void)page;
	for (side = 0; side < SIDES; side++) {
		events[side] = eventfd(0, 0);
		if (events[side] < 0)
			die(EXIT_FAILED, "cannot make an eventfd: %s", strerror(errno));
	}
}

static void eventfd_send_word(struct page *page, enum side side, u64 word)
{
	page->slot[other(side)].word = word;
	write_word("eventfd", events[other(side)], 1);
}

static u64 eventfd_receive_word(struct page *page, enum side side)
{
	read_word("eventfd", events[side]);
	return page->slot[side].word;
}

static void eventfd_clean_up(struct page *page)
{
	(void)page;
	close(events[SENDER]);
	close(events[RECEIVER]);
}

const struct mechanism via_eventfd = {
	.name = "eventfd",
	.text = "an eventfd for each direction, two processes",
	.set_up = eventfd_set_up,
	.send = eventfd_send_word,
	.receive = eventfd_receive_word,
	.clean_up = eventfd_clean_up,
};

/* A pair of UNIX sockets (SOCK_SEQPACKET), two processes. */

static int sockets[SIDES];

static void unix_set_up(struct page *page)
{
	(void)page;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets))
		die(EXIT_FAILED, "cannot make UNIX sockets: %s", strerror(errno));
}

static void unix_send_word(struct page *page, enum side side, u64 word)
{
	(void)page;
	write_word("UNIX socket", sockets[side], word);
}

static u64 unix_receive_word(struct page *page, enum side side)
{
	(void)page;
	return read_word("UNIX socket", sockets[side]);
}

static void unix_clean_up(struct page *page)
{
	(void)page;
	close(sockets[SENDER]);
	close(sockets[RECEIVER]);
}

const struct mechanism via_unix = {
	.name = "unix",
	.text = "a pair of UNIX sockets, two processes",
	.set_up = unix_set_up,
	.send = unix_send_word,
	.receive = unix_receive_word,
	.clean_up = unix_clean_up,
};

/* Two POSIX message queues, two processes. */

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

static void mq_set_up(struct page *page)
{
	unsigned int side;

	(void)page;
	for (side = 0; side < SIDES; side++) {
		queues[side] = open_queue(side);
		if (queues[side] == (mqd_t)-1)
			die(EXIT_FAILED, "cannot make a message queue: %s", strerror(errno));
	}
}

static void mq_send_word(struct page *page, enum side side, u64 word)
{
	(void)page;
	while (mq_send(queues[other(side)], (const char *)&word, sizeof(word), 0))
		if (errno != EINTR)
			die(EXIT_FAILED, "mq_send: %s", strerror(errno));
}

static u64 mq_receive_word(struct page *page, enum side side)
{
	u64 word;

	(void)page;
	while (mq_receive(queues[side], (char *)&word, sizeof(word), NULL) < 0)
		if (errno != EINTR)
			die(EXIT_FAILED, "mq_receive: %s", strerror(errno));
	return word;
}

static void mq_clean_up(struct page *page)
{
	(void)page;
	mq_close(queues[SENDER]);
	mq_close(queues[RECEIVER]);
}

const struct mechanism via_mq = {
	.name = "mq",
	.text = "two POSIX message queues, two processes",
	.missing = missing,
	.set_up = mq_set_up,
	.send = mq_send_word,
	.receive = mq_receive_word,
	.clean_up = mq_clean_up,
};

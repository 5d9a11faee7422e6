// SPDX-License-Identifier: GPL-2.0
/* via_zmq.c - ZeroMQ's PAIR sockets, one I/O thread each context (the real libzmq). */
#if !__has_include("zmq.h")
#error "zmq.h is missing: install ZeroMQ's development files (Debian: libzmq3-dev)"
#endif
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zmq.h>

#include "args.h"
#include "crew.h"
#include "ipclat.h"

/* The path of a socket has 107 characters; ours adds "/ipclat-4194304.sock". */
#define DIR_MAX	80U

/* Of this process; two threads share one, or inproc would not find its peer. */
static void *context;
static void *sockets[SIDES];

static void __noreturn fail(const char *what)
{
	die(EXIT_FAILED, "ZeroMQ: %s: %s", what, zmq_strerror(zmq_errno()));
}

static void make_context(void)
{
	context = zmq_ctx_new();
	if (!context || zmq_ctx_set(context, ZMQ_IO_THREADS, 1))
		fail("no context");
}

/* The receiver binds; an early sender connects again and again, by itself. */
void zmq_start(struct page *page, enum side side, int type)
{
	int none = 0;

	if (!context)
		make_context();
	sockets[side] = zmq_socket(context, type);
	if (!sockets[side] || zmq_setsockopt(sockets[side], ZMQ_LINGER, &none, sizeof(none)))
		fail("no socket");
	if (side == RECEIVER ? zmq_bind(sockets[side], page->endpoint) :
	    zmq_connect(sockets[side], page->endpoint))
		fail(page->endpoint);
}

void zmq_put(struct page *page, enum side side, u64 word)
{
	(void)page;
	while (zmq_send(sockets[side], &word, sizeof(word), 0) < 0)
		if (zmq_errno() != EINTR)
			fail("cannot send");
}

u64 zmq_get(struct page *page, enum side side)
{
	u64 word;
	int size;

	(void)page;
	while ((size = zmq_recv(sockets[side], &word, sizeof(word), 0)) < 0)
		if (zmq_errno() != EINTR)
			fail("cannot receive");
	if (size != sizeof(word))
		die(EXIT_FAILED, "ZeroMQ: a message of %d bytes", size);
	return word;
}

void zmq_stop(struct page *page, enum side side)
{
	(void)page;
	zmq_close(sockets[side]);
	/* of two threads the last one ends what they share */
	sockets[side] = NULL;
	if (!sockets[other(side)]) {
		zmq_ctx_term(context);
		context = NULL;
	}
}

static void attach_pair(struct page *page, enum side side)
{
	zmq_start(page, side, ZMQ_PAIR);
}

static void inproc_set_up(struct page *page)
{
	snprintf(page->endpoint, sizeof(page->endpoint), "inproc://ipclat");
}

/* Before there are threads, so that they do not make two. */
static void inproc_attach(struct page *page, enum side side)
{
	static u32 ready;

	if (side == SENDER) {
		make_context();
		futex_set(&ready, 1);
	} else {
		futex_await(&ready, 1, 0);
	}
	attach_pair(page, side);
}

static void inproc_detach(struct page *page, enum side side)
{
	(void)page;
	/* the process ends anyway, and with it the context */
	zmq_close(sockets[side]);
}

static const char *temporary_dir(void)
{
	const char *dir = getenv("TMPDIR");

	return dir && *dir ? dir : "/tmp";
}

const char *zmq_ipc_missing(void)
{
	static char text[256];
	const char *dir = temporary_dir();

	if (strlen(dir) > DIR_MAX)
		snprintf(text, sizeof(text), "TMPDIR: more than %u characters", DIR_MAX);
	else if (access(dir, W_OK | X_OK))
		snprintf(text, sizeof(text), "TMPDIR: cannot make a socket in %s: %s", dir,
			 strerror(errno));
	else
		return NULL;
	return text;
}

void zmq_ipc_endpoint(struct page *page)
{
	snprintf(page->endpoint, sizeof(page->endpoint), "ipc://%s/ipclat-%d.sock",
		 temporary_dir(), getpid());
}

void zmq_ipc_remove(struct page *page)
{
	unlink(page->endpoint + strlen("ipc://"));
}

/* A port of the loopback that is free now. */
static void tcp_endpoint(struct page *page)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	socklen_t length = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) ||
	    getsockname(fd, (struct sockaddr *)&at, &length))
		die(EXIT_FAILED, "cannot find a port: %s", strerror(errno));
	close(fd);
	snprintf(page->endpoint, sizeof(page->endpoint), "tcp://127.0.0.1:%u",
		 ntohs(at.sin_port));
}

static void container_endpoint(struct page *page)
{
	/* overwritten when the addresses are known */
	snprintf(page->endpoint, sizeof(page->endpoint), "tcp://127.0.0.1:5599");
}

const struct mechanism via_zmq_inproc = {
	.name = "zmq-inproc",
	.text = "ZeroMQ PAIR over inproc, two threads",
	.threads = true,
	.set_up = inproc_set_up,
	.attach = inproc_attach,
	.send = zmq_put,
	.receive = zmq_get,
	.detach = inproc_detach,
};

const struct mechanism via_zmq_ipc = {
	.name = "zmq-ipc",
	.text = "ZeroMQ PAIR over ipc, two processes",
	.missing = zmq_ipc_missing,
	.set_up = zmq_ipc_endpoint,
	.attach = attach_pair,
	.send = zmq_put,
	.receive = zmq_get,
	.detach = zmq_stop,
	.clean_up = zmq_ipc_remove,
};

const struct mechanism via_zmq_tcp = {
	.name = "zmq-tcp",
	.text = "ZeroMQ PAIR over tcp, two processes",
	.set_up = tcp_endpoint,
	.attach = attach_pair,
	.send = zmq_put,
	.receive = zmq_get,
	.detach = zmq_stop,
};

const struct mechanism via_zmq_containers = {
	.name = "zmq-tcp-containers",
	.text = "ZeroMQ PAIR over tcp, two containers with networks of their own",
	.containers = true,
	.missing = containers_missing,
	.set_up = container_endpoint,
	.attach = attach_pair,
	.send = zmq_put,
	.receive = zmq_get,
	.detach = zmq_stop,
};

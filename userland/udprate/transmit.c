// SPDX-License-Identifier: GPL-2.0
/* transmit.c - a worker's socket and how its packets get out. */
#include <errno.h>
#include <linux/net_tstamp.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "args.h"
#include "clock.h"
#include "memory.h"
#include "udprate.h"

#ifndef UDP_SEGMENT
#define UDP_SEGMENT	103
#endif

#define TXTIME_SPACE	CMSG_SPACE(sizeof(u64))

u64 cpu_of_process_ns(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (u64)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * NSEC_PER_SEC +
	       (u64)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * NSEC_PER_USEC;
}

static bool has_gso(int fd)
{
	int none = 0;

	return !setsockopt(fd, IPPROTO_UDP, UDP_SEGMENT, &none, sizeof(none));
}

static void choose_method(struct transmitter *t)
{
	if (t->method == METHOD_AUTO)
		t->method = has_gso(t->fd) ? METHOD_GSO : METHOD_MMSG;
	else if (t->method == METHOD_GSO && !has_gso(t->fd))
		die(EXIT_UNSUPPORTED, "--method: this kernel lacks UDP_SEGMENT");
	/* each packet has a time of its own */
	if (t->txtime)
		t->method = METHOD_MMSG;
}

static void ask_for_txtime(struct transmitter *t)
{
	struct sock_txtime how = {
		.clockid = t->txtime == TXTIME_ETF ? CLOCK_TAI : CLOCK_MONOTONIC,
	};

	if (setsockopt(t->fd, SOL_SOCKET, SO_TXTIME, &how, sizeof(how)))
		die(errno == EPERM ? EXIT_FAILED : EXIT_UNSUPPORTED, "--txtime: SO_TXTIME: %s",
		    strerror(errno));
}

/* What the network answers, and what a queue of this machine drops (ENOBUFS). */
static void ask_for_errors(struct transmitter *t, const struct address *to)
{
	bool v6 = to->any.sa_family == AF_INET6;
	int one = 1;

	if (setsockopt(t->fd, v6 ? IPPROTO_IPV6 : IPPROTO_IP, v6 ? IPV6_RECVERR : IP_RECVERR,
		       &one, sizeof(one)))
		die(EXIT_UNSUPPORTED, "IP_RECVERR: %s", strerror(errno));
}

void transmit_open(struct transmitter *t, const struct options *o,
		   const struct address *to)
{
	*t = (struct transmitter){ .method = o->method, .txtime = o->txtime };
	t->fd = address_socket(to, SOCK_DGRAM);
	t->buffer = xcalloc(1, BATCH_BYTES_MAX);
	if (connect(t->fd, &to->any, to->length))
		die(EXIT_FAILED, "cannot send there: %s", strerror(errno));
	ask_for_errors(t, to);
	choose_method(t);
	if (t->txtime)
		ask_for_txtime(t);
}

void transmit_close(struct transmitter *t)
{
	close(t->fd);
	free(t->buffer);
}

/* Each has come with the error that the next send returned; they take memory. */
static void drain_errors(int fd)
{
	struct msghdr message = { };

	while (recvmsg(fd, &message, MSG_ERRQUEUE | MSG_DONTWAIT) >= 0)
		message = (struct msghdr){ };
}

/*
 * An answer to an earlier packet is reported by the next send, which has to be repeated;
 * otherwise @packets were not sent.
 */
static bool try_again(struct transmitter *t, u32 packets, bool again)
{
	switch (errno) {
	case EINTR:
		return true;
	case ECONNREFUSED:
	case EHOSTUNREACH:
	case ENETUNREACH:
	case EPROTO:
		t->refused++;
		drain_errors(t->fd);
		return !again;
	case ENOBUFS:
		t->dropped += packets;
		return false;
	}
	t->failed += packets;
	return false;
}

static u32 send_gso(struct transmitter *t, const struct batch *b)
{
	union {
		char space[CMSG_SPACE(sizeof(u16))];
		struct cmsghdr align;
	} control = { };
	struct iovec part = { .iov_base = t->buffer, .iov_len = (size_t)b->packets * b->size };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	struct cmsghdr *c = &control.align;
	u16 size = (u16)b->size;
	bool again = false;

	if (b->packets > 1) {
		c->cmsg_level = IPPROTO_UDP;
		c->cmsg_type = UDP_SEGMENT;
		c->cmsg_len = CMSG_LEN(sizeof(size));
		memcpy(CMSG_DATA(c), &size, sizeof(size));
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
	}
	while (sendmsg(t->fd, &message, 0) < 0) {
		if (!try_again(t, b->packets, again))
			return 0;
		again = true;
	}
	return b->packets;
}

static u32 send_one_by_one(struct transmitter *t, const struct batch *b)
{
	u32 i, out = 0;

	for (i = 0; i < b->packets; i++) {
		const u8 *packet = t->buffer + (size_t)i * b->size;
		bool again = false;
		ssize_t done;

		while ((done = send(t->fd, packet, b->size, 0)) < 0 && try_again(t, 1, again))
			again = true;
		out += done >= 0;
	}
	return out;
}

/* How far the clock of the packets' own times is ahead: each time, as it may be set. */
static u64 ahead_ns(struct transmitter *t)
{
	struct timespec tai;
	u64 before;

	if (t->txtime != TXTIME_ETF)
		return 0;
	before = now_ns();
	clock_gettime(CLOCK_TAI, &tai);
	wall_learn(&t->tai, before, ns_of(&tai), now_ns());
	return t->tai.ahead_ns;
}

static u32 send_mmsg(struct transmitter *t, const struct batch *b, u64 begin_ns)
{
	union {
		char space[TXTIME_SPACE];
		struct cmsghdr align;
	} control[BATCH_MAX] = { };
	struct mmsghdr message[BATCH_MAX] = { };
	struct iovec part[BATCH_MAX];
	u32 i, done = 0, out = 0;
	bool again = false;

	begin_ns += ahead_ns(t);

	for (i = 0; i < b->packets; i++) {
		struct msghdr *m = &message[i].msg_hdr;
		u64 when = begin_ns + i * b->gap_ns;
		struct cmsghdr *c = &control[i].align;

		part[i] = (struct iovec){ t->buffer + (size_t)i * b->size, b->size };
		m->msg_iov = &part[i];
		m->msg_iovlen = 1;
		if (!t->txtime)
			continue;
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SO_TXTIME;
		c->cmsg_len = CMSG_LEN(sizeof(when));
		memcpy(CMSG_DATA(c), &when, sizeof(when));
		m->msg_control = c;
		m->msg_controllen = TXTIME_SPACE;
	}
	while (done < b->packets) {
		int sent = sendmmsg(t->fd, message + done, b->packets - done, 0);

		if (sent > 0) {
			done += (u32)sent;
			out += (u32)sent;
		} else if (!try_again(t, 1, again)) {
			done++;
		}
		again = sent <= 0;
	}
	return out;
}

u32 transmit(struct transmitter *t, const struct batch *b, const struct header *first,
	     u64 begin_ns)
{
	struct header header = *first;
	u32 i;

	for (i = 0; i < b->packets; i++, header.number++)
		memcpy(t->buffer + (size_t)i * b->size, &header, sizeof(header));
	if (t->method == METHOD_GSO)
		return send_gso(t, b);
	if (t->method == METHOD_SEND)
		return send_one_by_one(t, b);
	return send_mmsg(t, b, begin_ns);
}

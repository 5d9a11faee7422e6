// SPDX-License-Identifier: GPL-2.0
/* receive.c - the other side: what arrived, and when. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "args.h"
#include "clock.h"
#include "udprate.h"

#define BATCH		64U
#define BUFFER_BYTES	(8 * 1024 * 1024)
#define LOOK_NS		(50 * NSEC_PER_MSEC)
/* Whatever is under way when the time is over may still come in. */
#define GRACE_NS	(200 * NSEC_PER_MSEC)

int receive_open(struct sockaddr_in *at)
{
	struct timeval look = { .tv_usec = LOOK_NS / NSEC_PER_USEC };
	int fd = udp_socket(), bytes = BUFFER_BYTES, one = 1;
	socklen_t length = sizeof(*at);

	/* as much as is allowed, more for root */
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)))
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
	if (setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof(one)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &look, sizeof(look)) ||
	    bind(fd, (struct sockaddr *)at, sizeof(*at)) ||
	    getsockname(fd, (struct sockaddr *)at, &length))
		die(EXIT_FAILED, "cannot receive there: %s", strerror(errno));
	return fd;
}

struct inbox {
	struct mmsghdr message[BATCH];
	struct iovec part[BATCH];
	struct header header[BATCH];
	union {
		char space[CMSG_SPACE(sizeof(struct timespec))];
		struct cmsghdr align;
	} control[BATCH];
};

/* Only the header is copied; the length is the packet's all the same. */
static int take(int fd, struct inbox *in)
{
	unsigned int i;

	for (i = 0; i < BATCH; i++) {
		in->part[i] = (struct iovec){ &in->header[i], sizeof(in->header[i]) };
		in->message[i].msg_hdr = (struct msghdr){
			.msg_iov = &in->part[i], .msg_iovlen = 1,
			.msg_control = &in->control[i], .msg_controllen = sizeof(in->control[i]),
		};
	}
	return recvmmsg(fd, in->message, BATCH, MSG_WAITFORONE | MSG_TRUNC, NULL);
}

/* When the kernel got the packet, 0 if it does not say. */
static u64 stamp_of(struct msghdr *message)
{
	struct timespec when;
	struct cmsghdr *c;

	for (c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_TIMESTAMPNS)
			continue;
		memcpy(&when, CMSG_DATA(c), sizeof(when));
		return (u64)when.tv_sec * NSEC_PER_SEC + (u64)when.tv_nsec;
	}
	return 0;
}

struct reception {
	struct received *r;
	u64 run;
	u64 last_stamp;
};

static void see(struct reception *rx, struct mmsghdr *message, const struct header *header)
{
	struct received *r = rx->r;
	u64 stamp;

	if (!r->packets)
		rx->run = header->run;
	if (message->msg_len < sizeof(*header) || header->magic != MAGIC ||
	    header->worker >= WORKERS_MAX || header->run != rx->run) {
		r->strangers++;
		return;
	}
	sequence_see(&r->worker[header->worker], header->number);
	if (header->worker >= r->workers)
		r->workers = header->worker + 1;
	r->packets++;
	r->bytes += message->msg_len;
	stamp = stamp_of(&message->msg_hdr);
	if (rx->last_stamp && stamp)
		histogram_add(&r->gap, stamp > rx->last_stamp ? stamp - rx->last_stamp : 0);
	rx->last_stamp = stamp;
}

bool receive_all(int fd, const struct options *o, struct received *r)
{
	u64 begin = now_ns(), first = 0, last = 0, now = begin;
	struct reception rx = { .r = r };
	static struct inbox in;
	int i, count;

	for (;;) {
		count = take(fd, &in);
		if (count < 0 && errno != EAGAIN && errno != EINTR)
			die(EXIT_FAILED, "cannot receive: %s", strerror(errno));
		now = now_ns();
		for (i = 0; i < count; i++)
			see(&rx, &in.message[i], &in.header[i]);
		if (r->packets && count > 0)
			last = now;
		if (r->packets && !first)
			first = now;
		if (!first && now - begin > o->wait_ns)
			return false;
		if (first && now - first > o->time_ns + GRACE_NS)
			break;
	}
	r->elapsed_ns = last - first;
	return true;
}

pid_t receive_start(const struct options *o, struct received *r, struct sockaddr_in *at)
{
	int fd = receive_open(at);
	pid_t pid = fork_child();

	if (!pid)
		_exit(receive_all(fd, o, r) ? EXIT_GOOD : EXIT_FAILED);
	close(fd);
	return pid;
}

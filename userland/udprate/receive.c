// SPDX-License-Identifier: GPL-2.0
/* receive.c - the other side: what arrived, and when, of several senders at once. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "args.h"
#include "clock.h"
#include "files.h"
#include "udprate.h"

#define BATCH		64U
#define BATCHES		16U	/* before the senders are listened to */
#define BUFFER_BYTES	(8 * 1024 * 1024)
#define LOOK_MS		10
#define BACKLOG		16
#define TRIES		20U
/* A packet is in the socket so long after its stamp, at most. */
#define STAMPED_NS	(100 * NSEC_PER_MSEC)
/* What a sender has left to say when the time is over. */
#define GRACE_NS	(2 * NSEC_PER_SEC)

static int open_packets(const struct address *at)
{
	int fd = address_socket(at, SOCK_DGRAM | SOCK_NONBLOCK), bytes = BUFFER_BYTES, one = 1;

	/* as much as is allowed, more for root */
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)))
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
	if (setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof(one)) ||
	    bind(fd, &at->any, at->length)) {
		close(fd);
		return -1;
	}
	return fd;
}

static int open_senders(const struct address *at)
{
	int fd = address_socket(at, SOCK_STREAM | SOCK_NONBLOCK), one = 1;

	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    bind(fd, &at->any, at->length) || listen(fd, BACKLOG)) {
		close(fd);
		return -1;
	}
	return fd;
}

void receive_open(struct receiver *rx, struct address *at)
{
	struct address found;
	unsigned int i;

	/* a free port of UDP may be in use for TCP */
	for (i = 0; i < TRIES; i++) {
		found = *at;
		rx->packets = open_packets(at);
		if (rx->packets < 0)
			break;
		getsockname(rx->packets, &found.any, &found.length);
		rx->senders = open_senders(&found);
		if (rx->senders >= 0) {
			*at = found;
			return;
		}
		if (address_port(at))
			break;
		close(rx->packets);
	}
	die(EXIT_FAILED, "cannot receive on port %u: %s", address_port(at), strerror(errno));
}

struct inbox {
	struct mmsghdr message[BATCH];
	struct iovec part[BATCH];
	struct header header[BATCH];
	union {
		char space[CMSG_SPACE(sizeof(struct timespec))];
		struct cmsghdr align;
	} control[BATCH];
	struct address from[BATCH];
};

/* Only the header is copied; the length is still the packet's. */
static int take(int fd, struct inbox *in)
{
	unsigned int i;

	for (i = 0; i < BATCH; i++) {
		in->part[i] = (struct iovec){ &in->header[i], sizeof(in->header[i]) };
		in->message[i].msg_hdr = (struct msghdr){
			.msg_name = &in->from[i].any, .msg_namelen = sizeof(in->from[i].v6),
			.msg_iov = &in->part[i], .msg_iovlen = 1,
			.msg_control = &in->control[i], .msg_controllen = sizeof(in->control[i]),
		};
	}
	return recvmmsg(fd, in->message, BATCH, MSG_TRUNC, NULL);
}

static void learn_wall(struct receiver *rx)
{
	u64 before = now_ns();
	struct timespec wall;

	clock_gettime(CLOCK_REALTIME, &wall);
	rx->now_ns = now_ns();
	wall_learn(&rx->wall, before, ns_of(&wall), rx->now_ns);
}

/* When the kernel got the packet. */
static u64 stamp_of(const struct receiver *rx, struct msghdr *message)
{
	struct timespec when;
	struct cmsghdr *c;

	for (c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_TIMESTAMPNS)
			continue;
		memcpy(&when, CMSG_DATA(c), sizeof(when));
		return wall_time(&rx->wall, ns_of(&when), rx->empty_ns - STAMPED_NS, rx->now_ns);
	}
	return rx->now_ns;
}

static void see(struct receiver *rx, struct mmsghdr *message, const struct header *header,
		const struct address *from)
{
	struct session *session = NULL;

	if (message->msg_len >= sizeof(*header) && header->magic == MAGIC &&
	    header->worker < WORKERS_MAX)
		session = session_of(rx, header->run, from);
	if (session)
		session_see(session, header, message->msg_len, stamp_of(rx, &message->msg_hdr));
	else
		rx->strangers++;
}

static void take_packets(struct receiver *rx)
{
	static struct inbox in;
	unsigned int batch;
	int i, count;

	for (batch = 0; batch < BATCHES; batch++) {
		count = take(rx->packets, &in);
		if (count < 0 && errno != EAGAIN && errno != EINTR && errno != ECONNREFUSED)
			die(EXIT_FAILED, "cannot receive: %s", strerror(errno));
		learn_wall(rx);
		for (i = 0; i < count; i++)
			see(rx, &in.message[i], &in.header[i], &in.from[i]);
		if (count < (int)BATCH) {
			rx->empty_ns = rx->now_ns;
			return;
		}
	}
}

static void look(struct receiver *rx)
{
	struct pollfd fds[2 + SESSIONS_MAX] = {
		{ .fd = rx->packets, .events = POLLIN },
		{ .fd = rx->senders, .events = POLLIN },
	};
	u32 i;

	for (i = 0; i < SESSIONS_MAX; i++)
		fds[2 + i] = (struct pollfd){
			.fd = rx->session[i] ? rx->session[i]->fd : -1, .events = POLLIN,
		};
	if (poll(fds, ARRAY_SIZE(fds), LOOK_MS) > 0) {
		take_packets(rx);
		for (i = 0; i < SESSIONS_MAX; i++)
			if (fds[2 + i].revents)
				session_hear(rx, i);
		if (fds[1].revents)
			session_accept(rx);
	}
	rx->now_ns = now_ns();
	sessions_tell(rx);
	sessions_end(rx);
}

/* Whether the one run that is waited for is over. */
static bool is_over(const struct receiver *rx, u64 begin_ns)
{
	const struct options *o = rx->o;
	u64 time_ns = o->time_ns;

	if (rx->one_run && rx->ended)
		return true;
	if (!time_ns)
		return false;
	if (!rx->first_ns)
		return rx->now_ns - begin_ns > o->wait_ns;
	if (sessions_talking(rx))
		time_ns += GRACE_NS;
	return rx->now_ns - rx->first_ns > time_ns;
}

void receive_all(struct receiver *rx)
{
	u64 begin;

	learn_wall(rx);
	begin = rx->now_ns;
	rx->empty_ns = begin;
	/* a run's own receiver ends with it: it has to say what came until then */
	while ((rx->one_run || !interrupted()) && !is_over(rx, begin))
		look(rx);
	sessions_close(rx);
}

pid_t receive_start(const struct options *o, struct address *at, int *fd)
{
	struct receiver *rx = xcalloc(1, sizeof(*rx));
	struct options plain = *o;
	int pair[2];
	pid_t pid;

	/* it ends with the run, however long that takes */
	plain.time_ns = 0;
	rx->o = &plain;
	rx->one_run = true;
	rx->now_ns = now_ns();
	receive_open(rx, at);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		die(EXIT_FAILED, "cannot talk to the receiver: %s", strerror(errno));
	pid = fork_child();
	if (!pid) {
		close(pair[0]);
		session_add(rx, pair[1], at);
		receive_all(rx);
		_exit(rx->ended ? EXIT_GOOD : EXIT_FAILED);
	}
	close(pair[1]);
	*fd = pair[0];
	close(rx->packets);
	close(rx->senders);
	free(rx);
	return pid;
}

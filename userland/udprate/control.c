// SPDX-License-Identifier: GPL-2.0
/* control.c - the sender's side of the talk with its receiver. */
#include "control.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "args.h"
#include "clock.h"

#define ANSWER_NS	(2 * NSEC_PER_SEC)
/* The receiver waits for what is under way before it reports. */
#define REPORT_NS	(20 * NSEC_PER_SEC)

static bool wait_for(int fd, short what, u64 deadline_ns)
{
	struct pollfd look = { .fd = fd, .events = what };
	u64 now;

	while ((now = now_ns()) < deadline_ns) {
		int ready = poll(&look, 1, (int)((deadline_ns - now) / NSEC_PER_MSEC) + 1);

		if (ready >= 0 || errno != EINTR)
			return ready > 0;
	}
	return false;
}

/* Whether nothing is left of the @left bytes. */
static bool read_all(int fd, void *data, size_t *left, u64 deadline_ns)
{
	u8 *end = (u8 *)data + *left;

	while (*left && wait_for(fd, POLLIN, deadline_ns)) {
		ssize_t done = recv(fd, end - *left, *left, 0);

		if (!done || (done < 0 && errno != EINTR))
			return false;
		*left -= done > 0 ? (size_t)done : 0;
	}
	return !*left;
}

/* False with errno. */
static bool connected(int fd, const struct address *to, u64 deadline_ns)
{
	socklen_t size = sizeof(errno);

	if (!connect(fd, &to->any, to->length))
		return true;
	if (errno != EINPROGRESS)
		return false;
	if (!wait_for(fd, POLLOUT, deadline_ns))
		errno = ETIMEDOUT;
	else
		getsockopt(fd, SOL_SOCKET, SO_ERROR, &errno, &size);
	return !errno;
}

int control_connect(const struct address *to)
{
	int fd = address_socket(to, SOCK_STREAM | SOCK_NONBLOCK);
	int error;

	if (connected(fd, to, now_ns() + ANSWER_NS) && !fcntl(fd, F_SETFL, 0))
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

int control_greet(int fd, u64 run, u64 period_ns)
{
	struct hello hello = {
		.magic = MAGIC, .version = CONTROL_VERSION, .run = run, .period_ns = period_ns,
	};
	struct answer answer;
	size_t left = sizeof(answer);

	if (send(fd, &hello, sizeof(hello), MSG_NOSIGNAL) != sizeof(hello) ||
	    !read_all(fd, &answer, &left, now_ns() + ANSWER_NS) || answer.magic != MAGIC) {
		close(fd);
		errno = EPROTO;
		return -1;
	}
	if (answer.code == ANSWER_BUSY)
		die(EXIT_FAILED, "the receiver has as many senders as it can take");
	if (answer.code != ANSWER_READY)
		die(EXIT_FAILED, "the receiver is of another version of udprate");
	return fd;
}

/* It came over a network. */
static bool plausible(const struct received *r)
{
	return r->workers <= WORKERS_MAX && r->holes.count <= HOLES_MAX;
}

/* An answer that comes late is still read, before the next. */
static bool read_owed(struct control *c, u64 deadline_ns)
{
	u8 *end = (u8 *)(&c->so_far + 1);

	return read_all(c->fd, end - c->owed, &c->owed, deadline_ns);
}

bool control_ask(struct control *c, u64 deadline_ns)
{
	struct ask ask = { };

	if (!c->owed) {
		if (send(c->fd, &ask, sizeof(ask), MSG_NOSIGNAL) != sizeof(ask))
			return false;
		c->owed = sizeof(c->so_far);
	}
	return read_owed(c, deadline_ns);
}

bool control_finish(struct control *c, const struct ask *ask, struct received *r)
{
	u64 deadline = now_ns() + REPORT_NS;
	size_t left = sizeof(*r);
	bool good = send(c->fd, ask, sizeof(*ask), MSG_NOSIGNAL) == sizeof(*ask) &&
		    read_owed(c, deadline) && read_all(c->fd, r, &left, deadline) && plausible(r);

	close(c->fd);
	return good;
}

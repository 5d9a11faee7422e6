// SPDX-License-Identifier: GPL-2.0
/* session.c - the receiver's senders: which they are, what came of them, and when to say so. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "args.h"
#include "clock.h"
#include "files.h"
#include "udprate.h"

/* Where packets go to or come in. */

static void set_port(struct address *a, u16 port)
{
	if (a->any.sa_family == AF_INET6)
		a->v6.sin6_port = htons(port);
	else
		a->v4.sin_port = htons(port);
}

void address_resolve(struct address *a, const char *host, u16 port)
{
	struct addrinfo want = { .ai_socktype = SOCK_DGRAM }, *found;
	int error = getaddrinfo(host, NULL, &want, &found);

	if (error)
		die(EXIT_USAGE, "ADDRESS: bad value '%s': %s; allowed: addresses, host names",
		    host, gai_strerror(error));
	*a = (struct address){ .length = found->ai_addrlen };
	memcpy(&a->v6, found->ai_addr, found->ai_addrlen);
	freeaddrinfo(found);
	set_port(a, port);
}

/* A family that is compiled in may still be switched off. */
static bool has_ipv6(void)
{
	struct address a = { .v6 = { .sin6_family = AF_INET6 }, .length = sizeof(a.v6) };
	int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool has;

	if (fd < 0)
		return false;
	has = !bind(fd, &a.any, a.length);
	close(fd);
	return has;
}

void address_everywhere(struct address *a, u16 port)
{
	if (has_ipv6())
		*a = (struct address){ .v6 = { .sin6_family = AF_INET6 },
				       .length = sizeof(a->v6) };
	else
		*a = (struct address){ .v4 = { .sin_family = AF_INET },
				       .length = sizeof(a->v4) };
	set_port(a, port);
}

void address_loopback(struct address *a)
{
	*a = (struct address){ .v4 = { .sin_family = AF_INET }, .length = sizeof(a->v4) };
	a->v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
}

u16 address_port(const struct address *a)
{
	return ntohs(a->any.sa_family == AF_INET6 ? a->v6.sin6_port : a->v4.sin_port);
}

bool address_is_any(const struct address *a)
{
	if (a->any.sa_family == AF_INET6)
		return IN6_IS_ADDR_UNSPECIFIED(&a->v6.sin6_addr);
	return a->v4.sin_addr.s_addr == htonl(INADDR_ANY);
}

const char *address_text(const struct address *a, char text[ADDRESS_TEXT])
{
	if (a->any.sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&a->v6.sin6_addr))
		inet_ntop(AF_INET, &a->v6.sin6_addr.s6_addr[12], text, ADDRESS_TEXT);
	else if (a->any.sa_family == AF_INET6)
		inet_ntop(AF_INET6, &a->v6.sin6_addr, text, ADDRESS_TEXT);
	else
		inet_ntop(AF_INET, &a->v4.sin_addr, text, ADDRESS_TEXT);
	return text;
}

int address_socket(const struct address *a, int type)
{
	int fd = socket(a->any.sa_family, type | SOCK_CLOEXEC, 0);

	if (fd < 0)
		die(EXIT_FAILED, "cannot make a socket: %s", strerror(errno));
	return fd;
}

/* The sender's side of the talk with its receiver. */

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

/* After the end, packets that are under way: until none comes for this long ... */
#define QUIET_NS	(300 * NSEC_PER_MSEC)
/* ... and no longer than this. */
#define UNDER_WAY_NS	(10 * NSEC_PER_SEC)
/* A connection that says nothing is closed. */
#define HELLO_NS	(2 * NSEC_PER_SEC)
#define REPORT_BYTES	(256 * 1024)

struct session *session_add(struct receiver *rx, int fd, const struct address *peer)
{
	struct session *s;
	u32 i;

	for (i = 0; i < SESSIONS_MAX && rx->session[i]; i++)
		continue;
	if (i == SESSIONS_MAX)
		return NULL;
	s = xcalloc(1, sizeof(*s));
	s->fd = fd;
	s->peer = *peer;
	s->last_ns = rx->now_ns;
	rx->session[i] = s;
	return s;
}

static void session_drop(struct receiver *rx, u32 i)
{
	struct session *s = rx->session[i];

	if (s->fd >= 0)
		close(s->fd);
	free(s);
	rx->session[i] = NULL;
}

static void begin_run(struct receiver *rx, struct session *s, u64 run)
{
	s->run = run;
	s->number = ++rx->began;
	s->began = time(NULL);
	s->state = SESSION_RUNS;
	if (!rx->one_run)
		report_run(rx->o, s);
}

struct session *session_of(struct receiver *rx, u64 run, const struct address *from)
{
	struct session *s;
	u32 i, used = 0;

	for (i = 0; i < SESSIONS_MAX; i++) {
		s = rx->session[i];
		if (!s || s->state == SESSION_HELLO)
			continue;
		if (s->run == run)
			goto found;
		used++;
	}
	/* with a time of its own, it also takes a sender that does not talk */
	if (used || rx->ended || !rx->o->time_ns)
		return NULL;
	s = session_add(rx, -1, from);
	if (!s)
		return NULL;
	begin_run(rx, s, run);
found:
	if (!rx->first_ns)
		rx->first_ns = rx->now_ns;
	s->last_ns = rx->now_ns;
	return s;
}

void session_see(struct session *s, const struct header *header, u32 bytes, u64 stamp_ns)
{
	struct received *r = &s->received;
	u32 worker = header->worker;
	u64 next = r->worker[worker].next;

	if (!sequence_see(&r->worker[worker], &s->window[worker], header->number))
		return;
	if (!s->first_stamp_ns)
		s->first_stamp_ns = stamp_ns;
	if (header->number > next)
		holes_open(&r->holes, worker, next, header->number - next,
			   stamp_ns - s->first_stamp_ns);
	else if (header->number < next)
		holes_fill(&r->holes, worker, header->number);
	if (worker >= r->workers)
		r->workers = worker + 1;
	r->packets++;
	r->bytes += bytes;
	/* stamps of several CPUs may be out of order */
	if (stamp_ns < s->last_stamp_ns)
		stamp_ns = s->last_stamp_ns;
	if (s->last_stamp_ns)
		histogram_add(&r->gap, stamp_ns - s->last_stamp_ns);
	s->last_stamp_ns = stamp_ns;
}

static void answer(int fd, enum answer_code code)
{
	struct answer said = { .magic = MAGIC, .code = code };

	/* a peer that does not take it has gone, which is heard of */
	send(fd, &said, sizeof(said), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void session_accept(struct receiver *rx)
{
	struct address from = { .length = sizeof(from.v6) };
	int fd = accept4(rx->senders, &from.any, &from.length, SOCK_NONBLOCK | SOCK_CLOEXEC);
	int room = REPORT_BYTES;

	if (fd < 0)
		return;
	/* the report has to fit, so that a slow sender stops no other */
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
	if (session_add(rx, fd, &from))
		return;
	answer(fd, ANSWER_BUSY);
	close(fd);
}

/* What the span from the first to the last packet leaves out. */
static u64 period_of(const struct session *s, u64 span_ns)
{
	if (s->period_ns)
		return s->period_ns;
	return s->received.packets > 1 ? span_ns / (s->received.packets - 1) : 0;
}

/* Numbers that were sent, and after which nothing has come, are lost as well. */
static void add_tails(struct session *s)
{
	struct received *r = &s->received;
	u32 i;

	for (i = 0; i < WORKERS_MAX; i++) {
		u64 sent = s->said.ask.numbered[i], next = r->worker[i].next;

		if (sent <= next)
			continue;
		holes_open(&r->holes, i, next, sent - next, s->last_stamp_ns - s->first_stamp_ns);
		r->worker[i].next = sent;
		if (i >= r->workers)
			r->workers = i + 1;
	}
}

static void finish(struct receiver *rx, u32 i)
{
	struct session *s = rx->session[i];
	struct received *r = &s->received;
	u64 span = s->last_stamp_ns - s->first_stamp_ns;

	if (s->state == SESSION_ENDS)
		add_tails(s);
	r->elapsed_ns = span + period_of(s, span);
	r->strangers = rx->strangers;
	fates_add(&rx->fates, r);
	rx->ended++;
	if (s->state == SESSION_ENDS &&
	    send(s->fd, r, sizeof(*r), MSG_NOSIGNAL | MSG_DONTWAIT) != sizeof(*r))
		complain("a sender did not take its report");
	if (!rx->one_run)
		report_received(rx->o, s);
	session_drop(rx, i);
}

static bool all_came(const struct session *s)
{
	u32 i;

	for (i = 0; i < WORKERS_MAX; i++)
		if (s->received.worker[i].received < s->said.ask.numbered[i])
			return false;
	return true;
}

static void greet(struct receiver *rx, u32 i)
{
	struct session *s = rx->session[i];
	const struct hello *hello = &s->said.hello;

	if (hello->magic != MAGIC || hello->version != CONTROL_VERSION) {
		answer(s->fd, ANSWER_VERSION);
		session_drop(rx, i);
		return;
	}
	s->period_ns = hello->period_ns;
	begin_run(rx, s, hello->run);
	s->got = 0;
	memset(&s->said, 0, sizeof(s->said));
	answer(s->fd, ANSWER_READY);
}

static void answer_so_far(const struct session *s)
{
	struct so_far said = { .bytes = s->received.bytes, .lost = lost_of(&s->received) };

	send(s->fd, &said, sizeof(said), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void session_hear(struct receiver *rx, u32 i)
{
	struct session *s = rx->session[i];
	size_t size = s->state == SESSION_HELLO ? sizeof(s->said.hello) : sizeof(s->said.ask);
	ssize_t done = recv(s->fd, (u8 *)&s->said + s->got, size - s->got, 0);

	if (done < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	/* gone, or it speaks out of turn: what came is reported here alone */
	if (done <= 0 || s->state == SESSION_ENDS) {
		if (s->state == SESSION_HELLO) {
			session_drop(rx, i);
			return;
		}
		s->state = SESSION_RUNS;
		complain("a sender went away before the end");
		finish(rx, i);
		return;
	}
	s->got += (size_t)done;
	if (s->got < size)
		return;
	if (s->state == SESSION_HELLO) {
		greet(rx, i);
		return;
	}
	if (!s->said.ask.over) {
		answer_so_far(s);
		s->got = 0;
		return;
	}
	s->state = SESSION_ENDS;
	s->end_ns = rx->now_ns;
	s->last_ns = rx->now_ns;
}

static void tell(struct receiver *rx, struct session *s)
{
	const struct received *r = &s->received;

	if (!s->told_ns) {
		s->told_ns = s->first_stamp_ns;
		s->tell_ns = s->first_stamp_ns + rx->o->interval_ns;
	}
	if (!s->told_ns || rx->now_ns < s->tell_ns)
		return;
	report_on_the_way(rx->o, s, rx->now_ns);
	s->told_ns = rx->now_ns;
	s->told_bytes = r->bytes;
	s->tell_ns += (rx->now_ns - s->tell_ns) / rx->o->interval_ns * rx->o->interval_ns +
		      rx->o->interval_ns;
}

void sessions_tell(struct receiver *rx)
{
	u32 i;

	if (!rx->o->interval_ns || rx->one_run)
		return;
	for (i = 0; i < SESSIONS_MAX; i++)
		if (rx->session[i] && rx->session[i]->state == SESSION_RUNS)
			tell(rx, rx->session[i]);
}

void sessions_end(struct receiver *rx)
{
	u32 i;

	for (i = 0; i < SESSIONS_MAX; i++) {
		struct session *s = rx->session[i];

		if (!s)
			continue;
		if (s->state == SESSION_HELLO && rx->now_ns - s->last_ns > HELLO_NS)
			session_drop(rx, i);
		else if (s->state == SESSION_ENDS &&
			 (all_came(s) || rx->now_ns - s->last_ns > QUIET_NS ||
			  rx->now_ns - s->end_ns > UNDER_WAY_NS))
			finish(rx, i);
	}
}

bool sessions_talking(const struct receiver *rx)
{
	u32 i;

	for (i = 0; i < SESSIONS_MAX; i++)
		if (rx->session[i] && rx->session[i]->fd >= 0)
			return true;
	return false;
}

void sessions_close(struct receiver *rx)
{
	u32 i;

	for (i = 0; i < SESSIONS_MAX; i++) {
		struct session *s = rx->session[i];

		if (s && s->state != SESSION_HELLO)
			finish(rx, i);
		else if (s)
			session_drop(rx, i);
	}
}
